"""Submitting: what is sent for a file, for options and for both; what follows a watched job."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli import canned
from tests.cli.conftest import Headway
from tests.sdk.stub import BROKEN, Stub

FILE = """
name = "first"
project = "nlp"
template = "tiny-gpt"
source = "code"
parameters = {steps = 100, lr = 0.1}
resources = {nodes = 2}
"""


@pytest.fixture
def sent(stub: Stub) -> Any:
    """The body of the newest submission."""
    stub.on("POST", "/jobs", canned.a_job())
    return lambda: next(asked.body for asked in reversed(stub.asked) if asked.path == "/jobs")


def test_only_the_id_goes_to_stdout(headway: Headway, sent: Any) -> None:
    ran = headway("submit", "--name", "a", "--project", "nlp", "--template", "t")
    assert (ran.code, ran.out) == (0, "j-8a0\n")
    assert "submitted sft-07 as j-8a0" in ran.err


def test_options_go_before_the_file(headway: Headway, sent: Any, tmp_path: Path) -> None:
    path = tmp_path / "job.toml"
    path.write_text(FILE)
    words = ("--name", "second", "--set", "lr=2e-4", "--set", "devices_per_node=4", "--nodes", "3", "--env", "A=b=c")
    assert headway("submit", str(path), *words, "--limit", "2h", "--priority", "low").code == 0
    assert sent() == {
        "name": "second",
        "project": "nlp",
        "template": "tiny-gpt",
        "source": str(tmp_path / "code"),
        "parameters": {"steps": 100, "lr": "2e-4"},
        "resources": {"nodes": 3, "devices_per_node": 4},
        "env": {"A": "b=c"},
        "limit_s": 7200.0,
        "priority": "low",
    }


@pytest.mark.parametrize(
    ("typed", "interval"),
    [("500", {"every_steps": 500}), ("20m", {"every_minutes": 20.0}), ("advised", {"advised": True})],
)
def test_an_interval_between_checkpoints_goes_before_that_of_the_file_and_leaves_the_rest(
    headway: Headway, sent: Any, tmp_path: Path, typed: str, interval: dict[str, Any]
) -> None:
    path = tmp_path / "job.toml"
    path.write_text(FILE + "checkpoint = {every_minutes = 60, keep = 3}\n")
    assert headway("submit", str(path), "--checkpoint-every", typed).code == 0
    assert sent()["checkpoint"] == {"keep": 3, **interval}


@pytest.mark.parametrize(("language", "words"), [("en", "neither a number of steps"), ("zh", "不是步数")])
def test_an_interval_that_is_none_is_refused_in_words(headway: Headway, sent: Any, language: str, words: str) -> None:
    ran = headway("submit", "--template", "t", "--checkpoint-every", "often", language=language)
    assert ran.code == 2
    assert words in ran.err
    assert "often" in ran.err


def test_a_key_the_server_does_not_know_is_sent_so_that_it_is_refused(
    headway: Headway, sent: Any, tmp_path: Path
) -> None:
    path = tmp_path / "job.toml"
    path.write_text('name = "a"\nresorces = {}\n')
    headway("submit", str(path))
    assert sent()["resorces"] == {}


def test_the_commit_of_the_source_is_recorded_and_marked_where_files_differ(
    headway: Headway, sent: Any, tmp_path: Path
) -> None:
    def git(*words: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        return subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    (tmp_path / "train.py").write_text("1")
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "one")
    commit = git("rev-parse", "HEAD").strip()
    headway("submit", "--name", "a", "--source", str(tmp_path))
    assert sent()["commit"] == commit
    (tmp_path / "train.py").write_text("2")
    headway("submit", "--name", "a", "--source", str(tmp_path))
    assert sent()["commit"] == f"{commit}-dirty"


def test_a_dry_run_says_where_it_would_stand_and_queues_nothing(stub: Stub, headway: Headway) -> None:
    stub.on("POST", "/jobs/dry-run", canned.an_outlook())
    ran = headway("submit", "--name", "a", "--dry-run", "--json=spec.name,device_hours.by")
    assert ran.out == '{\n  "spec.name": "sft-07",\n  "device_hours.by": "history"\n}\n'
    ran = headway("submit", "--name", "a", "--dry-run")
    assert ran.out.splitlines() == [
        "position 3 of 7 in the queue: it wants 32 H800 devices on 4 nodes at once; 24 are free in the pool",
        "expected start: 2026-12-01 14:20:00 +08:00 – 2026-12-01 15:05:00 +08:00 (as of 12-01 14:20)",
        "nlp would hold 40 of its own 8 × H800 (now 8); 32 of them borrowed; more than the 24 it may hold, so it would"
        " wait",
        "device-hours: 64.0 as half of such jobs, 128.0 as nine of ten, at most —",
    ]
    assert "nothing was created" in ran.err
    assert {asked.path for asked in stub.asked} == {"/jobs/dry-run"}


def test_a_dry_run_of_an_array_tells_of_the_first_and_the_last(stub: Stub, headway: Headway) -> None:
    first = canned.an_outlook(starts_on="H800", waits=None)
    told = {"jobs": 4, "first": first, "last": canned.an_outlook(), "quota": []}
    stub.on("POST", "/jobs/arrays/dry-run", told)
    ran = headway("submit", "--name", "a", "--count", "4", "--dry-run")
    lines = ran.out.splitlines()
    assert lines[0] == "an array of 4 jobs"
    assert lines[1] == "first: starts at once on 32 × H800"
    assert lines[2].startswith("last: position 3 of 7")
    assert "nlp has no quota" in lines[4]
    assert {asked.path for asked in stub.asked} == {"/jobs/arrays/dry-run"}


@pytest.mark.parametrize(("state", "code"), [("succeeded", 0), ("failed", 7), ("stopped", 7)])
def test_a_watched_job_is_followed_to_its_end(stub: Stub, headway: Headway, sent: Any, state: str, code: int) -> None:
    ended = canned.a_view(canned.a_job(state=state))
    stub.on("GET", "/jobs/j-8a0", canned.waiting(), canned.a_view(), ended)
    ran = headway("submit", "--name", "a", "--watch")
    assert ran.code == code
    assert ran.out == "j-8a0\n"
    lines = ran.err.splitlines()
    assert lines[1:] == [
        "sft-07: queued",
        "position 3: it wants 32 H800 devices on 4 nodes at once; 24 are free in the pool",
        "sft-07: running",
        "step 120/200 · 3.20 steps/s · loss 0.693 · 1h 05m left",
        f"sft-07: {state}",
    ]


def test_a_watch_that_runs_out_of_time_ends_with_8(stub: Stub, headway: Headway, sent: Any) -> None:
    stub.on("GET", "/jobs/j-8a0", canned.a_view())
    ran = headway("submit", "--name", "a", "--watch", "--timeout", "0.1s")
    assert ran.code == 8
    assert "j-8a0 is not there yet and goes on" in ran.err


def test_a_watch_outlives_a_server_that_restarts(stub: Stub, headway: Headway, sent: Any) -> None:
    ended = canned.a_view(canned.a_job(state="succeeded"))
    stub.on("GET", "/jobs/j-8a0", canned.a_view(), *[BROKEN] * 8, ended)
    ran = headway("submit", "--name", "a", "--watch")
    assert ran.code == 0
    assert "does not answer; trying again" in ran.err


def test_an_interrupted_watch_says_that_the_job_goes_on(
    stub: Stub, headway: Headway, sent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    stub.on("GET", "/jobs/j-8a0", canned.a_view())
    monkeypatch.setattr("headway.cli.follow.time.sleep", interrupt)
    ran = headway("submit", "--name", "a", "--watch")
    assert ran.code == 130
    assert "no longer watching; j-8a0 goes on" in ran.err
