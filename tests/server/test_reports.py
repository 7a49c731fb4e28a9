"""The monthly report over HTTP: figures of what really happened, opened job by job; more nodes tried on the month."""

from datetime import timedelta

import pytest
from fastapi.testclient import TestClient

from headway.server.access import Role
from tests.server.conftest import Clock, People, Placed
from tests.server.test_bad_input import GOOD

Headers = dict[str, str]
MONTH = {"month": "2026-11"}


@pytest.fixture
def month(http: TestClient, placed: Placed, admin: Headers, clock: Clock) -> str:
    """A job that ran ten minutes and failed; its id."""
    placed.starts(http)
    clock.move(timedelta(minutes=10))
    placed.ends(http, code=1)
    clock.move(timedelta(minutes=10))
    assert http.post("jobs", json=GOOD | {"name": "waits"}, headers=admin).status_code == 201
    clock.move(timedelta(minutes=10))
    return placed.job


def test_a_report_says_what_happened_and_opens_into_its_jobs(http: TestClient, admin: Headers, month: str) -> None:
    told = http.get("projects/nlp/report", params=MONTH, headers=admin).json()
    assert (told["waited"]["starts"], told["waited"]["max_s"], told["waited"]["waiting"]) == (1, 0.0, 1)
    (used,) = told["used"]
    assert (used["device_type"], used["device_seconds"]) == ("cpu", 600)
    assert used["own_device_seconds"] == 4 * 30 * 60, "four devices are its own from the moment the table is in force"
    assert used["utilisation"] == pytest.approx(600 / 7200)
    assert (told["failed"]["ended"], told["failed"]["failed"], told["failed"]["rate"]) == (1, 1, 1.0)
    first, second = told["jobs"]
    assert (first["job"], first["name"], first["failed"], first["device_seconds"]) == (month, "first", 1, 600)
    assert (second["name"], second["waiting"], second["starts"]) == ("waits", True, 0)


def test_everybody_reads_the_month_of_their_own_projects(
    http: TestClient, admin: Headers, people: People, month: str
) -> None:
    whole = http.get("reports", params=MONTH, headers=admin).json()
    assert [(each["project"], each["jobs"]) for each in whole] == [("nlp", []), ("vision", [])]
    one = http.get("projects/nlp/report", params=MONTH, headers=admin).json()
    assert whole[0] == one | {"jobs": []}
    bob = people.headers(people.token("bob", Role.VIEWER, "vision"))
    assert [each["project"] for each in http.get("reports", params=MONTH, headers=bob).json()] == ["vision"]
    assert http.get("projects/nlp/report", params=MONTH, headers=bob).status_code == 403
    assert month


def test_a_grant_is_the_projects_own_while_it_holds(
    http: TestClient, admin: Headers, people: People, clock: Clock
) -> None:
    http.put("projects/nlp/quotas/cpu", json={"devices": 1}, headers=admin)
    ends = (clock.at + timedelta(hours=2)).isoformat()
    wish = {"project": "nlp", "device_type": "cpu", "devices": 2, "ends": ends, "reason": "a deadline"}
    asked = http.post("grants", json=wish, headers=admin).json()["id"]
    clock.move(timedelta(hours=1))
    olga = people.headers(people.token("olga", Role.OPERATOR))
    assert http.post(f"grants/{asked}/decide", json={"approve": True}, headers=olga).status_code == 200
    clock.move(timedelta(hours=3))
    (used,) = http.get("projects/nlp/report", params=MONTH, headers=admin).json()["used"]
    assert used["own_device_seconds"] == 4 * 3600 + 2 * 3600, "granted from the decision to its end"


def test_a_month_is_played_again_with_more_nodes(http: TestClient, admin: Headers, people: People, month: str) -> None:
    told = http.get("reports/with-more", params=MONTH | {"add": "2x2xcpu"}, headers=admin).json()
    assert (told["jobs"], told["added"], set(told["projects"])) == (1, ["2x2xcpu"], {"nlp"})
    assert told["whole"]["after"]["mean_wait"] <= told["whole"]["before"]["mean_wait"]
    bob = people.headers(people.token("bob", Role.VIEWER, "vision"))
    mine = http.get("reports/with-more", params=MONTH | {"add": "2x2xcpu"}, headers=bob).json()
    assert (mine["whole"], mine["projects"]) == (told["whole"], {})
    assert month


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"month": "2026-13", "add": "1x2xcpu"}, "invalid-field"),
        ({"month": "2026-11", "add": "many"}, "invalid-field"),
        ({"month": "2026-11"}, "missing-field"),
        ({"month": "2020-01", "add": "1x2xcpu"}, "rehearse-nothing"),
    ],
)
def test_what_cannot_be_played_again_is_refused(
    http: TestClient, admin: Headers, asked: dict[str, str], code: str
) -> None:
    refused = http.get("reports/with-more", params=asked, headers=admin)
    assert (refused.status_code, refused.json()["code"]) == (422, code)
