"""Engines and people as the settings tell them: what there is, whether it is ready, who may grant what."""

from fastapi.testclient import TestClient

from headway.server.access import Role
from tests.server.conftest import People


def test_an_engine_is_told_with_its_nodes_and_devices(http: TestClient, people: People) -> None:
    ann = people.headers(people.token("ann", Role.VIEWER, "nlp"))
    (engine,) = http.get("engines", headers=ann).json()
    assert (engine["name"], engine["nodes"], engine["devices"]) == ("local", {"up": 2}, {"cpu": 4})


def test_an_operator_has_an_engine_tried_and_is_told_in_words_what_was_found(http: TestClient, people: People) -> None:
    bob = people.headers(people.token("bob", Role.OPERATOR))
    told = http.post("engines/local/check", headers=bob).json()
    assert (told["engine"], told["at"]) == ("local", "2026-11-03T08:00:00Z")
    assert [(found["code"], found["ok"]) for found in told["findings"]] == [("check-nodes", True)]
    assert "n1: 2" in told["findings"][0]["sentence"]
    nothing = http.post("engines/slurm/check", headers=bob)
    assert (nothing.status_code, nothing.json()["params"]["near"]) == (404, "local")


def test_who_may_not_is_told_by_name_who_can_grant_it(http: TestClient, people: People, admin: dict[str, str]) -> None:
    ann = people.headers(people.token("ann", Role.MEMBER, "nlp"))
    refused = http.post("engines/local/check", headers=ann)
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert "root-admin" in refused.json()["hint"]


def test_people_are_listed_to_leads_where_they_lead_and_to_administrators_all(
    http: TestClient, people: People, admin: dict[str, str]
) -> None:
    lead = people.headers(people.token("lee", Role.LEAD, "nlp"))
    member = people.headers(people.token("ann", Role.MEMBER, "nlp"))
    people.token("bob", Role.MEMBER, "vision")
    people.token("new")
    listed = {one["user"]: one["roles"] for one in http.get("users", headers=lead).json()}
    site = {"admin": [["admin", "*"]], "root-admin": [["admin", "*"]]}
    assert listed == {"lee": [["lead", "nlp"]], "ann": [["member", "nlp"]], **site}
    every = {one["user"]: one["roles"] for one in http.get("users", headers=admin).json()}
    assert every == {**listed, "bob": [["member", "vision"]], "new": []}
    assert http.get("users", headers=member).status_code == 403
