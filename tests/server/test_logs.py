"""Reading logs: windows by offset, negative ones from the end, and following them as they come."""

import json
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import zstandard
from fastapi.testclient import TestClient
from httpx import Client

from headway.domain.ids import AttemptId
from headway.domain.people_events import TokenIssued
from headway.server.access import Role
from headway.server.platform import Platform
from headway.store import accounts, facts
from tests.server.conftest import Clock, People, Placed

TEXT = "训练开始 step 1\nstep 2\n"


def _prints(platform: Platform, placed: Placed, text: str) -> None:
    logs, attempt, now = platform.logs, AttemptId(placed.attempt), platform.clock.now()
    logs.append(attempt, 0, logs.size(attempt, 0), text.encode(), now, now, final=True)


def _events(lines: Iterable[str]) -> Iterator[tuple[str, str, Any]]:
    """(event, id, data) of a stream of server-sent events."""
    found: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if name:
            found[name] = value
        elif "data" in found:
            yield found["event"], found["id"], json.loads(found["data"])
            found = {}


def test_a_window_says_where_it_is(http: TestClient, platform: Platform, placed: Placed, admin: dict[str, str]) -> None:
    _prints(platform, placed, TEXT)
    size = str(len(TEXT.encode()))
    whole = http.get(f"jobs/{placed.job}/logs", headers=admin)
    assert (whole.text, whole.headers["X-Offset"], whole.headers["X-Size"]) == (TEXT, "0", size)
    assert whole.headers["X-Attempt"] == placed.attempt
    part = http.get(f"jobs/{placed.job}/logs", params={"offset": 13, "limit": 6}, headers=admin)
    assert (part.text, part.headers["X-Offset"]) == ("step 1", "13")
    tail = http.get(f"jobs/{placed.job}/logs", params={"offset": -7}, headers=admin)
    assert (tail.text, tail.headers["X-Offset"]) == ("step 2\n", str(int(size) - 7))
    more = http.get(f"jobs/{placed.job}/logs", params={"offset": -1000}, headers=admin)
    assert (more.text, more.headers["X-Offset"]) == (TEXT, "0")
    beyond = http.get(f"jobs/{placed.job}/logs", params={"offset": 1000}, headers=admin)
    assert (beyond.status_code, beyond.text) == (200, "")


def test_a_log_says_when_its_bytes_came(
    http: TestClient, platform: Platform, placed: Placed, admin: dict[str, str], clock: Clock
) -> None:
    assert http.get(f"jobs/{placed.job}/logs/arrivals", headers=admin).json() == []
    _prints(platform, placed, "step 1\n")
    clock.move(timedelta(minutes=10))
    _prints(platform, placed, "step 2\n" * 100)
    found = http.get(f"jobs/{placed.job}/logs/arrivals", headers=admin).json()
    assert [found[0], found[-1]] == [
        {"at": "2026-11-03T08:00:00Z", "offset": 0},
        {"at": "2026-11-03T08:10:00Z", "offset": 707},
    ]
    nobody = http.get(f"jobs/{placed.job}/logs/arrivals", params={"rank": 9}, headers=admin)
    assert (nobody.status_code, nobody.json()["params"]["field"]) == (422, "rank")


def test_the_ranks_that_wrote_something_are_named(
    http: TestClient, platform: Platform, placed: Placed, admin: dict[str, str]
) -> None:
    assert http.get(f"jobs/{placed.job}/logs/ranks", headers=admin).json() == {}
    _prints(platform, placed, "hello\n")
    assert http.get(f"jobs/{placed.job}/logs/ranks", headers=admin).json() == {"0": 6}


@pytest.mark.parametrize(
    ("params", "status"),
    [
        ({"rank": -1}, 422),
        ({"rank": 1}, 422),
        ({"rank": 10**30}, 422),
        ({"attempt": 7}, 404),
        ({"attempt": 10**30}, 404),
        ({"limit": 0}, 422),
        ({"limit": 10**9}, 422),
        ({"offset": "x"}, 422),
    ],
)
def test_a_window_that_cannot_be_is_refused_in_words(
    http: TestClient, placed: Placed, admin: dict[str, str], params: dict[str, Any], status: int
) -> None:
    answer = http.get(f"jobs/{placed.job}/logs", params=params, headers=admin)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")


def test_a_job_that_never_ran_has_no_log(http: TestClient, admin: dict[str, str]) -> None:
    body = {"name": "idle", "project": "nlp", "template": "command", "parameters": {"command": "true"}}
    job = http.post("jobs", json=body, headers=admin).json()["id"]
    assert http.get(f"jobs/{job}/logs", headers=admin).json()["code"] == "not-found"


def test_following_ends_when_the_attempt_has_ended_and_all_was_sent(
    http: TestClient, platform: Platform, placed: Placed, admin: dict[str, str]
) -> None:
    _prints(platform, placed, TEXT)
    placed.ends(http)
    answer = http.get(f"jobs/{placed.job}/logs/stream", headers=admin)
    size = str(len(TEXT.encode()))
    assert list(_events(answer.text.splitlines())) == [("log", size, TEXT), ("end", size, "")]


def test_no_character_is_split_in_a_long_log(
    http: TestClient, platform: Platform, placed: Placed, admin: dict[str, str]
) -> None:
    text = "a" + "进程" * 40_000
    _prints(platform, placed, text)
    placed.ends(http)
    answer = http.get(f"jobs/{placed.job}/logs/stream", headers=admin)
    assert "".join(data for event, _, data in _events(answer.text.splitlines()) if event == "log") == text


def test_following_from_the_end_starts_there(
    http: TestClient, platform: Platform, placed: Placed, admin: dict[str, str]
) -> None:
    _prints(platform, placed, TEXT)
    placed.ends(http)
    answer = http.get(f"jobs/{placed.job}/logs/stream", params={"offset": -7}, headers=admin)
    assert [data for _, _, data in _events(answer.text.splitlines())] == ["step 2\n", ""]


def test_following_gives_the_output_as_it_comes(
    served: Client, http: TestClient, platform: Platform, placed: Placed, admin: dict[str, str]
) -> None:
    with served.stream("GET", f"jobs/{placed.job}/logs/stream", headers=admin) as stream:
        events = _events(stream.iter_lines())
        for text in ("one\n", "two\n"):
            _prints(platform, placed, text)
            assert next(events)[2] == text
        placed.ends(http)
        assert next(events)[0] == "end"


def test_following_waits_for_bytes_that_are_told_and_still_on_their_way(
    served: Client, http: TestClient, platform: Platform, placed: Placed, admin: dict[str, str], clock: Clock
) -> None:
    _prints(platform, placed, "one\n")
    placed.starts(http)
    placed.ends(http, logs={"0": 12})
    with served.stream("GET", f"jobs/{placed.job}/logs/stream", headers=admin) as stream:
        events = _events(stream.iter_lines())
        assert next(events)[2] == "one\n"
        clock.move(timedelta(seconds=29))
        _prints(platform, placed, "two\n")
        assert next(events)[2] == "two\n"
        clock.move(timedelta(seconds=29))
        _prints(platform, placed, "end\n")
        assert [next(events)[0] for _ in range(2)] == ["log", "end"]


def test_following_does_not_wait_for_ever_for_bytes_that_never_come(
    http: TestClient, platform: Platform, placed: Placed, admin: dict[str, str], clock: Clock
) -> None:
    _prints(platform, placed, "one\n")
    placed.starts(http)
    placed.ends(http, logs={"0": 1000})
    clock.move(timedelta(seconds=31))
    answer = http.get(f"jobs/{placed.job}/logs/stream", headers=admin)
    assert [event for event, _, _ in _events(answer.text.splitlines())] == ["log", "end"]


def test_following_goes_on_after_damage_and_says_so_in_place(
    http: TestClient, platform: Platform, placed: Placed, admin: dict[str, str]
) -> None:
    pieces = ["进程".encode()[:-1], b"two\n" * 100, b"three\n"]
    logs, now = platform.logs, platform.clock.now()
    for piece in pieces:
        logs.append(placed.attempt, 0, logs.size(placed.attempt, 0), piece, now, now)
        logs.flush()
    (file,) = (platform.home / "logs" / placed.attempt / "0").iterdir()
    whole = file.read_bytes()
    at = whole.index(zstandard.FRAME_HEADER, whole.index(zstandard.FRAME_HEADER) + 1) + 6
    file.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
    placed.ends(http)
    answer = http.get(f"jobs/{placed.job}/logs/stream", headers=admin)
    events = list(_events(answer.text.splitlines()))
    size = sum(len(piece) for piece in pieces)
    told = "\n[headway] 400 bytes of the stored log are damaged\n"
    assert "".join(data for _, _, data in events) == f"进\ufffd{told}three\n"
    assert events[-1][:2] == ("end", str(size))


def test_a_connection_that_broke_goes_on_after_the_last_event_it_brought(
    served: Client, http: TestClient, platform: Platform, placed: Placed, admin: dict[str, str]
) -> None:
    _prints(platform, placed, TEXT)
    placed.ends(http)
    before = len(TEXT.encode()) - 7
    answer = http.get(f"jobs/{placed.job}/logs/stream", headers=admin | {"Last-Event-ID": str(before)})
    assert [data for _, _, data in _events(answer.text.splitlines())] == ["step 2\n", ""]
    again = admin | {"Last-Event-ID": "2"}
    with served.stream("GET", "facts/stream", params={"after": 0}, headers=again) as stream:
        assert next(_events(stream.iter_lines()))[1] == "3"


@pytest.mark.parametrize("address", ["jobs/{job}/logs/stream", "facts/stream"])
def test_a_stream_ends_within_a_minute_once_its_token_is_withdrawn(
    served: Client, platform: Platform, placed: Placed, people: People, clock: Clock, address: str
) -> None:
    _prints(platform, placed, "one\n")
    token = people.token("bob", Role.ADMIN)
    with served.stream("GET", address.format(job=placed.job), headers=people.headers(token)) as stream:
        lines = stream.iter_lines()
        next(_events(lines))
        with platform.database.write() as c:
            (*_, issued) = facts.all(c, kinds=[TokenIssued.kind])
            assert isinstance(issued, TokenIssued)
            assert accounts.revoke_token(c, issued.token)
        clock.move(timedelta(minutes=1))
        assert [event for event, _, _ in _events(lines) if event == "end"] == []


@pytest.mark.parametrize("address", ["jobs/nope/logs/stream", "facts/stream?job=nope"])
def test_a_stream_of_what_does_not_exist_is_refused_in_words(
    http: TestClient, admin: dict[str, str], address: str
) -> None:
    answer = http.get(address, headers=admin)
    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")


def test_facts_come_as_they_are_recorded(
    served: Client, http: TestClient, placed: Placed, admin: dict[str, str]
) -> None:
    with served.stream("GET", "facts/stream", params={"job": placed.job}, headers=admin) as stream:
        events = _events(stream.iter_lines())
        assert [next(events)[0] for _ in range(2)] == ["job-submitted", "attempt-placed"]
        placed.starts(http)
        event, id_, data = next(events)
        assert (event, data["kind"], data["data"]["attempt"]) == ("attempt-started",) * 2 + (placed.attempt,)
    with served.stream("GET", "facts/stream", params={"after": int(id_) - 1}, headers=admin) as stream:
        assert next(_events(stream.iter_lines()))[:2] == ("attempt-started", id_)
