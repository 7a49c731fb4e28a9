"""Grants and windows over HTTP: asked for, decided by another, readable by all; bad ones are refused in words."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient

from headway.server.access import Role
from tests.server.conftest import Clock, People

Headers = dict[str, str]


@pytest.fixture
def operator(people: People) -> Headers:
    return people.headers(people.token("olga", Role.OPERATOR))


@pytest.fixture
def ann(people: People) -> Headers:
    return people.headers(people.token("ann", Role.MEMBER, "nlp"))


def ask(http: TestClient, who: Headers, ends: datetime, changes: dict[str, Any] | None = None) -> Any:
    body = {"project": "nlp", "device_type": "cpu", "devices": 2, "ends": ends.isoformat(), "reason": "a deadline"}
    return http.post("grants", json=body | (changes or {}), headers=who)


def decide(http: TestClient, who: Headers, grant: str, approve: bool = True) -> Any:
    return http.post(f"grants/{grant}/decide", json={"approve": approve, "note": "fine"}, headers=who)


def test_a_grant_is_asked_for_and_decided_by_another(
    http: TestClient, ann: Headers, operator: Headers, clock: Clock
) -> None:
    asked = ask(http, ann, clock.at + timedelta(days=10)).json()
    assert (asked["state"], asked["requested_by"]) == ("requested", "ann")
    assert decide(http, ann, asked["id"]).status_code == 403
    decided = decide(http, operator, asked["id"]).json()
    assert (decided["state"], decided["decided_by"], decided["note"]) == ("approved", "olga", "fine")
    (view,) = http.get("grants", params={"project": "nlp"}, headers=ann).json()
    assert (view["active"], view["ends_soon"]) == (True, False)
    assert decide(http, operator, asked["id"]).json()["code"] == "grant-decided"
    kinds = [fact["kind"] for fact in http.get("facts", params={"project": "nlp"}, headers=ann).json()]
    assert kinds[-2:] == ["grant-requested", "grant-decided"]


def test_a_grant_beyond_the_site_is_kept_with_a_warning(http: TestClient, ann: Headers, clock: Clock) -> None:
    ends = clock.at + timedelta(days=1)
    assert ask(http, ann, ends, {"devices": 1}).json()["warnings"] == []
    later = {"devices": 900, "begins": (ends + timedelta(days=1)).isoformat()}
    far = ask(http, ann, ends + timedelta(days=2), later)
    assert (far.status_code, far.json()["state"]) == (201, "requested")
    assert far.json()["warnings"] == ["nlp is to have 900 × cpu: the site has 4"]


def test_nobody_decides_on_their_own_request(http: TestClient, admin: Headers, clock: Clock) -> None:
    asked = ask(http, admin, clock.at + timedelta(days=1)).json()
    refused = decide(http, admin, asked["id"])
    assert (refused.status_code, refused.json()["code"]) == (403, "grant-own-decision")


def test_a_denied_request_is_kept(http: TestClient, ann: Headers, operator: Headers, clock: Clock) -> None:
    asked = ask(http, ann, clock.at + timedelta(days=1)).json()
    assert decide(http, operator, asked["id"], approve=False).json()["state"] == "denied"
    listed = http.get("grants", params={"state": "denied"}, headers=ann).json()
    assert [view["request"]["id"] for view in listed] == [asked["id"]]
    assert http.get("grants", params={"state": "approved"}, headers=ann).json() == []


def withdraw(http: TestClient, who: Headers, grant: str) -> Any:
    return http.post(f"grants/{grant}/withdraw", json={"reason": "not needed"}, headers=who)


def test_a_request_is_withdrawn_by_who_asked_and_decided_by_nobody(
    http: TestClient, ann: Headers, operator: Headers, clock: Clock
) -> None:
    asked = ask(http, ann, clock.at + timedelta(days=1)).json()
    refused = withdraw(http, operator, asked["id"])
    assert (refused.status_code, refused.json()["code"]) == (403, "grant-not-yours")
    withdrawn = withdraw(http, ann, asked["id"]).json()
    assert (withdrawn["state"], withdrawn["decided_by"], withdrawn["note"]) == ("withdrawn", "ann", "not needed")
    assert decide(http, operator, asked["id"]).json()["code"] == "grant-decided"
    (view,) = http.get("grants", params={"state": "withdrawn"}, headers=ann).json()
    assert (view["request"]["id"], view["active"]) == (asked["id"], False)
    assert http.get("facts", params={"project": "nlp"}, headers=ann).json()[-1]["kind"] == "grant-withdrawn"


def test_what_was_decided_is_not_withdrawn(http: TestClient, ann: Headers, operator: Headers, clock: Clock) -> None:
    asked = ask(http, ann, clock.at + timedelta(days=1)).json()
    decide(http, operator, asked["id"])
    refused = withdraw(http, ann, asked["id"])
    assert (refused.status_code, refused.json()["code"]) == (409, "grant-decided")
    assert withdraw(http, ann, "g-nothing").status_code == 404
    assert http.get("grants", headers=ann).json()[0]["request"]["state"] == "approved"


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"devices": -1}, "invalid-field"),
        ({"device_type": "h900"}, "quota-unknown-type"),
        ({"project": "nowhere"}, "not-found"),
        ({"ends": "2026-11-03T07:00:00Z"}, "grant-over"),
        ({"ends": "2026-11-05T00:00:00Z", "begins": "2026-11-06T00:00:00Z"}, "grant-period"),
    ],
)
def test_a_bad_request_is_refused_in_words(
    http: TestClient, admin: Headers, clock: Clock, changes: dict[str, Any], code: str, language: str
) -> None:
    refused = ask(http, admin | {"Accept-Language": language}, clock.at + timedelta(days=1), changes)
    assert (refused.json()["code"], refused.status_code // 100) == (code, 4)
    assert refused.json()["detail"]
    assert http.get("grants", headers=admin).json() == []


def test_overlapping_grants_are_refused(http: TestClient, ann: Headers, operator: Headers, clock: Clock) -> None:
    first = ask(http, ann, clock.at + timedelta(days=2)).json()
    second = ask(http, ann, clock.at + timedelta(days=3)).json()
    assert decide(http, operator, first["id"]).status_code == 200
    refused = decide(http, operator, second["id"])
    assert (refused.status_code, refused.json()["code"]) == (409, "grant-overlap")


def test_a_window_is_set_listed_and_cancelled(http: TestClient, ann: Headers, operator: Headers, clock: Clock) -> None:
    begins, ends = (clock.at + timedelta(hours=hours) for hours in (1, 3))
    body = {"name": "power", "begins": begins.isoformat(), "ends": ends.isoformat(), "nodes": ["n1"], "reason": "ups"}
    assert http.post("windows", json=body, headers=ann).status_code == 403
    made = http.post("windows", json=body, headers=operator).json()
    assert (made["content"]["nodes"], made["set_by"]) == (["n1"], "olga")
    assert [window["id"] for window in http.get("windows", headers=ann).json()] == [made["id"]]
    assert http.delete(f"windows/{made['id']}", headers=operator).status_code == 204
    assert http.get("windows", headers=ann).json() == []
    assert http.delete("windows/w-nothing", headers=operator).status_code == 404


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"ends": "2026-11-03T08:30:00Z", "begins": "2026-11-03T09:00:00Z"}, "window-period"),
        ({"ends": "2026-11-03T07:00:00Z", "begins": "2026-11-03T06:00:00Z"}, "window-period"),
        ({"nodes": ["n9"]}, "not-found"),
        ({"device_type": "h900"}, "not-found"),
        ({"project": "nowhere"}, "not-found"),
        ({"begins": "2026-11-03T09:00:00"}, "invalid-field"),
    ],
)
def test_a_window_that_makes_no_sense_is_refused(
    http: TestClient, operator: Headers, changes: dict[str, Any], code: str
) -> None:
    body = {"name": "power", "begins": "2026-11-03T09:00:00Z", "ends": "2026-11-03T10:00:00Z"}
    refused = http.post("windows", json=body | changes, headers=operator)
    assert (refused.json()["code"], refused.status_code // 100) == (code, 4)
