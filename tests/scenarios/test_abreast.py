"""Stories of several broken jobs at once: what is wrong or slow with one is nothing to the others."""

from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from headway.sdk.job import checkpoint as on_disk
from headway.server.loops import abreast, diagnose, retain
from tests.scenarios.work import Work
from tests.scenarios.world import World

LONGEST_S = 60.0


def test_a_verdict_that_cannot_be_reached_holds_up_no_other(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    poisoned, healthy = _running(world), _running(world)
    poisoned.breaks(signal=9)
    healthy.breaks(signal=9)
    monkeypatch.setattr(diagnose, "gather", _failing_for(poisoned, diagnose.gather, lambda _p, job, _a: job.id))
    world.settle()
    assert (poisoned.state, healthy.state) == ("recovering", "starting")
    monkeypatch.undo()
    world.later(seconds=10)
    assert poisoned.state == "starting"


def test_a_recovery_that_fails_holds_up_no_other(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    poisoned, healthy = _running(world), _running(world)
    poisoned.breaks(signal=9)
    healthy.breaks(signal=9)
    newest = on_disk.newest_verified
    monkeypatch.setattr(on_disk, "newest_verified", _failing_for(poisoned, newest, lambda path: path.name))
    world.settle()
    assert (poisoned.state, healthy.state) == ("recovering", "starting")
    monkeypatch.undo()
    world.later(seconds=10)
    assert poisoned.state == "starting"


def test_a_checkpoint_that_cannot_be_looked_at_holds_up_no_other(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    poisoned, healthy = _running(world), _running(world)
    poisoned.saves(1)
    healthy.saves(1)
    monkeypatch.setattr(retain, "verify", _failing_for(poisoned, retain.verify, lambda path: Path(path).parent.name))
    world.settle()
    assert (poisoned.checkpoints[0].state, healthy.checkpoints[0].state) == ("saved", "verified")


def test_a_recovery_that_takes_long_holds_up_no_later_one(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    slow, quick = _running(world), _running(world)
    newest, done = on_disk.newest_verified, Event()

    def hashing(path: Path) -> Any:
        if path.name == slow.id:
            done.wait(LONGEST_S)
        return newest(path)

    monkeypatch.setattr(on_disk, "newest_verified", hashing)
    monkeypatch.setattr(abreast, "PATIENCE_S", 0.5)
    try:
        slow.breaks(signal=9)
        world.settle()
        quick.breaks(signal=9)
        world.settle()
        assert (slow.state, quick.state) == ("recovering", "starting")
    finally:
        done.set()
    for _ in range(100):
        world.settle()
        if slow.state == "starting":
            break
    assert (slow.state, len(slow.facts("recovery-decided"))) == ("starting", 1)


def _running(world: World) -> Work:
    job = world.submit(devices=1)
    world.settle()
    return job.starts()


def _failing_for(work: Work, really: Callable[..., Any], name: Callable[..., str]) -> Callable[..., Any]:
    """A function that fails where it is asked about one job."""

    def failing(*given: Any) -> Any:
        if name(*given) == work.id:
            raise ValueError("poison")
        return really(*given)

    return failing
