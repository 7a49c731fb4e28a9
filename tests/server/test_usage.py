"""Statements over HTTP: the same figures as JSON, as CSV and as intervals."""

import asyncio
from datetime import timedelta

import pytest
from fastapi.testclient import TestClient

from headway.server.access import Role
from headway.server.loops.meter import meter
from headway.server.platform import Platform
from tests.server.conftest import Clock, People, Placed


def test_a_statement_is_the_same_as_json_as_csv_and_as_intervals(
    http: TestClient, placed: Placed, admin: dict[str, str], clock: Clock
) -> None:
    placed.starts(http)
    clock.move(timedelta(minutes=10))
    placed.ends(http)
    clock.move(timedelta(minutes=5))
    told = http.get("projects/nlp/statement", params={"month": "2026-11"}, headers=admin).json()
    assert (told["device_seconds"], told["totals"]) == (600, {"cpu/occupancy": 600})
    (line,) = told["lines"]
    assert (line["job"], line["device_seconds"], line["open"]) == (placed.job, 600, False)
    (interval,) = http.get("projects/nlp/intervals", headers=admin).json()
    assert (interval["attempt"], interval["devices"]) == (placed.attempt, 1)
    answer = http.get("projects/nlp/statement.csv", params={"month": "2026-11"}, headers=admin)
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    header, row, *rest = answer.text.splitlines()
    assert header.startswith("project,month,job,device_type,basis,device_seconds")
    assert row == f"nlp,2026-11,{placed.job},cpu,occupancy,600,0,1,false"
    assert all(",waiting,0," in line for line in rest)


def test_what_runs_is_counted_up_to_now(http: TestClient, placed: Placed, admin: dict[str, str], clock: Clock) -> None:
    clock.move(timedelta(seconds=90))
    told = http.get("projects/nlp/statement", params={"month": "2026-11"}, headers=admin).json()
    assert [(line["device_seconds"], line["open"]) for line in told["lines"]] == [(90, True)]
    assert http.get("projects/vision/statement", params={"month": "2026-11"}, headers=admin).json()["lines"] == []


def test_a_job_says_what_it_took_before_and_after_it_is_posted(
    http: TestClient, placed: Placed, admin: dict[str, str], clock: Clock, platform: Platform
) -> None:
    def told() -> set[int]:
        (listed,) = http.get("jobs", headers=admin).json()["items"]
        return {listed["device_seconds"], http.get(f"jobs/{placed.job}", headers=admin).json()["device_seconds"]}

    placed.starts(http)
    clock.move(timedelta(minutes=10))
    assert told() == {600}
    placed.ends(http)
    clock.move(timedelta(minutes=5))
    assert told() == {600}
    asyncio.run(meter(platform))
    assert told() == {600}


@pytest.mark.parametrize("month", ["2026-13", "2026", "11-2026", "0000-01", "2026-11-03", "٢٠٢٦-11", ""])
@pytest.mark.parametrize("address", ["projects/nlp/statement", "projects/nlp/statement.csv"])
def test_what_is_no_month_is_refused(http: TestClient, admin: dict[str, str], address: str, month: str) -> None:
    answer = http.get(address, params={"month": month}, headers=admin)
    assert (answer.status_code, answer.json()["params"]["field"]) == (422, "month")


def test_the_first_and_the_last_month_there_are_can_be_asked_for(http: TestClient, admin: dict[str, str]) -> None:
    for month in ("1000-01", "9998-12"):
        answer = http.get("projects/nlp/statement", params={"month": month}, headers=admin)
        assert (answer.status_code, answer.json()["device_seconds"]) == (200, 0)


def test_a_project_that_does_not_exist_has_no_statement(http: TestClient, admin: dict[str, str]) -> None:
    answer = http.get("projects/nope/statement", params={"month": "2026-11"}, headers=admin)
    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")
    assert "nlp" in answer.json()["hint"]


def test_a_statement_says_nothing_of_another_project(http: TestClient, placed: Placed, people: People) -> None:
    bob = people.headers(people.token("bob", Role.VIEWER, "vision"))
    for address in ("statement?month=2026-11", "statement.csv?month=2026-11", "intervals"):
        assert http.get(f"projects/nlp/{address}", headers=bob).status_code == 403
