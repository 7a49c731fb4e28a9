"""What a rank says: whole lines, one write each, and never a word that stops the training."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.sdk.job import run as run_module
from headway.sdk.job.events import MAX_LINE, EventLog, encode_line, numbers
from headway.sdk.job.run import Run, attach
from tests.sdk_job.conftest import MakeRun, told


def test_progress_is_one_line_with_step_total_and_metrics(make_run: MakeRun, rank_dir: Path) -> None:
    make_run().progress(40, 200, loss=1.5, tokens=3)
    (event,) = told(rank_dir)
    assert event.pop("t") > 1.7e9
    assert event == {"kind": "progress", "step": 40, "total": 200, "metrics": {"loss": 1.5, "tokens": 3}}


def test_a_total_that_is_not_known_is_null(make_run: MakeRun, rank_dir: Path) -> None:
    make_run().progress(1)
    assert told(rank_dir)[0]["total"] is None


@given(st.dictionaries(st.text(max_size=40), st.floats() | st.integers() | st.text() | st.none(), max_size=400))
def test_a_line_is_json_of_at_most_4096_bytes_whatever_the_metrics(metrics: dict[str, object]) -> None:
    line = encode_line({"t": 1.0, "kind": "progress", "step": 1, "total": None, "metrics": numbers(metrics)})
    assert len(line) <= MAX_LINE
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line, parse_constant=lambda name: pytest.fail(name))["step"] == 1


def test_a_text_too_long_for_a_line_is_cut(tmp_path: Path) -> None:
    EventLog(tmp_path / "events.jsonl").write("phase", name="x" * 10_000)
    (event,) = told(tmp_path)
    assert event["name"] == "x" * 500


def test_numbers_that_json_lacks_keep_their_names() -> None:
    found = numbers({"a": math.nan, "b": math.inf, "c": -math.inf, "d": True, "e": "text", "f": None})
    assert found == {"a": "NaN", "b": "Infinity", "c": "-Infinity", "d": 1.0}


def test_a_value_like_a_tensor_counts_as_a_number() -> None:
    class Scalar:
        def __float__(self) -> float:
            return 2.5

    assert numbers({"loss": Scalar()}) == {"loss": 2.5}


def test_a_folder_that_is_gone_costs_one_line_on_stderr_and_no_error(
    make_run: MakeRun, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run = make_run(HEADWAY_RANK_DIR=str(tmp_path / "gone" / "rank-0"))
    for step in range(3):
        run.progress(step)
    with run.phase("train"):
        assert run.should_stop() is None
    assert capfd.readouterr().err.count("\n") == 1


def test_a_full_disk_costs_one_line_on_stderr_and_no_error(capfd: pytest.CaptureFixture[str]) -> None:
    log = EventLog(Path("/dev/full"))
    log.write("progress", step=1)
    log.write("progress", step=2)
    assert capfd.readouterr().err.count("No space left") == 1


def test_a_line_cut_by_a_full_disk_spoils_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = EventLog(tmp_path / "events.jsonl")
    write: Callable[[int, bytes], int] = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda fd, line: write(fd, line[:10]))
        log.write("progress", step=1)
    log.write("progress", step=2)
    torn, whole = (tmp_path / "events.jsonl").read_bytes().splitlines()
    assert len(torn) == 10
    assert json.loads(whole)["step"] == 2


def test_a_phase_ends_with_the_one_before(make_run: MakeRun, rank_dir: Path) -> None:
    run = make_run()
    run.phase("train")
    with run.phase("evaluate"), run.phase("save"):
        pass
    assert [event["name"] for event in told(rank_dir)] == ["train", "evaluate", "save", "evaluate", "train"]


def test_attaching_says_who_is_there_once(rank_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "_attached", None)
    for name, value in {"HEADWAY_ATTEMPT": "j-1.1", "HEADWAY_RANK_DIR": str(rank_dir), "RANK": "0"}.items():
        monkeypatch.setenv(name, value)
    assert attach() is attach()
    (event,) = told(rank_dir)
    assert (event["kind"], event["pid"]) == ("attached", os.getpid())
    assert {"sdk", "python"} < set(event)


def test_two_processes_appending_to_one_file_mix_no_lines(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from headway.sdk.job.events import EventLog\n"
        "log = EventLog(pathlib.Path(sys.argv[1]))\n"
        "for step in range(2000): log.write('progress', step=step, who=sys.argv[2], text=sys.argv[2] * 300)\n"
    )
    path = tmp_path / "events.jsonl"
    writers = [subprocess.Popen([sys.executable, "-c", code, str(path), who]) for who in "ab"]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    events = told(tmp_path)
    for who in "ab":
        assert [event["step"] for event in events if event["who"] == who] == list(range(2000))


def test_offline_a_person_reads_the_same_on_stderr(make_run: MakeRun, capfd: pytest.CaptureFixture[str]) -> None:
    run: Run = make_run(HEADWAY_ATTEMPT=None)
    run.progress(3, 10, loss=0.25)
    assert capfd.readouterr().err == "[headway] step 3/10 loss=0.25\n"
    assert (run.job, run.attempt) == ("j-test", "offline")


def test_offline_several_ranks_say_which_they_are(make_run: MakeRun, capfd: pytest.CaptureFixture[str]) -> None:
    make_run(HEADWAY_ATTEMPT=None, RANK="1", WORLD_SIZE="2").progress(3)
    assert capfd.readouterr().err == "[headway rank 1] step 3\n"
