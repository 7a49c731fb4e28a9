"""Every card with its holder and what it does: held but idle since when, unknown where nobody measures."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient

from headway.domain.resources import Node
from headway.server.access import Role
from headway.server.loops.schedule import Schedule
from headway.server.operations.nodes.node_reports import key_of
from headway.server.platform import Platform
from headway.store import attempts, nodes
from headway.store.readings import Reading
from tests.server.conftest import Clock, People, Placed
from tests.server.test_bad_input import GOOD

Headers = dict[str, str]
MINUTE = timedelta(minutes=1)


@pytest.fixture
def member(people: People) -> Headers:
    """Somebody of another project."""
    return people.headers(people.token("bob", Role.VIEWER, "vision"))


def cards(http: TestClient, who: Headers, **asked: str) -> dict[tuple[str, int], Any]:
    return {(row["node"], row["device"]): row for row in http.get("cards", params=asked, headers=who).json()}


def measure(platform: Platform, clock: Clock, placed: Placed, minutes: int, value: float) -> None:
    """One reading of the job's processes a minute."""
    for _ in range(minutes):
        clock.move(MINUTE)
        mine = Reading(placed.attempt, "n1", 0, None, "processes_cpu_percent", clock.at, value)
        platform.readings.add([mine])


def test_a_card_that_is_held_and_does_nothing_is_idle_since_its_last_work(
    http: TestClient, placed: Placed, platform: Platform, clock: Clock, member: Headers
) -> None:
    began = clock.at
    measure(platform, clock, placed, 5, 80.0)
    assert cards(http, member)["n1", 0]["state"] == "working"
    measure(platform, clock, placed, 12, 0.0)
    (card,) = cards(http, member, state="idle").values()
    assert (card["project"], card["job"], card["attempt"], card["device"]) == ("nlp", placed.job, placed.attempt, 0)
    assert card["idle_since"][:19] == (began + 6 * MINUTE).isoformat()[:19]
    assert card["held_since"][:19] == began.isoformat()[:19]
    assert {row["state"] for row in cards(http, member, node="n2").values()} == {"free"}
    measure(platform, clock, placed, 1, 30.0)
    assert cards(http, member, state="idle") == {}


def test_what_nobody_measures_is_unknown_and_never_idle(
    http: TestClient, placed: Placed, platform: Platform, clock: Clock, member: Headers
) -> None:
    card = cards(http, member, project="nlp")["n1", 0]
    assert (card["state"], card["measured_at"], card["idle_since"]) == ("unknown", None, None)
    measure(platform, clock, placed, 15, 0.0)
    silent = clock.at
    clock.move(timedelta(hours=1))
    card = cards(http, member)["n1", 0]
    assert (card["state"], card["measured_at"][:19]) == ("unknown", silent.isoformat()[:19])


def test_cards_are_read_one_by_one_from_the_agent_or_from_the_nodes_daemon(
    http: TestClient, admin: Headers, platform: Platform, clock: Clock, member: Headers
) -> None:
    """Of three held cards one works, one rests (as its agent tells), and one rests as only the daemon tells."""
    with platform.database.write() as c:
        nodes.put(c, [Node("g1", "local", "h800", 4)], clock.at)
    http.put("projects/nlp/quotas/h800", json={"devices": 4}, headers=admin)
    wide = {"resources": {"devices_per_node": 3, "device_types": ["h800"]}}
    assert http.post("jobs", json=GOOD | wide, headers=admin).status_code == 201
    asyncio.run(Schedule()(platform))
    with platform.database.read() as c:
        (attempt,) = [each.id for each in attempts.live(c)]
    for _ in range(20):
        clock.move(MINUTE)
        rows = [(attempt, 0, 90.0), (attempt, 1, 0.0), (key_of("g1"), 1, 50.0), (key_of("g1"), 2, 0.0)]
        name = "device_utilisation_percent"
        platform.readings.add([Reading(key, "g1", None, card, name, clock.at, value) for key, card, value in rows])
    states = {device: row["state"] for (_, device), row in cards(http, member, node="g1").items()}
    assert states == {0: "working", 1: "idle", 2: "idle", 3: "free"}


def test_a_step_and_an_end_are_shown_where_they_are_known(
    http: TestClient, placed: Placed, clock: Clock, member: Headers
) -> None:
    placed.starts(http)
    clock.move(MINUTE)
    text = f'{{"kind": "progress", "t": {clock.at.timestamp()}, "step": 10, "total": 100}}\n'
    assert placed.says(http, seq=2, events={"0": {"offset": 0, "data": text}}).status_code == 200
    card = cards(http, member)["n1", 0]
    assert (card["step"], card["total"]) == (10, 100)
    assert card["ends"] is not None
