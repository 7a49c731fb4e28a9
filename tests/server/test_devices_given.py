"""Devices that a batch system gives and takes: when they are free again, and that what was taken has failed nobody."""

from datetime import timedelta

import pytest

from headway.domain.attempt import RankExit
from headway.domain.ids import AttemptId
from headway.server.operations.jobs.settle import freed_at, was_taken
from headway.store.agents import NodeReport
from tests.builders import NOW

GIVEN = {"taken_at": 1796087970.0}


def a_part(ended_s: float, heard_s: float, reason: str = "exited", **more: object) -> NodeReport:
    """A node's part that ended, and was last heard of, so many seconds before now."""
    ended_at, last_at = NOW - timedelta(seconds=ended_s), NOW - timedelta(seconds=heard_s)
    values = {"facts": GIVEN, **more}
    return NodeReport(AttemptId("j-1.1"), "n1", "ended", 1, NOW, last_at, ended_at, reason, **values)  # type: ignore[arg-type]


def an_exit(**more: object) -> RankExit:
    values = {"code": 0, "signal": None, "signal_name": None, "core": False, "oom_kill": False, "stopped_by_us": False}
    return RankExit(rank=0, node="n1", at=NOW, **{**values, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("parts", "before_s"),
    [
        ([a_part(60, 0)], 0),
        ([a_part(60, 5), a_part(60, 7)], 5),
        ([a_part(60, 0, facts=GIVEN | {"left_at": (NOW - timedelta(seconds=58)).timestamp()})], 58),
        ([a_part(30, 90, reason="agent-lost")], 30),
        ([a_part(60, 5, facts={})], 0),
    ],
)
def test_devices_are_free_when_the_last_agent_went_not_when_that_was_heard(
    parts: list[NodeReport], before_s: float
) -> None:
    assert freed_at(parts, NOW) == NOW - timedelta(seconds=before_s)


@pytest.mark.parametrize(
    ("part", "exit", "taken"),
    [
        (a_part(1, 0, "stopped", detail="engine"), an_exit(stopped_by_us=True), True),
        (a_part(1, 0, "stopped", detail="engine"), an_exit(code=None, signal=15), True),
        (a_part(1, 0, "stopped", detail="engine"), an_exit(code=1), False),
        (a_part(1, 0, "stopped", detail="user"), an_exit(), False),
        (a_part(1, 0, "stopped", detail="engine", facts={}), an_exit(), False),
        (a_part(1, 0, "agent-lost", cause="preempted"), an_exit(code=None), True),
        (a_part(1, 0, "agent-lost", cause="node-fail"), an_exit(code=None), False),
    ],
)
def test_what_a_batch_system_ended_unasked_was_taken(part: NodeReport, exit: RankExit, taken: bool) -> None:
    assert was_taken([part], [exit]) is taken
