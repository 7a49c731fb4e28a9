"""A dry run tells what a submission would be told, is refused as it would be, and leaves nothing behind."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text

from headway.server.access import Role
from headway.server.loops.forecast import LookAhead
from headway.server.loops.schedule import Schedule
from headway.server.platform import Platform
from headway.store.schema import METADATA
from tests.server.conftest import Clock, People, Placed
from tests.server.test_bad_input import CASES, GOOD, Case

Headers = dict[str, str]
HOUR = 3600


def tell(http: TestClient, who: Headers, **changes: Any) -> Any:
    return http.post("jobs/dry-run", json=GOOD | changes, headers=who).json()


def everything(platform: Platform) -> dict[str, list[Any]]:
    """Every row of the database."""
    with platform.database.read() as c:
        return {name: c.execute(text(f"SELECT * FROM {name}")).all() for name in METADATA.tables}


def test_a_job_that_would_start_at_once_is_told_so_with_its_quota_after(
    http: TestClient, admin: Headers, placed: Placed
) -> None:
    told = tell(http, admin, limit_s=2 * HOUR, resources={"devices_per_node": 2})
    assert placed.job
    assert (told["starts_on"], told["waits"], told["devices"]) == ("cpu", None, 2)
    (project,) = told["quota"]
    assert project == {
        "branch": "nlp",
        "device_type": "cpu",
        "own": 4,
        "ceiling": 4,
        "used": 1,
        "after": 3,
        "borrowed_after": 0,
    }
    assert told["device_hours"] == {"usual": 4.0, "long": 4.0, "at_most": 4.0, "by": "limit"}


def test_a_dry_run_tells_what_the_submission_is_then_told(
    http: TestClient, admin: Headers, platform: Platform, clock: Clock
) -> None:
    http.put("projects/nlp/quotas/cpu", json={"devices": 4}, headers=admin)
    wide = {"resources": {"nodes": 2, "devices_per_node": 2}, "limit_s": HOUR}
    for name in ("runs", "waits"):
        first = http.post("jobs", json=GOOD | wide | {"name": name}, headers=admin).json()["id"]
        asyncio.run(Schedule()(platform))
        clock.move(timedelta(minutes=1))
    told = tell(http, admin, name="second", **wide)
    made = http.post("jobs", json=GOOD | wide | {"name": "second"}, headers=admin).json()
    asyncio.run(Schedule()(platform))
    asyncio.run(LookAhead()(platform))
    real = http.get(f"jobs/{made['id']}", headers=admin).json()["waits"]
    assert (told["starts_on"], told["waiting"], told["spec"]) == (None, 2, made["spec"])
    for name in ("position", "ahead", "reason", "numbers", "sentence", "advice"):
        assert told["waits"][name] == real[name], name
    assert (told["waits"]["position"], told["waits"]["ahead"]) == (2, [first])
    assert told["forecast"] | {"job": ""} == real["forecast"] | {"job": ""}
    assert clock.at.isoformat()[:19] < told["forecast"]["p50"][:19] <= told["forecast"]["p90"][:19]


def test_a_project_without_quota_is_told_that_the_job_would_wait(http: TestClient, admin: Headers) -> None:
    told = tell(http, admin)
    assert (told["waits"]["reason"], told["quota"]) == ("quota", [])
    assert told["device_hours"] == {"usual": None, "long": None, "at_most": None, "by": None}
    assert told["forecast"]["unknown"] == "quota"


@pytest.mark.parametrize("address", ["jobs/dry-run", "jobs/arrays/dry-run"])
def test_a_dry_run_leaves_nothing_behind(
    http: TestClient, admin: Headers, placed: Placed, platform: Platform, address: str
) -> None:
    before = everything(platform)
    body = GOOD | ({"count": 3} if "arrays" in address else {})
    answer = http.post(address, json=body, headers=admin | {"Idempotency-Key": "k-1"})
    assert (answer.status_code, bool(placed.job)) == (200, True)
    assert everything(platform) == before


def test_an_array_is_told_of_its_first_and_its_last(http: TestClient, admin: Headers, placed: Placed) -> None:
    body = GOOD | {"count": 5, "cap": 2, "limit_s": HOUR}
    told = http.post("jobs/arrays/dry-run", json=body, headers=admin).json()
    assert placed.job
    assert (told["jobs"], told["first"]["starts_on"], told["last"]["waits"]["reason"]) == (5, "cpu", "array")
    assert told["first"]["forecast"]["p90"] < told["last"]["forecast"]["p50"]
    assert [(one["branch"], one["after"]) for one in told["quota"]] == [("nlp", 3)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what)
def test_what_a_submission_is_refused_for_its_dry_run_is_refused_for(
    http: TestClient, admin: Headers, case: Case
) -> None:
    body = GOOD | case.change
    real, dry = (http.post(address, json=body, headers=admin) for address in ("jobs", "jobs/dry-run"))
    assert (dry.status_code, dry.json()) == (real.status_code, real.json())


def test_who_may_not_submit_is_told_nothing(http: TestClient, people: People, placed: Placed) -> None:
    viewer = people.headers(people.token("eve", Role.VIEWER, "nlp"))
    answer = http.post("jobs/dry-run", json=GOOD, headers=viewer)
    assert (answer.status_code, answer.json()["code"], bool(placed.job)) == (403, "forbidden", True)
