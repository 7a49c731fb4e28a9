"""Listing, stopping, drilling; JSON, fields, and logs."""

import io
import json
from typing import Any

import pytest

from tests.cli import canned
from tests.cli.conftest import Headway
from tests.sdk.stub import Asked, Reply, Stub, sse

LOGS = "/jobs/j/logs"
TEXT = "一行\nline 2\r\nline 3\nlast".encode()


def windows(data: bytes) -> Any:
    """Answers a log window as the server does."""

    def answer(asked: Asked) -> Reply:
        offset, limit = int(asked.query["offset"][0]), int(asked.query["limit"][0])
        start = max(0, len(data) + offset) if offset < 0 else offset
        headers = {"X-Offset": str(start), "X-Size": str(len(data))}
        return Reply(data[start : start + limit], headers=headers)

    return answer


def test_ps_asks_for_what_lives_unless_told_otherwise(stub: Stub, headway: Headway) -> None:
    stub.on("GET", "/jobs", {"items": [], "next": None})
    headway("ps")
    headway("ps", "-a")
    headway("ps", "--state", "failed", "--project", "nlp")
    asked = [asked.query for asked in stub.asked]
    assert asked[0]["state"] == ["queued", "starting", "running", "stopping", "recovering", "held"]
    assert "state" not in asked[1]
    assert (asked[2]["state"], asked[2]["project"]) == (["failed"], ["nlp"])


@pytest.mark.parametrize("language", ["zh", "en"])
def test_json_is_the_rest_schema_in_every_language(stub: Stub, headway: Headway, language: str) -> None:
    view = canned.waiting()
    stub.on("GET", "/jobs", {"items": [view], "next": None})
    assert json.loads(headway("ps", "--json", language=language).out) == [view]
    stub.on("GET", "/jobs/j-9", view)
    assert json.loads(headway("why", "--json", "j-9", language=language).out) == view


def test_fields_are_picked_by_their_path(stub: Stub, headway: Headway) -> None:
    stub.on("GET", "/jobs", {"items": [canned.waiting()], "next": None})
    picked = json.loads(headway("ps", "--json=job.id,waits.position,no.such").out)
    assert picked == [{"job.id": "j-9", "waits.position": 3, "no.such": None}]
    assert headway("ps", "-q").out == "j-9\n"


def test_output_that_is_no_terminal_is_plain(stub: Stub, headway: Headway) -> None:
    stub.on("GET", "/jobs", {"items": [canned.a_view()], "next": None})
    ran = headway("ps")
    assert "\x1b" not in ran.out
    assert "●" not in ran.out


def test_names_that_look_like_markup_are_printed_as_they_are(stub: Stub, headway: Headway) -> None:
    job = canned.a_job()
    job["spec"]["name"] = "[red]x[/]"
    stub.on("GET", "/jobs", {"items": [canned.a_view(job)], "next": None})
    assert "[red]x[/]" in headway("ps").out


def test_stopping_waits_for_the_end_of_every_job(stub: Stub, headway: Headway) -> None:
    for job in ("a", "b"):
        stub.on("GET", f"/jobs/{job}", *[canned.a_view(canned.a_job(id=job, state=s)) for s in ("running", "stopped")])
        stub.on("POST", f"/jobs/{job}/stop", canned.a_job(id=job, state="stopping"))
    ran = headway("stop", "a", "b", "--wait", "--reason", "maintenance", "--json=id,state")
    assert ran.code == 0
    assert json.loads(ran.out) == [{"id": "a", "state": "stopped"}, {"id": "b", "state": "stopped"}]
    assert [asked.body for asked in stub.asked if asked.method == "POST"] == [{"reason": "maintenance"}] * 2


def test_stopping_that_takes_too_long_ends_with_8(stub: Stub, headway: Headway) -> None:
    stub.on("GET", "/jobs/a", canned.a_view(canned.a_job(id="a", state="stopping")))
    stub.on("POST", "/jobs/a/stop", canned.a_job(id="a", state="stopping"))
    assert headway("stop", "a", "--wait", "--timeout", "0").code == 8


def test_nothing_is_stopped_when_one_of_the_jobs_is_not_there(stub: Stub, headway: Headway) -> None:
    stub.on("GET", "/jobs/a", canned.a_view(canned.a_job(id="a")))
    assert headway("stop", "a", "typo").code == 3
    assert {asked.method for asked in stub.asked} == {"GET"}


class Person(io.StringIO):
    """A terminal with somebody at it."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("says", "code", "posts"), [("n\n", 1, 0), ("y\n", 0, 1)])
def test_a_person_is_asked_before_something_is_lost(
    stub: Stub, headway: Headway, monkeypatch: pytest.MonkeyPatch, says: str, code: int, posts: int
) -> None:
    stub.on("GET", "/jobs/a", canned.a_view(canned.a_job(id="a")))
    stub.on("POST", "/jobs/a/stop", canned.a_job(id="a", state="stopping"))
    monkeypatch.setattr("sys.stdin", Person(says))
    ran = headway("stop", "a")
    assert ran.code == code
    assert "stop sft-07 (a) at step 120/200?" in ran.err
    assert len([asked for asked in stub.asked if asked.method == "POST"]) == posts


def test_a_running_job_that_saves_in_time_shows_its_interval_and_what_it_costs(stub: Stub, headway: Headway) -> None:
    choice = {"save_share": 0.004, "lost_share": 0.01, "share": 0.014, "advised": False}
    used = choice | {"interval_s": 1080.0, "lost_per_fault_s": 540.0, "in_use": True}
    other = choice | {"interval_s": 3600.0, "lost_per_fault_s": 1800.0, "in_use": False}
    job = canned.a_job(id="a", state="running")
    stub.on("GET", "/jobs/a", canned.a_view(job))
    stub.on("GET", "/jobs/a/cadence", {"trade": [used, other]})
    assert "saving takes" not in headway("show", "a").out
    job["spec"]["checkpoint"] = {"advised": True}
    stub.on("GET", "/jobs/a", canned.a_view(job))
    (line,) = [line for line in headway("show", "a").out.splitlines() if "saving takes" in line]
    assert line.endswith("18m 00s: saving takes 0.4 % of the time, a fault loses 9m 00s on average")


def test_a_pin_says_what_stays_and_by_whom(stub: Stub, headway: Headway) -> None:
    row = {"step": 40, "path": "/c/step-40", "pinned_by": "ann"}
    stub.on("PUT", "/jobs/j/checkpoints/40/pin", [row])
    stub.on("DELETE", "/jobs/j/checkpoints/40/pin", [row | {"pinned_by": None}])
    ran = headway("checkpoint", "pin", "j", "40")
    assert (ran.code, ran.err) == (0, "/c/step-40 stays: pinned by ann\n")
    ran = headway("checkpoint", "unpin", "j", "40")
    assert (ran.code, ran.err) == (0, "/c/step-40 is left to the policy again\n")
    state = {"state": "verified", "reason": None, "bytes": 1, "seconds": 1.0, "attempt": "j.1", "saved_at": canned.AT}
    state |= {"restored": None, "storage": "nfs4", "copy": None}
    stub.on("GET", "/jobs/j/checkpoints", [row | state])
    assert "verified (pinned by ann)" in headway("checkpoints", "j").out
    copy = {"copy": "s3://b/j/step", "copy_storage": "staged:s3", "copy_seconds": 4.0, "copy_restored": 2.0}
    stub.on("GET", "/jobs/j/checkpoints", [row | state | copy])
    assert "nfs4 → staged:s3 (4.0 s, 2.0 s)" in headway("checkpoints", "j").out


def test_a_drill_names_what_is_broken_and_when(stub: Stub, headway: Headway) -> None:
    ordered = {"drill": "d-1", "job": "j", "rank": 1, "kill": "rank", "at_step": None, "shadow_of": None}
    stub.on("POST", "/jobs/j/drills", ordered)
    assert headway("drill", "j", "--rank", "1", "-y").out == "d-1\n"
    assert headway("drill", "--kill", "agent", "--at", "40", "j", "--yes").out == "d-1\n"
    assert [asked.body for asked in stub.asked] == [{"rank": 1, "kill": "rank"}, {"kill": "agent", "at_step": 40}]


def test_a_drill_of_a_copy_is_not_asked_about_and_names_the_copy(stub: Stub, headway: Headway) -> None:
    ordered = {"drill": "d-1", "job": "j-2", "rank": 1, "kill": "stop", "at_step": 41, "shadow_of": "j"}
    stub.on("POST", "/jobs/j/drills", ordered)
    ran = headway("drill", "j", "--kill", "stop", "--shadow")
    assert (ran.code, ran.out) == (0, "d-1\n")
    assert "j-2, a copy of j" in ran.err


@pytest.mark.parametrize(
    ("language", "words"), [("en", ("saves next", "20m 00s")), ("zh", ("下一次", "每20 分 00 秒存"))]
)
def test_a_drill_of_storage_says_that_it_waits_for_the_next_save(
    stub: Stub, headway: Headway, language: str, words: tuple[str, str]
) -> None:
    stub.on("POST", "/jobs/j/drills", {"drill": "d-1", "job": "j", "rank": 0, "shadow_of": None})
    saved = [{"format": None, "saved_at": f"2026-12-01T06:{minute}:00Z"} for minute in ("40", "20", "00")]
    stub.on("GET", "/jobs/j/checkpoints", [{"format": "trainer", "saved_at": "2026-12-01T06:50:00Z"}, *saved])
    said = headway("drill", "j", "--kill", "mount", "-y", language=language).err
    assert all(word in said for word in words), said
    stub.on("GET", "/jobs/j/checkpoints", saved[:1])
    assert words[1] not in headway("drill", "j", "--kill", "mount", "-y", language=language).err


def test_the_history_of_drills_ends_with_who_should_hold_one_again(stub: Stub, headway: Headway) -> None:
    drill = {"id": "d-1", "job": "j-1", "kill": "agent", "rank": 1, "at": canned.AT, "shadow_of": None}
    score = {"phases": {"detect": 10.0}, "resumed_step": 40, "lost_steps": 2, "seconds": 12.5, "verdict_right": True}
    held = {"drill": drill, "name": "a", "project": "nlp", "template": "t@1", "state": "recovered", "score": score}
    waiting = held | {"drill": drill | {"id": "d-2", "shadow_of": "j-0"}, "state": "waiting", "score": None}
    stub.on("GET", "/drills", [waiting, held])
    stub.on("GET", "/drills/overdue", [{"project": "vision", "template": "sft", "since": canned.AT, "days": 120}])
    ran = headway("drill", "ls", "--project", "nlp")
    lines = ran.out.splitlines()
    assert "copy of j-0" in lines[1]
    assert lines[2].split()[:6] == ["d-1", "j-1", "agent", "1", "recovered", "10"]
    assert "right" in lines[2]
    assert "vision has not drilled sft for 120 days" in ran.err


def test_logs_are_printed_byte_for_byte(stub: Stub, headway: Headway) -> None:
    stub.on("GET", LOGS, windows(TEXT))
    assert headway("logs", "j", "--rank", "3").out == TEXT.decode()
    assert stub.asked[0].query["rank"] == ["3"]


@pytest.mark.parametrize(("lines", "expected"), [(0, ""), (1, "last"), (2, "line 3\nlast"), (9, TEXT.decode())])
def test_the_last_lines_of_a_log(stub: Stub, headway: Headway, lines: int, expected: str) -> None:
    stub.on("GET", LOGS, windows(TEXT))
    assert headway("logs", "j", "--tail", str(lines)).out == expected


def test_the_last_lines_of_a_long_log_are_found_beyond_the_first_window(stub: Stub, headway: Headway) -> None:
    written = "".join(f"{number} {'x' * 500}\n" for number in range(300))
    stub.on("GET", LOGS, windows(written.encode()))
    assert headway("logs", "j", "--tail", "200").out == "".join(written.splitlines(keepends=True)[100:])


def test_a_followed_log_goes_on_with_the_next_attempt_until_the_job_ends(stub: Stub, headway: Headway) -> None:
    first, second = canned.an_attempt(), canned.an_attempt(id="j-8a0.2", number=2)
    queued = canned.a_view(canned.a_job(state="queued"), attempt=None)
    again = canned.a_view(canned.a_job(state="recovering"), attempt=first)
    resumed, ended = (canned.a_view(canned.a_job(state=s), attempt=second) for s in ("running", "succeeded"))
    stub.on("GET", "/jobs/j", queued, canned.a_view(attempt=first), again, resumed, ended)
    stub.on("GET", LOGS, lambda asked: windows(b"kept" if asked.query["attempt"] == ["1"] else b"")(asked))
    one = sse(("log", "8", " new"), ("end", "8", ""))
    stub.on("GET", f"{LOGS}/stream", one, sse(("log", "6", " again"), ("end", "6", "")))
    ran = headway("logs", "-f", "j")
    assert (ran.code, ran.out) == (0, "kept new again")
    assert "attempt 2" in ran.err
    streams = [asked.query for asked in stub.asked if asked.path.endswith("stream")]
    assert [(query["attempt"], query["offset"]) for query in streams] == [(["1"], ["4"]), (["2"], ["0"])]


def test_followed_json_is_one_object_a_line(stub: Stub, headway: Headway) -> None:
    stub.on("GET", LOGS, windows(b"ab\n"))
    stub.on("GET", f"{LOGS}/stream", sse(("log", "5", "你\n"[:1]), ("end", "6", "")))
    lines = headway("logs", "-f", "j", "--attempt", "1", "--json").out.splitlines()
    assert [json.loads(line)["text"] for line in lines] == ["ab\n", "你"]


@pytest.mark.parametrize(
    ("language", "line"),
    [
        (
            "en",
            "checkpoints: every 18m 00s (advised) costs 0.09 %, loses 9m 01s per fault · "
            "every 1h 00m (in use) costs 0.03 %, loses 30m 01s per fault",
        ),
        ("zh", "每 18 分 00 秒 (建议) 存一次"),
    ],
)
def test_why_a_job_runs_says_what_its_checkpoints_cost(stub: Stub, headway: Headway, language: str, line: str) -> None:
    job = canned.a_job(id="a", state="running")
    stub.on("GET", "/jobs/a", canned.a_view(job))
    stub.on("GET", "/jobs/a/cadence", canned.a_cadence())
    assert line in headway("why", "a", language=language).out
