"""The quota table over HTTP: proposed by one, approved by another role, in force from a date, readable by all."""

from datetime import timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient

from headway.server.access import Role
from headway.server.platform import Platform
from tests.server.conftest import Clock, People, Placed

Headers = dict[str, str]
TABLE = """
[departments.research]
cards.cpu = { guaranteed = 4 }

[projects.nlp]
department = "research"
cards.cpu = { guaranteed = 2, borrow_ceiling = "any", lend_ceiling = 1 }

[projects.vision]
department = "research"
cards.cpu = { guaranteed = 2 }
"""


@pytest.fixture
def operator(people: People) -> Headers:
    return people.headers(people.token("olga", Role.OPERATOR))


def propose(http: TestClient, who: Headers, content: str = TABLE, reason: str = "a new year") -> Any:
    return http.post("quota/versions", json={"content": content, "reason": reason}, headers=who)


def approve(http: TestClient, who: Headers, number: int, **body: Any) -> Any:
    return http.post(f"quota/versions/{number}/approve", json=body, headers=who)


def guaranteed(http: TestClient, who: Headers) -> dict[str, int]:
    entries = http.get("quota", headers=who).json()["entries"]
    return {entry["branch"]: entry["guaranteed"] for entry in entries}


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "nlp is to have 900 × cpu: the site has 4"), ("zh", "nlp 将有 900 × cpu，而全站只有 4")],
)
def test_a_table_far_beyond_the_site_is_kept_with_a_warning(
    http: TestClient, operator: Headers, language: str, said: str
) -> None:
    within = propose(http, operator).json()
    assert within["warnings"] == []
    table = "[projects.nlp]\ncards.cpu = { guaranteed = 900 }\n"
    far = propose(http, operator | {"Accept-Language": language}, table)
    assert far.status_code == 201
    assert (far.json()["number"], far.json()["warnings"]) == (2, [said])


def test_a_proposed_table_is_in_force_once_another_role_approves_it(
    http: TestClient, admin: Headers, operator: Headers
) -> None:
    proposed = propose(http, operator)
    assert proposed.status_code == 201
    assert (proposed.json()["number"], proposed.json()["author"]) == (1, "olga")
    assert "projects.nlp.cards.cpu.guaranteed: — → 2" in proposed.json()["diff"]
    assert guaranteed(http, admin) == {}
    assert http.get("quota", headers=admin).json()["proposed"] == [1]
    approved = approve(http, admin, 1).json()
    assert (approved["approved_by"], approved["in_force_from"]) == ("root-admin", "2026-11-03T08:00:00Z")
    assert guaranteed(http, admin) == {"research": 4, "nlp": 2, "vision": 2}
    kinds = [fact["kind"] for fact in http.get("facts", headers=admin).json()]
    assert kinds[-2:] == ["quota-proposed", "quota-approved"]


def test_nobody_approves_their_own_table_nor_one_of_a_peer(http: TestClient, admin: Headers, people: People) -> None:
    propose(http, admin)
    own = approve(http, admin, 1)
    assert (own.status_code, own.json()["code"]) == (403, "quota-own-approval")
    peer = people.headers(people.token("second-admin", Role.ADMIN))
    assert approve(http, peer, 1).json()["code"] == "quota-own-approval"
    lead = people.headers(people.token("lea", Role.LEAD, "nlp"))
    assert approve(http, lead, 1).status_code == 403
    assert guaranteed(http, admin) == {}


def test_a_table_comes_into_force_on_its_date(
    http: TestClient, admin: Headers, operator: Headers, clock: Clock
) -> None:
    propose(http, operator)
    since = (clock.at + timedelta(days=3)).isoformat()
    assert approve(http, admin, 1, in_force_from=since).status_code == 200
    assert guaranteed(http, admin) == {}
    assert http.get("quota", headers=admin).json()["coming"] == [1]
    refused = http.put("projects/nlp/quotas/cpu", json={"devices": 4}, headers=admin)
    assert (refused.status_code, refused.json()["code"]) == (409, "quota-scheduled")
    clock.move(timedelta(days=3))
    assert guaranteed(http, admin)["nlp"] == 2


def test_a_table_that_overlooks_another_is_refused(http: TestClient, admin: Headers, operator: Headers) -> None:
    propose(http, operator)
    propose(http, operator, TABLE.replace("guaranteed = 2 }", "guaranteed = 1 }"))
    assert approve(http, admin, 1).status_code == 200
    stale = approve(http, admin, 2)
    assert (stale.status_code, stale.json()["code"]) == (409, "quota-outdated")
    assert approve(http, admin, 1).json()["code"] == "quota-decided"
    assert guaranteed(http, admin)["vision"] == 2


def test_history_keeps_author_reason_and_difference(http: TestClient, admin: Headers, operator: Headers) -> None:
    propose(http, operator)
    approve(http, admin, 1)
    propose(http, operator, TABLE.replace("guaranteed = 2 }", "guaranteed = 1 }"), "vision lends")
    newest = http.get("quota/versions", headers=admin).json()[0]
    assert (newest["number"], newest["author"], newest["reason"], newest["based_on"]) == (2, "olga", "vision lends", 1)
    assert newest["diff"] == ["projects.vision.cards.cpu.guaranteed: 2 → 1"]
    back = http.get("quota/versions/1/diff", params={"against": 2}, headers=admin).json()
    assert back == ["projects.vision.cards.cpu.guaranteed: 1 → 2"]
    assert http.get("quota/versions/9", headers=admin).status_code == 404


def test_every_member_may_read_the_whole_table(
    http: TestClient, admin: Headers, operator: Headers, people: People
) -> None:
    propose(http, operator)
    approve(http, admin, 1)
    viewer = people.headers(people.token("vera", Role.VIEWER, "vision"))
    assert guaranteed(http, viewer) == {"research": 4, "nlp": 2, "vision": 2}
    assert len(http.get("quota/versions", headers=viewer).json()) == 1
    assert propose(http, viewer).status_code == 403


def test_a_number_set_by_hand_is_a_version_too(http: TestClient, admin: Headers, operator: Headers) -> None:
    http.put("projects/nlp/quotas/cpu", json={"devices": 4}, headers=admin)
    (version,) = http.get("quota/versions", headers=admin).json()
    assert (version["author"], version["approved_by"]) == ("root-admin", "root-admin")
    assert 'department = "research"' in version["content"]
    same = propose(http, operator, version["content"])
    assert (same.status_code, same.json()["code"]) == (409, "quota-unchanged")


def test_in_production_no_number_is_set_by_hand(http: TestClient, admin: Headers, platform: Platform) -> None:
    platform.settings = platform.settings.model_copy(update={"mode": "production"})
    refused = http.put("projects/nlp/quotas/cpu", json={"devices": 4}, headers=admin)
    assert (refused.status_code, refused.json()["code"]) == (403, "quota-approval-needed")


def test_the_table_says_who_holds_what(http: TestClient, admin: Headers, placed: Placed) -> None:
    entry = next(e for e in http.get("quota", headers=admin).json()["entries"] if e["branch"] == "nlp")
    assert (entry["guaranteed"], entry["used"], entry["idle"], entry["borrowed"]) == (4, 1, 3, 0)
    assert http.get(f"jobs/{placed.job}", headers=admin).json()["attempt"]["borrowed"] is False


WRONG: dict[str, tuple[str, str, str]] = {
    "quota-above-parent": ("guaranteed = 4 }", "guaranteed = 3 }", "research"),
    "quota-unknown-type": ("cards.cpu = { guaranteed = 4 }", "cards.h900 = { guaranteed = 4 }", "h900"),
    "invalid-field": ("guaranteed = 4 }", "guaranteed = -4 }", "-4"),
    "quota-number": ("guaranteed = 4 }", "guaranteed = 4, weight = 0.0 }", "weight"),
    "quota-unreadable": ("[projects.nlp]", "[projects.nlp", "TOML"),
    "unknown-field": ("borrow_ceiling", "borow_ceiling", "borow_ceiling"),
    "not-found": ("projects.vision", "projects.visoin", "visoin"),
    "quota-unknown-parent": ('department = "research"', 'department = "vision"', "vision"),
    "quota-cycle": ("[departments.research]", '[departments.research]\nparent = "research"', "research"),
}
"""What is wrong, by the code of its refusal: what is replaced by what, and a word of the refusal."""


@pytest.mark.parametrize("code", sorted(WRONG))
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_bad_table_is_refused_in_words_and_the_old_one_stays(
    http: TestClient, admin: Headers, operator: Headers, code: str, language: str
) -> None:
    propose(http, operator)
    approve(http, admin, 1)
    before, after, word = WRONG[code]
    refused = propose(http, operator | {"Accept-Language": language}, TABLE.replace(before, after))
    assert (refused.json()["code"], refused.status_code // 100) == (code, 4)
    assert word in refused.json()["detail"]
    assert refused.json()["hint"]
    assert len(http.get("quota/versions", headers=admin).json()) == 1
    assert guaranteed(http, admin)["nlp"] == 2


def test_a_cut_below_what_runs_is_refused(http: TestClient, admin: Headers, operator: Headers, placed: Placed) -> None:
    cut = TABLE.replace('guaranteed = 2, borrow_ceiling = "any", lend_ceiling = 1', "guaranteed = 0")
    refused = propose(http, operator, cut)
    assert placed.job
    assert (refused.status_code, refused.json()["code"]) == (409, "quota-below-use")
    assert guaranteed(http, admin) == {"nlp": 4}


def test_a_department_cut_below_what_runs_in_it_is_refused(
    http: TestClient, admin: Headers, operator: Headers, placed: Placed
) -> None:
    """Its project may still borrow any number; the department above may hold nothing."""
    cut = """
[departments.research]
cards.cpu = { guaranteed = 0 }
[projects.nlp]
department = "research"
cards.cpu = { guaranteed = 0, borrow_ceiling = "any" }
"""
    refused = propose(http, operator, cut)
    assert (refused.status_code, refused.json()["code"], bool(placed.job)) == (409, "quota-below-use", True)
    assert "research" in refused.json()["detail"]
    assert guaranteed(http, admin) == {"nlp": 4}


def test_a_ceiling_a_person_cut_below_what_they_run_is_refused(
    http: TestClient, admin: Headers, operator: Headers, placed: Placed
) -> None:
    cut = TABLE.replace("guaranteed = 2, borrow_ceiling", "guaranteed = 2, per_person = 0, borrow_ceiling")
    refused = propose(http, operator, cut)
    assert (refused.status_code, refused.json()["code"], bool(placed.job)) == (409, "quota-below-person", True)
    assert guaranteed(http, admin) == {"nlp": 4}


def test_one_number_cut_below_what_runs_is_refused_and_one_beyond_the_site_kept_with_a_warning(
    http: TestClient, admin: Headers, placed: Placed
) -> None:
    refused = http.put("projects/nlp/quotas/cpu", json={"devices": 0}, headers=admin)
    assert (refused.status_code, refused.json()["code"], bool(placed.job)) == (409, "quota-below-use", True)
    assert guaranteed(http, admin) == {"nlp": 4}
    far = http.put("projects/nlp/quotas/cpu", json={"devices": 900}, headers=admin | {"Accept-Language": "en"})
    assert (far.status_code, far.json()["warnings"]) == (200, ["nlp is to have 900 × cpu: the site has 4"])
    assert guaranteed(http, admin) == {"nlp": 900}
    within = http.put("projects/nlp/quotas/cpu", json={"devices": 4}, headers=admin)
    assert within.json()["warnings"] == []


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "nlp has 1 × cpu now, more than the 0 promised: 1 count as borrowed and may be taken back"),
        ("zh", "nlp 正在使用 1 张 cpu，超过所保证的 0 张：其中 1 张算作借用，可能被收回"),
    ],
)
def test_a_cut_that_makes_what_runs_borrowed_is_said_to_who_proposes_it_and_to_who_sets_it(
    http: TestClient, admin: Headers, operator: Headers, placed: Placed, language: str, said: str
) -> None:
    assert placed.job
    assert propose(http, operator).json()["warnings"] == []
    approve(http, admin, 2)
    reader = {"Accept-Language": language}
    cut = TABLE.replace('guaranteed = 2, borrow_ceiling = "any"', 'guaranteed = 0, borrow_ceiling = "any"')
    proposed = propose(http, operator | reader, cut)
    assert (proposed.status_code, proposed.json()["warnings"]) == (201, [said])
    assert guaranteed(http, admin)["nlp"] == 2
    number = http.put("projects/nlp/quotas/cpu", json={"devices": 0}, headers=admin | reader)
    assert (number.status_code, number.json()["warnings"]) == (200, [said])
    raised = http.put("projects/nlp/quotas/cpu", json={"devices": 1}, headers=admin | reader)
    assert raised.json()["warnings"] == []


def test_one_number_beyond_what_the_department_has_is_refused(
    http: TestClient, admin: Headers, operator: Headers
) -> None:
    propose(http, operator)
    approve(http, admin, 1)
    refused = http.put("projects/nlp/quotas/cpu", json={"devices": 3}, headers=admin)
    assert (refused.status_code, refused.json()["code"]) == (422, "quota-above-parent")
    assert "research" in refused.json()["detail"]
    assert guaranteed(http, admin)["nlp"] == 2
    assert len(http.get("quota/versions", headers=admin).json()) == 1


@pytest.mark.parametrize("content", ["", " ", "# nothing"])
def test_a_table_of_nothing_is_refused(http: TestClient, admin: Headers, operator: Headers, content: str) -> None:
    propose(http, operator)
    approve(http, admin, 1)
    refused = propose(http, operator, content)
    assert (refused.status_code, refused.json()["code"]) == (422, "quota-empty")
    assert len(http.get("quota/versions", headers=admin).json()) == 1


def test_a_table_may_be_json(http: TestClient, operator: Headers) -> None:
    table = {"projects": {"nlp": {"cards": {"cpu": {"guaranteed": 3}}}}}
    made = http.post("quota/versions", json={"table": table, "reason": "api"}, headers=operator)
    assert made.json()["content"] == "[projects.nlp]\ncards.cpu = { guaranteed = 3 }\n"
    both = http.post("quota/versions", json={"table": table, "content": TABLE, "reason": "x"}, headers=operator)
    assert both.status_code == 422


def test_closing_a_project_frees_its_quota_at_once_and_stops_its_jobs(
    http: TestClient, admin: Headers, operator: Headers, placed: Placed
) -> None:
    assert http.post("projects/nlp/close", headers=operator).status_code == 403
    closed = http.post("projects/nlp/close", headers=admin)
    assert closed.json()["closed_at"] == "2026-11-03T08:00:00Z"
    assert guaranteed(http, admin) == {}
    assert http.get(f"jobs/{placed.job}", headers=admin).json()["job"]["state"] == "stopping"
    assert http.post("projects/nlp/close", headers=admin).status_code == 200
    assert propose(http, operator).json()["code"] == "not-found"


def drop(http: TestClient, who: Headers, verb: str, number: int = 1, reason: str = "too early") -> Any:
    return http.post(f"quota/versions/{number}/{verb}", json={"reason": reason}, headers=who)


def test_another_role_rejects_a_table_with_a_reason(http: TestClient, admin: Headers, operator: Headers) -> None:
    propose(http, operator)
    assert drop(http, operator, "reject").json()["code"] == "quota-own-approval"
    rejected = drop(http, admin, "reject").json()
    assert [rejected[f"dropped_{name}"] for name in ("as", "by", "why")] == ["rejected", "root-admin", "too early"]
    assert http.get("quota", headers=admin).json()["proposed"] == []
    fact = http.get("facts", headers=admin).json()[-1]
    assert (fact["kind"], fact["data"]["reason"], fact["data"]["author"]) == ("quota-dropped", "too early", "olga")
    late = approve(http, admin, 1)
    assert (late.status_code, late.json()["code"]) == (409, "quota-decided")
    assert "rejected" in late.json()["detail"]
    assert propose(http, operator).json()["number"] == 2


def test_only_its_author_withdraws_a_table(http: TestClient, admin: Headers, operator: Headers) -> None:
    propose(http, operator)
    refused = drop(http, admin, "withdraw")
    assert (refused.status_code, refused.json()["code"]) == (403, "quota-not-author")
    assert drop(http, operator, "withdraw").json()["dropped_as"] == "withdrawn"
    assert drop(http, operator, "withdraw").json()["code"] == "quota-decided"
    assert drop(http, admin, "reject", 7).json()["code"] == "not-found"
    assert drop(http, admin, "reject", reason="").status_code == 422


def test_a_table_may_be_yaml(http: TestClient, operator: Headers) -> None:
    text = "projects:\n  nlp:\n    cards:\n      cpu: {guaranteed: 3, borrow_ceiling: any}\n"
    made = http.post("quota/versions", json={"content": text, "format": "yaml", "reason": "file"}, headers=operator)
    assert made.json()["content"] == '[projects.nlp]\ncards.cpu = { guaranteed = 3, borrow_ceiling = "any" }\n'


BAD_YAML = {
    "twice": "projects:\n  nlp: {cards: {cpu: {guaranteed: 1}}}\n  nlp: {cards: {cpu: {guaranteed: 2}}}\n",
    "aliases": "projects:\n  nlp: {cards: &c {cpu: {guaranteed: 1}}}\n  vision: {cards: *c}\n",
    "nest": "projects: " + "[" * 100_000,
    "quote it": "projects: {nlp: {cards: {2026-01-01: {guaranteed: 1}}}}\n",
    "line 2, column 1": "projects: {nlp: [\n",
    "line 1": "!!python/object/apply:os.system ['true']\n",
    "table": "- 1\n- 2\n",
    "-1": "projects: {nlp: {cards: {cpu: {guaranteed: -1}}}}\n",
    "True": "projects: {nlp: {cards: {cpu: {guaranteed: yes}}}}\n",
    "2026-12-01": "projects: {nlp: {cards: {cpu: {guaranteed: 2026-12-01}}}}\n",
    "1000000 | any": "projects: {nlp: {cards: {cpu: {borrow_ceiling: lots}}}}\n",
    "names no department": "# nothing\n",
}
"""Bad YAML, by a word of its refusal."""


@pytest.mark.parametrize("word", BAD_YAML)
def test_bad_yaml_is_refused_in_words(http: TestClient, operator: Headers, word: str) -> None:
    body = {"content": BAD_YAML[word], "format": "yaml", "reason": "file"}
    refused = http.post("quota/versions", json=body, headers=operator)
    codes = ("quota-unreadable", "invalid-field", "quota-empty")
    assert (refused.status_code, refused.json()["code"] in codes) == (422, True)
    assert word in refused.json()["detail"]
    assert http.get("quota/versions", headers=operator).json() == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_member_may_read_the_rules(http: TestClient, people: People, language: str) -> None:
    viewer = people.headers(people.token("vera", Role.VIEWER, "vision"), language)
    told = http.get("queue/rules", headers=viewer).json()
    roles = {one["name"]: one["roles"] for one in told["classes"]}
    assert list(roles) == ["urgent", "high", "normal", "low", "idle"]
    assert (roles["urgent"], roles["idle"]) == (["lead", "admin"], ["member", "lead", "admin"])
    rules = {rule["name"]: rule for rule in told["rules"]}
    assert rules["reclaim"]["numbers"] == {"min_run_min": 30.0}
    assert all("—" not in rule["sentence"] and "queue-rule" not in rule["sentence"] for rule in rules.values())


def test_the_table_tells_lenders_and_borrowers_who_has_what_since_when(
    http: TestClient, admin: Headers, operator: Headers, placed: Placed, clock: Clock
) -> None:
    propose(
        http,
        operator,
        TABLE.replace('guaranteed = 2, borrow_ceiling = "any"', 'guaranteed = 0, borrow_ceiling = "any"'),
    )
    assert approve(http, admin, 2).status_code == 200
    clock.move(timedelta(hours=2))
    told = http.get("quota", headers=admin).json()
    entries = {entry["branch"]: entry for entry in told["entries"]}
    assert (entries["nlp"]["borrowed"], entries["vision"]["idle"], entries["vision"]["lent"]) == (1, 2, 0)
    (held,) = told["lent"]
    assert (held["project"], held["job"], held["devices"], held["since"]) == (
        "nlp",
        placed.job,
        1,
        "2026-11-03T08:00:00Z",
    )
    assert (entries["nlp"]["spent"], entries["research"]["spent"]) == (2.0, 2.0)
