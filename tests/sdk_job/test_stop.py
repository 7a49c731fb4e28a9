"""Hearing that the program should save and leave."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headway.sdk.job import stop as stop_module
from headway.sdk.job.run import Run
from headway.sdk.job.stop import Stop
from tests.sdk_job.conftest import MakeRun, told


def order(rank_dir: Path, content: object) -> None:
    """Replace control.json as the agent does."""
    building = rank_dir / ".control"
    building.write_text(json.dumps(content), encoding="utf-8")
    os.replace(building, rank_dir / "control.json")


def heard(run: Run) -> Stop:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if stop := run.should_stop():
            return stop
    raise AssertionError("no stop was heard within 60 s")


@pytest.fixture(autouse=True)
def _own_sigterm() -> object:
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def test_nothing_is_asked_at_first(make_run: MakeRun, rank_dir: Path) -> None:
    assert not make_run().should_stop()
    assert told(rank_dir) == []


def test_a_stop_carries_its_reason_and_deadline(make_run: MakeRun, rank_dir: Path) -> None:
    run = make_run()
    assert run.should_stop() is None
    order(rank_dir, {"stop": True, "reason": "preempted", "deadline": 1796087980.5})
    assert heard(run) == Stop("preempted", datetime(2026, 12, 1, 1, 19, 40, 500000, tzinfo=UTC))


def test_a_stop_is_told_once_with_the_step_and_stays(make_run: MakeRun, rank_dir: Path) -> None:
    run = make_run()
    run.progress(12, 100)
    order(rank_dir, {"stop": True, "reason": "user"})
    stop = heard(run)
    (rank_dir / "control.json").unlink()
    assert run.should_stop() is stop
    assert [event["step"] for event in told(rank_dir, "stopping")] == [12]


@pytest.mark.parametrize("content", [{"stop": False}, {}, [], "stop", {"stop": 1}])
def test_what_is_no_stop_is_none(make_run: MakeRun, rank_dir: Path, content: object) -> None:
    order(rank_dir, content)
    assert make_run().should_stop() is None


def test_a_file_that_is_no_json_is_none_until_it_is_replaced(make_run: MakeRun, rank_dir: Path) -> None:
    (rank_dir / "control.json").write_text("{", encoding="utf-8")
    run = make_run()
    assert run.should_stop() is None
    order(rank_dir, {"stop": True, "reason": "user", "deadline": "soon"})
    assert heard(run) == Stop("user", None)


def test_asking_looks_at_the_file_at_most_every_tenth_of_a_second(
    make_run: MakeRun, rank_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run()
    clock = [100.0]
    looks: list[object] = []
    stat = os.stat
    monkeypatch.setattr(stop_module.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(stop_module.os, "stat", lambda path, **options: looks.append(path) or stat(path, **options))
    for _ in range(1000):
        clock[0] += 0.001
        run.should_stop()
    monkeypatch.undo()
    assert 9 <= len(looks) <= 11


def test_time_left_never_goes_below_nothing() -> None:
    assert Stop("user", datetime.now(UTC) - timedelta(seconds=5)).time_left() == timedelta(0)
    assert Stop("user").time_left() is None
    left = Stop("user", datetime.now(UTC) + timedelta(seconds=50)).time_left()
    assert left is not None
    assert timedelta(seconds=40) < left <= timedelta(seconds=50)


PROGRAM = """
import sys, headway
run = headway.attach()
if "ask" in sys.argv:
    run.should_stop()
print("ready", flush=True)
while not (stop := run.should_stop() if "ask" in sys.argv else None):
    pass
print(stop.reason, flush=True)
"""


def stopped_program(*arguments: str) -> tuple[int, str]:
    """Start a program, send it SIGTERM when it is ready, and give its exit code and last line."""
    program = subprocess.Popen([sys.executable, "-c", PROGRAM, *arguments], stdout=subprocess.PIPE, text=True)
    try:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        program.send_signal(signal.SIGTERM)
        said, _ = program.communicate(timeout=60)
    finally:
        program.kill()
        program.wait()
    return program.returncode, said.strip()


def test_sigterm_is_a_request_to_a_program_that_asks() -> None:
    assert stopped_program("ask") == (0, "signal")


def test_sigterm_still_ends_a_program_that_never_asks() -> None:
    assert stopped_program() == (-signal.SIGTERM, "")


def test_a_handler_of_the_programs_own_stays(make_run: MakeRun) -> None:
    def own(number: int, frame: object) -> None: ...

    signal.signal(signal.SIGTERM, own)
    make_run().should_stop()
    assert signal.getsignal(signal.SIGTERM) is own
