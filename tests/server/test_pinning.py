"""Pinning over HTTP: who may, and where it would keep nothing."""

import asyncio

import pytest
from fastapi.testclient import TestClient

from headway.domain.checkpoint import Checkpoint
from headway.domain.ids import JobId, attempt_id
from headway.server.access import Role
from headway.server.loops.schedule import Schedule
from headway.server.platform import Platform
from headway.store import checkpoints
from tests.server.conftest import People
from tests.server.test_bad_input import GOOD

Headers = dict[str, str]


@pytest.fixture
def saved(http: TestClient, admin: Headers, platform: Platform) -> str:
    """A job whose checkpoints the platform lets go, with one of step 40."""
    http.put("projects/nlp/quotas/cpu", json={"devices": 4}, headers=admin)
    job = JobId(http.post("jobs", json=GOOD | {"checkpoint": {"keep_best": 1}}, headers=admin).json()["id"])
    asyncio.run(Schedule()(platform))
    with platform.database.write() as c:
        one = Checkpoint(job, attempt_id(job, 1), 40, "/c/step-40", 1, 1.0, platform.clock.now())
        checkpoints.record(c, one)
    return job


def test_who_may_stop_a_job_pins_and_unpins_its_checkpoints(http: TestClient, people: People, saved: str) -> None:
    headers = people.headers(people.token("ann", Role.OPERATOR))
    answer = http.put(f"jobs/{saved}/checkpoints/40/pin", headers=headers)
    assert [(each["step"], each["pinned_by"]) for each in answer.json()] == [(40, "ann")]
    assert http.get(f"jobs/{saved}/checkpoints", headers=headers).json() == answer.json()
    answer = http.delete(f"jobs/{saved}/checkpoints/40/pin", headers=headers)
    assert [each["pinned_by"] for each in answer.json()] == [None]


@pytest.mark.parametrize("role", [None, Role.VIEWER])
def test_who_may_not_stop_a_job_pins_nothing(
    http: TestClient, people: People, admin: Headers, saved: str, role: Role | None
) -> None:
    headers = people.headers(people.token("vic", role))
    for method in ("PUT", "DELETE"):
        answer = http.request(method, f"jobs/{saved}/checkpoints/40/pin", headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert http.get(f"jobs/{saved}/checkpoints", headers=admin).json()[0]["pinned_by"] is None


def test_a_step_that_was_not_saved_is_named_beside_those_that_were(
    http: TestClient, admin: Headers, saved: str
) -> None:
    answer = http.put(f"jobs/{saved}/checkpoints/41/pin", headers=admin)
    params = answer.json()["params"]
    assert (answer.status_code, params["value"], params["near"]) == (404, "41", "40")


def test_a_pin_that_would_keep_nothing_is_refused(http: TestClient, admin: Headers) -> None:
    job = http.post("jobs", json=GOOD | {"checkpoint": {"keep": 3}}, headers=admin).json()["id"]
    answer = http.put(f"jobs/{job}/checkpoints/40/pin", headers=admin)
    assert (answer.status_code, answer.json()["code"]) == (409, "pin-keeps-nothing")
    assert "keep_best" in answer.text
