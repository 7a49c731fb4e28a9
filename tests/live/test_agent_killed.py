"""kill -9 of an agent: what it ran is stopped, the attempt ends as lost, and the job goes on by itself."""

import os
import signal
from contextlib import suppress

import pytest

from tests.live.jobs import GANG, Work
from tests.live.platform import Platform, Process, find_process, wait_for, wait_until
from tests.live.seeds import exhaustive

pytestmark = pytest.mark.live
SOME_STEPS = 45
PIPE_BYTES = 1 << 20
LOST_NODE = "n2"


@pytest.fixture
def work(platform: Platform) -> Work:
    """A gang on two nodes, each rank with a child that has left its session, that has saved already."""
    work = Work(platform, "ticking", resources=GANG, env={"LIVE_CHILD": "1"}).submit()
    work.wait_for_step(SOME_STEPS)
    return work


def test_the_ranks_of_a_killed_agent_are_stopped_and_the_job_resumes(platform: Platform, work: Work) -> None:
    left = _everybody(platform, work)
    platform.agent(f"{work.id}.1", LOST_NODE).kill()
    _check_that_it_goes_on(work, left)


def test_an_agent_killed_while_the_server_is_down_is_found_by_the_next_server(platform: Platform, work: Work) -> None:
    left = _everybody(platform, work)
    agent = platform.agent(f"{work.id}.1", LOST_NODE)
    platform.kill()
    agent.kill()
    platform.start()
    _check_that_it_goes_on(work, left)


def _everybody(platform: Platform, work: Work) -> list[Process]:
    """Every rank and every child of the first attempt."""
    ranks = [rank for node in ("n1", "n2") for rank in platform.ranks(f"{work.id}.1", node)]
    found = [find_process(int(pid)) for rank in (0, 1) for pid in work.lines("children", rank)]
    children = [child for child in found if child is not None]
    assert (len(ranks), len(children)) == (2, 2)
    return [*ranks, *children]


def _check_that_it_goes_on(work: Work, left: list[Process]) -> None:
    wait_until(lambda: not [one for one in left if one.is_alive], "nothing of the lost attempt runs", work.story)
    work.wait_for_step(SOME_STEPS, attempt=2)
    _check_verdict(work)
    _check_resume(work)
    _check_logs(work)
    work.finish()
    assert work.end() == "succeeded", work.story()
    assert [len(work.lines("starts", rank, attempt)) for attempt in (1, 2) for rank in (0, 1)] == [1, 1, 1, 1]


def _check_verdict(work: Work) -> None:
    lost = work.api.attempts(work.id)[0]
    assert lost["attempt"]["outcome"] == "lost", work.story()
    assert (lost["verdict"]["fault"], lost["verdict"]["node"]) == ("agent-lost", LOST_NODE), work.story()
    said = [fact["data"]["node"] for fact in work.api.facts(work.id, "agent-lost")]
    assert said == [LOST_NODE], work.story()


def _check_resume(work: Work) -> None:
    """From the newest checkpoint, by both ranks."""
    newest = int(work.lines("saves")[-1])
    decided = work.api.facts(work.id, "recovery-decided")[0]["data"]
    assert (decided["resume"], decided["resume_step"]) == (True, newest), work.story()
    wait_until(lambda: len(work.api.facts(work.id, "restored")) == 4, "both ranks restored", work.story)
    steps = [fact["data"]["step"] for fact in work.api.facts(work.id, "restored")]
    assert sorted(steps) == [0, 0, newest, newest]


def _check_logs(work: Work) -> None:
    """All of the other node's rank; of the lost node's what its agent had taken out of the pipe."""
    wait_until(lambda: work.api.log(work.id, 0) == work.mirror(0), "the whole log of rank 0", work.story)
    stored, written = work.api.log(work.id, 1), work.mirror(1)
    assert written.startswith(stored)
    assert len(stored) > 0
    assert len(written) - len(stored) <= PIPE_BYTES


@exhaustive
def test_an_agent_killed_before_its_ranks_ran_loses_nothing(platform: Platform) -> None:
    work = Work(platform, "ticking", resources=GANG).submit()
    path = platform.node_directory(f"{work.id}.1", LOST_NODE) / "launch.json"
    launched: str = wait_for(lambda: path.read_text() if path.exists() else None, "an agent is started", work.story)
    pid = int(launched.partition('"pid":')[2].partition(",")[0].rstrip("}"))
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: any(work.lines("steps", 0, attempt) for attempt in (1, 2)), "it runs", work.story)
    work.finish()
    assert work.end() == "succeeded", work.story()
    tries = work.api.job(work.id)["job"]["attempts"]
    for attempt in range(1, tries + 1):
        assert all(len(work.lines("starts", rank, attempt)) <= 1 for rank in (0, 1))
