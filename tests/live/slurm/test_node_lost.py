"""A node goes away under a gang: the verdict names it, the job goes on elsewhere, and what lived on writes nothing."""

import json
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.live.jobs import Work
from tests.live.platform import wait_until
from tests.live.seeds import exhaustive
from tests.live.slurm.books import check_books
from tests.live.slurm.site import Site

pytestmark = [pytest.mark.live, pytest.mark.timeout(240)]
SOME_STEPS = 25


def placed(work: Work, attempt: int) -> list[str]:
    return [
        part["node"]
        for one in work.api.attempts(work.id)
        if one["attempt"]["number"] == attempt
        for part in one["attempt"]["placements"]
    ]


def verdict(work: Work) -> dict[str, Any]:
    (found,) = [one["verdict"] for one in work.api.attempts(work.id) if one["verdict"] is not None]
    told: dict[str, Any] = found
    return told


def moments(work: Work, cut: datetime) -> Iterator[str]:
    """Seconds from the cut to each phase of the recovery."""
    for kind in ("agent-lost", "attempt-ended", "verdict-reached", "recovery-decided"):
        yield f"{kind} {_after(cut, work.api.facts(work.id, kind)[0]['at']):.1f}"
    for kind in ("attempt-placed", "attempt-launched", "attempt-started"):
        yield f"{kind} {_after(cut, work.api.facts(work.id, kind)[1]['at']):.1f}"


def _after(cut: datetime, at: str) -> float:
    return (datetime.fromisoformat(at) - cut).total_seconds()


# Slurm's own time-outs.
@pytest.mark.slow
def test_a_power_cut_is_a_node_down_and_the_job_resumes_without_the_node(site: Site) -> None:
    since = datetime.now().astimezone()
    work = site.work("ticking", nodes=2).submit()
    work.wait_for_step(SOME_STEPS)
    lost = placed(work, 1)[1]
    cut = datetime.now().astimezone()
    site.testbed.tool("kill", lost)
    work.wait_for_step(SOME_STEPS, attempt=2)
    print("seconds after the cut:", ", ".join(moments(work, cut)))
    found = verdict(work)
    assert (found["fault"], found["node"], found["owner"]) == ("node-down", lost, "operator"), work.story()
    assert lost not in placed(work, 2)
    (decided,) = work.api.facts(work.id, "recovery-decided")
    assert decided["data"]["resume_step"] >= 20
    wait_until(lambda: site.node(lost)["node"]["state"] == "down", "the node to be shown as down", work.story)
    work.finish()
    assert work.end() == "succeeded", work.story()
    check_books(site, [work], since)


# A minute without the node, and Slurm's own time-outs.
@exhaustive
@pytest.mark.slow
def test_a_node_cut_for_a_minute_and_healed_doubles_nothing_and_fails_nobody(site: Site) -> None:
    since = datetime.now().astimezone()
    gang, alone = site.work("ticking", nodes=2).submit(), site.work("ticking").submit()
    for work in (gang, alone):
        work.wait_for_step(SOME_STEPS)
    lost = placed(gang, 1)[0]
    site.testbed.tool("cut", lost)
    time.sleep(60)
    site.testbed.tool("heal", lost)
    wait_until(lambda: site.node(lost)["node"]["state"] == "up", "the node to be back", site.platform.log_tail)
    for work in (gang, alone):
        work.wait_for_step(3 * SOME_STEPS)
        work.finish()
        assert work.end() == "succeeded", work.story()
        assert len(work.api.attempts(work.id)) == 1 + (lost in placed(work, 1)), work.story()
    check_books(site, [gang, alone], since)


# Slurm's own time-outs.
@exhaustive
@pytest.mark.slow
def test_ranks_that_live_on_behind_a_cut_cable_can_save_nothing_more(site: Site) -> None:
    work = site.work("ticking", nodes=2).submit()
    work.wait_for_step(SOME_STEPS)
    lost = placed(work, 1)[0]
    site.testbed.tool("cut", lost)
    work.wait_for_step(3 * SOME_STEPS, attempt=2)
    folder = Path(site.platform.home, "checkpoints", work.id)
    assert json.loads((folder / "lease.json").read_text())["attempt_number"] == 2

    wait_until(lambda: b"attempt 1 may not save" in work.mirror(0), "the old attempt to be refused", work.story)
    site.testbed.tool("heal", lost)
    work.finish()
    assert work.end() == "succeeded", work.story()
    (decided,) = work.api.facts(work.id, "recovery-decided")
    resumed = decided["data"]["resume_step"]
    kept = [json.loads((path / "manifest.json").read_text()) for path in folder.glob("step-*")]
    assert {one["attempt_number"] for one in kept if one["step"] > resumed} == {2}
    assert verdict(work)["fault"] == "node-down"
