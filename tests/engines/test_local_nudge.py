"""A nudge reaches the agent, and harms nobody who does not know it."""

import asyncio
import time
from pathlib import Path

import pytest

from headway.engines.protocol import Capability, Nudges, Sight
from tests.engines.contract import Plan
from tests.engines.machine import LocalSubject

pytestmark = pytest.mark.live
LISTENS = ("sh", "-c", 'cd "$2"; trap "touch nudged" URG; touch ready; while :; do sleep 0.02; done', "agent")
KNOWS_NOTHING = ("sh", "-c", 'cd "$2"; touch ready; exec sleep 600', "agent")


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not come"
        time.sleep(0.02)


def test_a_nudge_reaches_the_agent(local: LocalSubject) -> None:
    subject = LocalSubject(local.folder, LISTENS)
    order = subject.order(Plan.RUNS)
    handle = subject.launch(order)
    place = subject.place(order.attempt)
    wait_for(place.path / "ready")
    asyncio.run(subject.engine.nudge(handle))
    wait_for(place.path / "nudged")
    assert Capability.NUDGES in subject.engine.can
    assert isinstance(subject.engine, Nudges)


def test_an_agent_that_does_not_know_nudges_yet_lives_on(local: LocalSubject) -> None:
    subject = LocalSubject(local.folder, KNOWS_NOTHING)
    order = subject.order(Plan.RUNS)
    handle = subject.launch(order)
    wait_for(subject.place(order.attempt).path / "ready")
    asyncio.run(subject.engine.nudge(handle))
    assert subject.sights(handle) == [Sight.RUNNING]
    agent = subject.place(order.attempt).agent()
    assert agent is not None
    assert agent.is_alive
