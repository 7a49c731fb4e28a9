"""Drills with real torch ranks under a real server: what is broken comes back, and the score says how."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.server import Server, server, wait_for

from benchmarks import training
from tests.live.seeds import exhaustive

pytest.importorskip("torch")
pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]
FOR_EVER = 1_000_000
AFTER_THE_FIRST_SAVE = 25
PATIENCE_S = 150.0
RECOVERY = {"retries": 0, "grace_s": 2, "stall_after_s": 5}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Two nodes of two slots; the tiny GPT, which may not fail even once: a drill uses up no try."""
    with server("n1:2,n2:2", 4) as house:
        training.register(house, training.prepare_data(tmp_path_factory.mktemp("data")), recovery=RECOVERY)
        yield house


@pytest.fixture
def job(here: Server) -> Iterator[str]:
    started = training.submit(here, FOR_EVER)
    yield started
    here.client.stop(started)
    wait_for(lambda: here.client.job(started)["job"]["ended_at"], "the end of the job", every_s=0.2)


def held(here: Server, name: str) -> dict[str, Any]:
    """A drill once it is scored."""

    def look() -> dict[str, Any] | None:
        return next((row for row in here.client.drills() if row["drill"]["id"] == name and row["score"]), None)

    return wait_for(look, f"the score of {name}: {here.client.drills()}", every_s=0.5, deadline_s=PATIENCE_S)


def check(here: Server, row: dict[str, Any]) -> None:
    """It came back from a checkpoint and passed the fault; the verdict was right; phases add up to the outage."""
    score = row["score"]
    assert (score["result"], score["passed"], score["verdict_right"]) == ("recovered", True, True), row
    assert score["kept"] is (True if row["drill"]["kill"] == "mount" else None)
    assert score["resumed_step"] >= training.CHECKPOINT_EVERY
    assert score["lost_steps"] >= 0
    assert abs(sum(score["phases"].values()) - score["seconds"]) < 0.01
    assert {"detect", "stop", "decide", "start", "load", "first_step"} <= set(score["phases"])
    assert here.client.job(row["drill"]["job"])["job"]["failures"] == 0


@pytest.mark.parametrize(
    "kill", ["agent", *(pytest.param(kill, marks=exhaustive) for kill in ("rank", "node", "mount", "stop"))]
)
def test_what_a_drill_breaks_at_a_step_comes_back_and_is_scored(here: Server, job: str, kill: str) -> None:
    wait_for(lambda: here.client.checkpoints(job) or None, "a checkpoint", every_s=0.1)
    step = max(AFTER_THE_FIRST_SAVE, here.client.job(job)["job"]["step"] + 5)
    saves_alone = 0  # where only one rank saves, storage can fail no other
    ordered = here.client.drill(job, saves_alone if kill == "mount" else 1, kill=kill, at_step=step)
    row = held(here, ordered["drill"])
    assert row["drill"]["kill"] == kill
    check(here, row)
    broken = here.client.attempts(job)[0]
    assert broken["attempt"]["step"] >= step
    assert (broken["verdict"]["drill"], broken["verdict"]["owner"]) == (True, "nobody")


def test_a_copy_is_broken_and_the_job_is_not_touched(here: Server, job: str) -> None:
    wait_for(lambda: here.client.checkpoints(job) or None, "a checkpoint", every_s=0.2)
    before = here.client.attempts(job)
    folder = here.home / "checkpoints" / job
    ordered = here.client.drill(job, kill="rank", shadow=True)
    assert ordered["shadow_of"] == job
    row = held(here, ordered["drill"])
    check(here, row)
    copy = ordered["job"]
    wait_for(lambda: here.client.job(copy)["job"]["ended_at"], "the end of the copy", every_s=0.2)
    assert here.client.job(copy)["job"]["state"] == "stopped"
    after = here.client.attempts(job)
    assert [each["attempt"]["id"] for each in after] == [each["attempt"]["id"] for each in before]
    assert here.client.job(job)["job"]["state"] == "running"
    assert copy not in (folder / "lease.json").read_text()
    assert Path(folder).is_dir()
