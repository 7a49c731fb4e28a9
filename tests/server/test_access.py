"""Who may do what."""

import ast
from itertools import pairwise
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from headway.domain.errors import PlatformError
from headway.server import api
from headway.server.access import TABLE, Role, Verb, check, may
from tests.server.conftest import People
from tests.server.test_bad_input import GOOD


def test_an_administrator_may_do_everything_in_the_table() -> None:
    for resource, verbs in TABLE.items():
        for verb in verbs:
            assert may([(Role.ADMIN, None)], verb, resource, "nlp")


def test_a_role_in_one_project_gives_nothing_in_another() -> None:
    held = [(Role.LEAD, "nlp")]
    assert may(held, Verb.CREATE, "job", "nlp")
    assert not may(held, Verb.CREATE, "job", "vision")


def test_an_administrator_of_one_project_does_not_rule_the_site(http: TestClient, people: People) -> None:
    ann = people.headers(people.token("ann", Role.ADMIN, "nlp"))
    assert http.put("projects/vision/quotas/cpu", json={"devices": 100}, headers=ann).status_code == 403
    assert http.put("projects/nlp/quotas/cpu", json={"devices": 100}, headers=ann).status_code == 403
    assert http.post("users", json={"name": "eve"}, headers=ann).status_code == 403
    assert http.post("users/ann/roles", json={"role": "admin"}, headers=ann).status_code == 403
    assert http.post("users/root-admin/tokens", json={}, headers=ann).status_code == 403
    assert http.post("departments", json={"name": "sales"}, headers=ann).status_code == 403
    assert http.post("jobs", json=GOOD, headers=ann).status_code == 201


def test_every_question_asked_of_the_table_is_in_it() -> None:
    """Each `check(Verb.X, "resource"…)` of the API, read from its source."""
    asked = set()
    for path in Path(api.__file__).parent.glob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            words = [ast.unparse(word) for word in call.args] if isinstance(call, ast.Call) else []
            asked |= {
                (Verb(verb.removeprefix("Verb.").lower()), ast.literal_eval(resource))
                for verb, resource in pairwise(words)
                if verb.startswith("Verb.") and resource.startswith("'")
            }
    assert len(asked) > 20
    for verb, resource in asked:
        assert verb in TABLE[resource], (verb, resource)


def test_every_role_may_do_something_and_every_cell_has_somebody() -> None:
    cells = [allowed for verbs in TABLE.values() for allowed in verbs.values()]
    assert all(Role.ADMIN in allowed for allowed in cells)
    assert set().union(*cells) == set(Role)


@pytest.mark.parametrize("resource", sorted(TABLE))
@pytest.mark.parametrize("verb", list(Verb))
def test_a_refusal_names_a_role_that_would_do(resource: str, verb: Verb) -> None:
    with pytest.raises(PlatformError) as refused:
        check("ann", [], verb, resource, "nlp")
    least = Role(str(refused.value.params["role"]))
    assert verb not in TABLE[resource] or may([(least, None)], verb, resource, "nlp")


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR])
def test_only_workers_submit_jobs(role: Role) -> None:
    with pytest.raises(PlatformError) as refused:
        check("ann", [(role, "nlp")], Verb.CREATE, "job", "nlp")
    assert refused.value.code == "forbidden"
    assert refused.value.params["role"] == "member"


def test_without_a_token_nothing_is_told(http: TestClient) -> None:
    for address in ("jobs", "nodes", "facts", "quotas", "services", "models", "projects/nlp/statement?month=2026-11"):
        answer = http.get(address)
        assert (answer.status_code, answer.json()["code"]) == (401, "not-logged-in"), address


def test_a_stranger_sees_neither_jobs_nor_statements_of_a_project(http: TestClient, people: People) -> None:
    ann = people.headers(people.token("ann", Role.MEMBER, "nlp"))
    bob = people.headers(people.token("bob", Role.MEMBER, "vision"))
    job = http.post("jobs", json=GOOD, headers=ann).json()["id"]
    assert http.get(f"jobs/{job}", headers=bob).status_code == 403
    assert http.get(f"jobs/{job}/logs", headers=bob).status_code == 403
    assert http.post(f"jobs/{job}/stop", json={}, headers=bob).status_code == 403
    assert http.get("projects/nlp/statement?month=2026-11", headers=bob).status_code == 403
    assert http.get("facts", params={"job": job}, headers=bob).status_code == 403
    assert [item["job"]["id"] for item in http.get("jobs", headers=bob).json()["items"]] == []


def test_another_project_s_job_of_the_same_name_is_not_found_instead(http: TestClient, people: People) -> None:
    ann = people.headers(people.token("ann", Role.MEMBER, "nlp"))
    bob = people.headers(people.token("bob", Role.MEMBER, "vision"))
    mine = http.post("jobs", json=GOOD, headers=ann).json()["id"]
    assert http.get("jobs/first", headers=bob).status_code == 404
    assert "first" not in http.get("jobs/frist", headers=bob).json()["hint"]
    http.post("jobs", json=GOOD | {"project": "vision"}, headers=bob)
    assert http.get("jobs/first", headers=ann).json()["job"]["id"] == mine
    assert http.get("facts", params={"job": "first"}, headers=ann).status_code == 200


def test_a_member_may_not_change_quotas_or_users(http: TestClient, people: People) -> None:
    ann = people.headers(people.token("ann", Role.MEMBER, "nlp"))
    assert http.put("projects/nlp/quotas/cpu", json={"devices": 100}, headers=ann).status_code == 403
    assert http.post("users", json={"name": "eve"}, headers=ann).status_code == 403
    assert http.post("users/root-admin/tokens", json={}, headers=ann).status_code == 403
