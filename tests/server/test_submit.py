"""Submitting: once however often it is sent, filled from the template, stoppable while it waits."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from headway.domain.ids import AttemptId
from headway.server.access import Role
from headway.server.loops.retain import retain
from headway.server.operations.jobs import submit
from headway.server.operations.people import unix
from headway.server.platform import Platform
from headway.store import attempts, facts
from tests.server.conftest import Clock, People, Placed
from tests.server.test_bad_input import GOOD


def test_a_submission_sent_twice_with_one_key_is_one_job(http: TestClient, admin: dict[str, str]) -> None:
    keyed = admin | {"Idempotency-Key": "k-1"}
    first = http.post("jobs", json=GOOD, headers=keyed)
    again = http.post("jobs", json=GOOD, headers=keyed)
    assert first.status_code == again.status_code == 201
    assert first.json() == again.json()
    assert len(http.get("jobs", headers=admin).json()["items"]) == 1


def test_a_key_used_for_another_request_is_refused(http: TestClient, admin: dict[str, str]) -> None:
    keyed = admin | {"Idempotency-Key": "k-1"}
    http.post("jobs", json=GOOD, headers=keyed)
    answer = http.post("jobs", json=GOOD | {"name": "second"}, headers=keyed)
    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency-mismatch")


def test_a_dry_run_creates_nothing(http: TestClient, admin: dict[str, str], platform: Platform) -> None:
    with platform.database.read() as c:
        before = facts.last_seq(c)
    told = http.post("jobs/dry-run", json=GOOD, headers=admin).json()
    assert told["spec"]["command"] == ["/bin/sh", "-c", "true"]
    with platform.database.read() as c:
        assert facts.last_seq(c) == before


def test_a_queued_job_is_stopped_at_once_and_cannot_be_stopped_again(http: TestClient, admin: dict[str, str]) -> None:
    job = http.post("jobs", json=GOOD, headers=admin).json()["id"]
    assert http.post(f"jobs/{job}/stop", json={}, headers=admin).json()["state"] == "stopped"
    assert http.post(f"jobs/{job}/stop", json={}, headers=admin).status_code == 409


def test_jobs_come_in_pages_newest_first(http: TestClient, admin: dict[str, str]) -> None:
    ids = [http.post("jobs", json=GOOD | {"name": f"job-{n}"}, headers=admin).json()["id"] for n in range(5)]
    page = http.get("jobs", params={"limit": 2}, headers=admin).json()
    seen = [item["job"]["id"] for item in page["items"]]
    while page["next"]:
        page = http.get("jobs", params={"limit": 2, "cursor": page["next"]}, headers=admin).json()
        seen += [item["job"]["id"] for item in page["items"]]
    assert sorted(seen) == sorted(ids)
    assert len(seen) == len(set(seen))


def test_a_job_is_found_by_prefix_and_by_name(http: TestClient, admin: dict[str, str]) -> None:
    job = http.post("jobs", json=GOOD, headers=admin).json()["id"]
    assert http.get(f"jobs/{job[:6]}", headers=admin).json()["job"]["id"] == job
    assert http.get("jobs/first", headers=admin).json()["job"]["id"] == job
    missing = http.get("jobs/frist", headers=admin)
    assert (missing.status_code, missing.json()["code"]) == (404, "not-found")
    assert "first" in missing.json()["hint"]


def test_a_key_is_forgotten_after_a_day(
    http: TestClient, admin: dict[str, str], platform: Platform, clock: Clock
) -> None:
    keyed = admin | {"Idempotency-Key": "k-1"}
    first = http.post("jobs", json=GOOD, headers=keyed).json()["id"]
    clock.move(timedelta(hours=23))
    asyncio.run(retain(platform))
    assert http.post("jobs", json=GOOD, headers=keyed).json()["id"] == first
    clock.move(timedelta(hours=2))
    asyncio.run(retain(platform))
    assert http.post("jobs", json=GOOD, headers=keyed).json()["id"] != first


def test_a_key_of_one_user_is_not_that_of_another(http: TestClient, people: People) -> None:
    ids = set()
    for name in ("ann", "bob"):
        headers = people.headers(people.token(name, Role.MEMBER, "nlp")) | {"Idempotency-Key": "k-1"}
        ids.add(http.post("jobs", json=GOOD, headers=headers).json()["id"])
    assert len(ids) == 2


def test_a_refused_request_uses_up_no_key(http: TestClient, admin: dict[str, str]) -> None:
    keyed = admin | {"Idempotency-Key": "k-1"}
    assert http.post("jobs", json=GOOD | {"template": "nope"}, headers=keyed).status_code == 404
    assert http.post("jobs", json=GOOD, headers=keyed).status_code == 201


def test_a_path_is_tried_outside_any_transaction(
    http: TestClient, admin: dict[str, str], platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    def look(field: str, path: str, *_: object) -> None:
        with platform.database.write():  # refused while this thread writes
            tried.append((field, path))

    monkeypatch.setattr(submit, "check_readable", look)
    assert http.post("jobs", json=GOOD | {"workdir": "/tmp"}, headers=admin).status_code == 201
    assert tried == [("workdir", "/tmp")]


def test_an_answer_is_given_again_though_its_path_is_gone(
    http: TestClient, admin: dict[str, str], tmp_path: Path
) -> None:
    keyed, folder = admin | {"Idempotency-Key": "k-1"}, tmp_path / "work"
    folder.mkdir()
    body = GOOD | {"workdir": str(folder)}
    first = http.post("jobs", json=body, headers=keyed)
    folder.rmdir()
    again = http.post("jobs", json=body, headers=keyed)
    assert (first.status_code, again.json()) == (201, first.json())


def test_a_path_that_hangs_is_not_readable(
    http: TestClient, admin: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unix, "LOOK", "exec sleep 600")
    monkeypatch.setattr(unix, "SECONDS", 0.1)
    answer = http.post("jobs", json=GOOD | {"workdir": "/hangs"}, headers=admin)
    assert (answer.status_code, answer.json()["code"]) == (422, "not-readable")
    assert "no answer in time" in answer.json()["detail"]


@pytest.mark.parametrize("field", ["workdir", "source"])
def test_a_relative_path_is_refused(http: TestClient, admin: dict[str, str], field: str) -> None:
    problem = http.post("jobs", json=GOOD | {field: "tmp"}, headers=admin).json()
    assert (problem["code"], problem["params"]["field"]) == ("invalid-field", field)
    assert "absolute path" in problem["detail"]


def test_what_a_person_gives_as_a_reason_is_told_and_never_taken_for_the_platforms_own(
    http: TestClient, placed: Placed, admin: dict[str, str], platform: Platform
) -> None:
    stopped = http.post(f"jobs/{placed.job}/stop", json={"reason": "preempted"}, headers=admin).json()
    assert (stopped["state"], stopped["reason"]) == ("stopping", "user")
    with platform.database.read() as c:
        attempt = attempts.get(c, AttemptId(placed.attempt))
        told = [recorded.fact for recorded in facts.since(c, 0, kinds=["stop-requested"])]
    assert attempt is not None
    assert attempt.stop_reason == "user"
    assert [getattr(fact, "reason", None) for fact in told] == ["preempted"]
