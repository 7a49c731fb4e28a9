"""What a job may ask for beside devices: other jobs first, engines, nodes, a class; arrays; taking a job by hand."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient

from headway.server.access import Role
from headway.server.loops.forecast import LookAhead
from headway.server.loops.schedule import Schedule
from headway.server.platform import Platform
from headway.store import snapshot
from tests.server.conftest import Clock, People, Placed
from tests.server.test_bad_input import GOOD

Headers = dict[str, str]


def submit(http: TestClient, who: Headers, **changes: Any) -> Any:
    return http.post("jobs", json=GOOD | changes, headers=who)


def test_a_job_may_wait_for_others(http: TestClient, admin: Headers, platform: Platform) -> None:
    first = submit(http, admin).json()
    second = submit(http, admin, name="second", after_ok=[first["id"]], after=[first["spec"]["name"]]).json()
    assert second["spec"]["conditions"]["after_ok"] == second["spec"]["conditions"]["after"] == [first["id"]]
    with platform.database.read() as c:
        queued = {job.id: job for job in snapshot.take(c, platform.clock.now()).queued}
    assert queued[second["id"]].after_ok == (first["id"],)


def test_a_dependency_that_is_not_there_or_can_never_come_true_is_refused(
    http: TestClient, admin: Headers, people: People
) -> None:
    assert submit(http, admin, after=["j-nothing"]).json()["code"] == "not-found"
    first = submit(http, admin, name="first").json()["id"]
    http.post(f"jobs/{first}/stop", json={}, headers=admin)
    dead = submit(http, admin, name="second", after_ok=[first])
    assert (dead.status_code, dead.json()["code"]) == (422, "dependency-dead")
    assert submit(http, admin, name="second", after=[first]).status_code == 201
    bob = people.headers(people.token("bob", Role.MEMBER, "vision"))
    assert submit(http, bob, project="vision", after=[first]).status_code == 403


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"engines": ["moon"]}, "not-found"),
        ({"excluded": ["n9"]}, "not-found"),
        ({"excluded": ["n1", "n2"]}, "no-node-left"),
        ({"not_before": "2026-11-04T00:00:00"}, "invalid-field"),
        ({"not_before": "9999-12-31T23:59:59Z"}, "invalid-field"),
        ({"not_before": "soon"}, "invalid-field"),
        ({"after": [""]}, "invalid-field"),
    ],
)
def test_a_wish_that_cannot_be_met_is_refused(
    http: TestClient, admin: Headers, changes: dict[str, Any], code: str
) -> None:
    refused = submit(http, admin, **changes)
    assert (refused.json()["code"], refused.status_code // 100) == (code, 4)


@pytest.mark.parametrize("moment", ["soon", "2026-11-04", "2026-11-04T00:00:00"])
@pytest.mark.parametrize(("language", "word"), [("en", "with its zone"), ("zh", "带时区")])
def test_what_is_no_moment_is_refused_in_the_readers_language(
    http: TestClient, admin: Headers, moment: str, language: str, word: str
) -> None:
    refused = submit(http, admin | {"Accept-Language": language}, not_before=moment).json()
    assert (refused["code"], word in refused["detail"], "Input" in refused["detail"]) == ("invalid-field", True, False)


@pytest.mark.parametrize("year", ["0001", "1969", "2100", "9999"])
def test_a_moment_that_is_out_of_all_proportion_is_refused(http: TestClient, admin: Headers, year: str) -> None:
    moment = f"{year}-01-01T00:00:00Z"
    window = {"name": "w", "begins": "2026-12-01T00:00:00Z", "ends": moment}
    grant = {"project": "nlp", "device_type": "cpu", "devices": 1, "ends": moment, "reason": "x"}
    for address, body in {"jobs": GOOD | {"not_before": moment}, "windows": window, "grants": grant}.items():
        refused = http.post(address, json=body, headers=admin)
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid-field"), address
    assert http.get("jobs", headers=admin).json()["items"] == []


def test_the_high_classes_are_for_leads_and_operators(http: TestClient, people: People) -> None:
    ann = people.headers(people.token("ann", Role.MEMBER, "nlp"))
    lea = people.headers(people.token("lea", Role.LEAD, "nlp"))
    assert submit(http, ann, priority="normal").status_code == 201
    refused = submit(http, ann, priority="urgent")
    assert (refused.status_code, refused.json()["params"]["role"]) == (403, "lead")
    assert submit(http, lea, priority="urgent").status_code == 201


def test_a_sweep_is_many_jobs_with_a_cap(http: TestClient, admin: Headers, platform: Platform) -> None:
    body = GOOD | {"name": "sweep", "sweep": {"command": ["true", "false", "echo 1"]}, "cap": 2}
    made = http.post("jobs/arrays", json=body, headers=admin).json()
    assert [job["spec"]["name"] for job in made] == ["sweep-1", "sweep-2", "sweep-3"]
    assert [job["spec"]["parameters"]["command"] for job in made] == ["true", "false", "echo 1"]
    assert [job["spec"]["env"]["HEADWAY_ARRAY_INDEX"] for job in made] == ["1", "2", "3"]
    assert len({job["spec"]["conditions"]["array"] for job in made}) == 1
    with platform.database.read() as c:
        assert {job.array_cap for job in snapshot.take(c, platform.clock.now()).queued} == {2}


@pytest.mark.parametrize(
    "changes", [{}, {"count": 2, "sweep": {"command": ["a"]}}, {"count": 0}, {"sweep": {"command": []}}, {"cap": 0}]
)
def test_an_array_of_no_sense_creates_nothing(http: TestClient, admin: Headers, changes: dict[str, Any]) -> None:
    refused = http.post("jobs/arrays", json=GOOD | changes, headers=admin)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid-field")
    assert http.get("jobs", headers=admin).json()["items"] == []


def test_an_array_with_one_bad_job_creates_none(http: TestClient, admin: Headers) -> None:
    refused = http.post("jobs/arrays", json=GOOD | {"sweep": {"nothing": ["a", "b"]}}, headers=admin)
    assert refused.json()["code"] == "unknown-field"
    assert http.get("jobs", headers=admin).json()["items"] == []


def test_an_operator_sees_the_price_before_taking_a_job(
    http: TestClient, admin: Headers, people: People, placed: Placed, clock: Clock
) -> None:
    operator = people.headers(people.token("olga", Role.OPERATOR))
    ann = people.headers(people.token("ann", Role.MEMBER, "nlp"))
    clock.move(timedelta(minutes=5))
    address, body = f"jobs/{placed.job}/preempt", {"reason": "a demonstration", "dry_run": True}
    assert http.post(address, json=body, headers=ann).status_code == 403
    price = http.post(address, json=body, headers=operator).json()
    assert (price["devices"], price["lost_device_seconds"], price["saved_at"]) == (1, 300, None)
    assert http.get(f"jobs/{placed.job}", headers=admin).json()["job"]["state"] == "starting"
    assert http.post(address, json=body | {"dry_run": False}, headers=operator).json() == price
    job = http.get(f"jobs/{placed.job}", headers=admin).json()["job"]
    assert (job["state"], job["reason"]) == ("stopping", "preempted")
    again = http.post(address, json=body, headers=operator)
    assert (again.status_code, again.json()["code"]) == (409, "job-holds-nothing")


def test_a_protected_job_is_never_taken(http: TestClient, admin: Headers) -> None:
    job = submit(http, admin, protected=True).json()["id"]
    refused = http.post(f"jobs/{job}/preempt", json={"reason": "x", "dry_run": True}, headers=admin)
    assert (refused.status_code, refused.json()["code"]) == (409, "job-protected")


def test_what_would_start_a_job_sooner_is_tried(http: TestClient, admin: Headers) -> None:
    http.put("projects/nlp/quotas/cpu", json={"devices": 1}, headers=admin)
    wide = submit(http, admin, resources={"nodes": 2, "devices_per_node": 1}, limit_s=600).json()["id"]
    variants = http.get(f"jobs/{wide}/sooner", headers=admin).json()
    assert {"fewer-nodes", "grant"} <= {variant["change"] for variant in variants}
    assert all(variant["forecast"]["p90"] for variant in variants)
    http.post(f"jobs/{wide}/stop", json={}, headers=admin)
    refused = http.get(f"jobs/{wide}/sooner", headers=admin)
    assert (refused.status_code, refused.json()["code"]) == (409, "job-not-waiting")


def test_those_who_stand_before_are_told_with_owner_and_devices(
    http: TestClient, admin: Headers, platform: Platform, clock: Clock
) -> None:
    http.put("projects/nlp/quotas/cpu", json={"devices": 1}, headers=admin)
    ids = []
    for name in ("first", "second", "third"):
        clock.move(timedelta(seconds=1))
        ids.append(submit(http, admin, name=name).json()["id"])
    first, second, third = ids
    asyncio.run(Schedule()(platform))
    asyncio.run(LookAhead()(platform))
    (before,) = http.get(f"jobs/{third}/ahead", headers=admin).json()
    assert (before["job"], before["owner"], before["project"], before["devices"]) == (second, "root-admin", "nlp", 1)
    assert before["starts"] is None
    assert http.get(f"jobs/{first}/ahead", headers=admin).json() == []
