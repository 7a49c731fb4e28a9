"""What agents are told when they may not speak, or say what cannot be."""

import zlib
from datetime import timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient

from headway.server.api import agent
from headway.server.platform import Platform
from headway.store import attempts, facts
from tests.server.conftest import Clock, Placed

AT = 1762156800.0
LOGS = {"offset": 0, "first": AT, "last": AT}


def _last(platform: Platform) -> int:
    with platform.database.read() as c:
        return facts.last_seq(c)


def test_a_token_opens_its_own_attempt_alone(http: TestClient, placed: Placed, admin: dict[str, str]) -> None:
    assert placed.says(http).status_code == 200
    other = placed.attempt.replace(".1", ".2")
    forged = http.post(f"agent/{other}/nodes/n1/report", json={}, headers=placed.headers)
    assert forged.status_code in (403, 422)
    logs = f"agent/{other}/nodes/n1/logs/0"
    answer = http.post(logs, params=LOGS, content=b"forged", headers=placed.headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "wrong-attempt")
    for headers in ({}, admin, {"Authorization": "Bearer hwa_nonsense"}):
        answer = http.post(logs, params=LOGS, content=b"forged", headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "not-logged-in")


def test_an_attempt_s_token_opens_nothing_that_people_may_do(http: TestClient, placed: Placed) -> None:
    for address in ("jobs", "nodes", "facts", f"jobs/{placed.job}"):
        assert http.get(address, headers=placed.headers).status_code == 401


def test_a_node_that_has_no_part_in_the_attempt_may_not_speak_for_it(http: TestClient, placed: Placed) -> None:
    body = {"seq": 1, "at": AT, "agent": {"pid": 1, "start_ticks": 2, "version": "0"}, "phase": "running"}
    answer = http.post(f"agent/{placed.attempt}/nodes/n9/report", json=body, headers=placed.headers)
    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")


def test_a_token_outlives_its_attempt_by_what_is_set(
    http: TestClient, platform: Platform, placed: Placed, clock: Clock
) -> None:
    placed.starts(http)
    placed.ends(http)
    clock.move(platform.settings.token_kept)
    assert placed.says(http, "ended", ended={"at": AT, "reason": "exited"}).json()["over"]
    clock.move(timedelta(seconds=1))
    answer = placed.says(http)
    assert (answer.status_code, answer.json()["code"]) == (409, "attempt-over")


@pytest.mark.parametrize(
    "parts",
    [
        {"phase": "dancing"},
        {"at": 1e300},
        {"at": "2026-11-03T08:00:00"},
        {"at": None},
        {"seq": -1},
        {"ranks": [{"rank": -1, "pid": 1, "started_at": AT}]},
        {"ranks": [{"rank": 0, "pid": 1, "started_at": -1e18}]},
        {"exits": [{"rank": 0}]},
        {"events": {"x": {"offset": 0, "data": ""}}},
        {"events": {"0": {"offset": -1, "data": ""}}},
        {"readings": [{"t": AT, "name": "x" * 65, "value": 1}]},
        {"dropped": [{"rank": 0, "from": -5, "bytes": 1, "t": AT, "why": "rate"}]},
        {"ended": {"at": 1e300, "reason": "exited"}},
    ],
)
def test_a_report_that_cannot_be_is_refused_and_leaves_nothing(
    http: TestClient, platform: Platform, placed: Placed, parts: dict[str, Any]
) -> None:
    before = _last(platform)
    answer = placed.says(http, **{"phase": "running"} | parts)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert answer.json()["code"] in ("invalid-field", "missing-field")
    assert _last(platform) == before


def test_numbers_beyond_every_column_are_refused(http: TestClient, platform: Platform, placed: Placed) -> None:
    huge = 10**30
    for parts in (
        {"seq": huge},
        {"ranks": [{"rank": huge, "pid": 1, "started_at": AT}]},
        {"ranks": [{"rank": 0, "pid": huge, "started_at": AT}]},
        {"exits": [{"rank": huge, "at": AT, "code": 0}]},
        {"events": {str(huge): {"offset": 0, "data": "x\n"}}},
    ):
        assert placed.says(http, **parts).status_code == 422, parts
    with platform.database.read() as c:
        assert [a.state for a in attempts.live(c)] == ["placed"]


def test_unknown_keys_of_newer_agents_are_ignored(http: TestClient, placed: Placed) -> None:
    assert placed.says(http, mood="good", ranks=[{"rank": 0, "pid": 1, "started_at": AT, "hat": 1}]).status_code == 200


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"offset": "x", "first": AT, "last": AT},
        {"offset": -1, "first": AT, "last": AT},
        {"offset": 0, "first": "nan", "last": AT},
        {"offset": 0, "first": "1e300", "last": AT},
    ],
)
def test_logs_without_a_place_are_refused(http: TestClient, placed: Placed, query: dict[str, Any]) -> None:
    address = f"agent/{placed.attempt}/nodes/n1/logs/0"
    answer = http.post(address, params=query, content=b"x", headers=placed.headers)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-field")


@pytest.mark.parametrize("rank", ["-1", "x", str(10**30)])
def test_logs_of_a_rank_that_cannot_be_are_refused(http: TestClient, placed: Placed, rank: str) -> None:
    address = f"agent/{placed.attempt}/nodes/n1/logs/{rank}"
    answer = http.post(address, params=LOGS, content=b"x", headers=placed.headers)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-field")


def test_an_agent_brings_only_the_output_of_its_own_node_s_ranks(
    http: TestClient, platform: Platform, placed: Placed
) -> None:
    for rank, node, status, code in ((1, "n1", 422, "invalid-field"), (0, "n2", 404, "not-found")):
        address = f"agent/{placed.attempt}/nodes/{node}/logs/{rank}"
        answer = http.post(address, params=LOGS, content=b"not mine", headers=placed.headers)
        assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert platform.logs.ranks(placed.attempt) == []


def test_what_is_beyond_every_limit_is_let_go_and_no_agent_waits_for_it(
    http: TestClient, platform: Platform, placed: Placed, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform.settings = platform.settings.model_copy(update={"log_max_bytes": 10})
    monkeypatch.setattr(agent, "SLACK", 5)
    address = f"agent/{placed.attempt}/nodes/n1/logs/0"
    for offset, received, kept in ((0, 12, 12), (12, 24, 15), (24, 36, 15)):
        query = LOGS | {"offset": offset, "final": 1}
        answer = http.post(address, params=query, content=b"twelve bytes", headers=placed.headers)
        assert answer.json() == {"received": received, "durable": received}
        assert platform.logs.size(placed.attempt, 0) == kept


def test_packed_logs_are_unpacked_and_bombs_are_not(http: TestClient, placed: Placed, admin: dict[str, str]) -> None:
    address = f"agent/{placed.attempt}/nodes/n1/logs/0"
    packed = placed.headers | {"Content-Encoding": "deflate"}
    answer = http.post(address, params=LOGS | {"final": 1}, content=zlib.compress(b"hello\n"), headers=packed)
    assert answer.json() == {"received": 6, "durable": 6}
    assert http.get(f"jobs/{placed.job}/logs", headers=admin).text == "hello\n"
    bomb = zlib.compress(b"\0" * (64 << 20))
    assert http.post(address, params=LOGS, content=bomb, headers=packed).json()["code"] == "body-too-large"
    assert http.post(address, params=LOGS, content=b"not deflate", headers=packed).json()["code"] == "invalid-field"
    assert http.get(f"jobs/{placed.job}/logs", headers=admin).text == "hello\n"


def test_logs_past_what_is_there_are_not_taken(http: TestClient, placed: Placed) -> None:
    address = f"agent/{placed.attempt}/nodes/n1/logs/0"
    answer = http.post(address, params=LOGS | {"offset": 100}, content=b"x", headers=placed.headers)
    assert answer.json()["received"] == 0


def test_a_report_larger_than_any_agent_sends_is_refused(http: TestClient, placed: Placed) -> None:
    answer = placed.says(http, events={"0": {"offset": 0, "data": "x" * (5 << 20)}})
    assert answer.status_code == 413
