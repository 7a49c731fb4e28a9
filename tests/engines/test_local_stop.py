"""Stops: never begun, never listening, and asked for twice."""

import signal
import subprocess
import sys
from datetime import timedelta

import pytest

from headway.engines.local.sweep import left
from headway.engines.protocol import Sight
from tests.engines.contract import Plan
from tests.engines.machine import STAND_IN, LocalSubject

pytestmark = pytest.mark.live
SLOW_AGENT = ("sh", "-c", "exec sleep 600", "agent")


def test_an_attempt_stopped_before_it_began_never_begins(local: LocalSubject) -> None:
    slow = LocalSubject(local.folder, SLOW_AGENT)
    order = slow.order(Plan.RUNS)
    handle = slow.launch(order)
    assert slow.sights(handle) == [Sight.RUNNING]
    slow.stop(handle)
    assert [(seen.sight, seen.detail) for seen in slow.observe(handle)] == [(Sight.ENDED, "withdrawn")]
    assert not left(order.attempt, "n1", slow.place(order.attempt).groups)
    local.launch(order)
    place = local.place(order.attempt)
    subprocess.run([sys.executable, STAND_IN, "run", place.path], check=True, timeout=60)
    assert local.sights(handle) == [Sight.ENDED]
    assert local.starts(order.attempt) == 0


def test_a_withdrawal_cut_off_in_the_middle_is_finished(local: LocalSubject) -> None:
    slow = LocalSubject(local.folder, SLOW_AGENT)
    order = slow.order(Plan.RUNS)
    handle = slow.launch(order)
    place = slow.place(order.attempt)
    place.write("stop.json", {"at": 1.0, "deadline": 2.0})
    place.write("begun", "withdrawn")
    assert [(seen.sight, seen.detail) for seen in slow.observe(handle)] == [(Sight.ENDED, "withdrawn")]
    assert local.starts(order.attempt) == 0


def test_an_agent_that_hangs_loses_its_ranks_first_and_may_still_tell_their_end(local: LocalSubject) -> None:
    order, handle = local.launch_running(Plan.RUNS)
    agent = local.place(order.attempt).agent()
    assert agent
    agent.send(signal.SIGSTOP)
    local.stop(handle, grace_s=1)
    assert local.alive(order.attempt), "the grace has not passed"
    local.clock.advance(1 + 6)
    assert local.sights(handle) == [Sight.RUNNING]
    assert not local.alive(order.attempt)
    assert agent.is_alive
    agent.send(signal.SIGCONT)
    local.until_seen(Sight.ENDED, handle)
    assert local.place(order.attempt).read("final.json")["exits"] == [{"rank": 0, "code": -signal.SIGKILL}]


def test_an_agent_that_hangs_for_good_is_killed_last_and_counts_as_lost(local: LocalSubject) -> None:
    order, handle = local.launch_running(Plan.STRAYS)
    agent = local.place(order.attempt).agent()
    assert agent
    agent.send(signal.SIGSTOP)
    local.stop(handle, grace_s=1)
    local.clock.advance(1 + 11)
    local.until_seen(Sight.AGENT_LOST, handle)
    assert not local.alive(order.attempt)


def test_a_restart_of_the_server_keeps_the_deadline_and_needs_no_handle(local: LocalSubject) -> None:
    order, handle = local.launch_running(Plan.RUNS)
    agent = local.place(order.attempt).agent()
    assert agent
    agent.send(signal.SIGSTOP)
    local.stop(handle, grace_s=1)
    local.reopen()
    local.clock.advance(1 + 6)
    assert local.observe() == []
    assert not local.alive(order.attempt)


def test_asked_twice_the_earlier_deadline_holds(local: LocalSubject) -> None:
    order, handle = local.launch_running(Plan.IGNORES_SIGTERM)
    place = local.place(order.attempt)
    local.stop(handle, grace_s=500)
    late = place.read("stop.json")["deadline"]
    local.stop(handle, grace_s=900)
    assert place.read("stop.json")["deadline"] == late
    local.stop(handle, grace_s=20)
    assert place.read("stop.json")["deadline"] < late - timedelta(seconds=400).total_seconds()


def test_a_stop_while_the_agent_is_taking_the_lock_reaches_it_later(local: LocalSubject) -> None:
    slow = LocalSubject(local.folder, SLOW_AGENT)
    order = slow.order(Plan.RUNS)
    handle = slow.launch(order)
    place = slow.place(order.attempt)
    with place.lock() as mine:
        assert mine
        slow.stop(handle)
        assert slow.sights(handle) == [Sight.RUNNING]
    assert slow.sights(handle) == [Sight.ENDED]
