"""What is seen of agents that never come up, die, or cannot deliver; and that nobody else is ever touched."""

import asyncio
import os
import shlex
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from headway.domain.errors import PlatformError
from headway.engines.local.process import Process, find, marked, start
from headway.engines.local.watch import DELIVERIES
from headway.engines.protocol import Sight
from tests.engines.contract import Plan
from tests.engines.machine import LocalSubject

pytestmark = pytest.mark.live


def test_an_agent_that_never_comes_up_is_absent_after_a_while_with_its_last_words(local: LocalSubject) -> None:
    broken = LocalSubject(local.folder, ("sh", "-c", "echo no module named json >&2; exit 1", "agent"))
    order = broken.order(Plan.SUCCEEDS)
    handle = broken.launch(order)
    assert broken.sights(handle) == [Sight.RUNNING]
    out = broken.place(order.attempt).path / "agent.out"
    broken.until(lambda: b"json" in out.read_bytes() and not broken.place(order.attempt).launched(), "the agent to end")
    assert broken.sights(handle) == [Sight.RUNNING], "another agent may be coming up unseen"
    broken.clock.advance(60)
    assert [(seen.sight, seen.detail) for seen in broken.observe(handle)] == [(Sight.ABSENT, "no module named json")]
    assert local.launch(order) == handle
    local.until_seen(Sight.ENDED, handle)


def test_a_run_directory_that_is_not_there_makes_everything_unknown(local: LocalSubject) -> None:
    order, handle = local.launch_running(Plan.RUNS, nodes=2)
    away = local.folder / "away"
    local.settings.run_dir.rename(away)
    assert local.sights(handle) == [Sight.UNKNOWN, Sight.UNKNOWN]
    for verb in (lambda: local.launch(order), lambda: local.stop(handle)):
        with pytest.raises(PlatformError, match="is not there") as fault:
            verb()
        assert fault.value.code == "engine-unreachable"
    away.rename(local.settings.run_dir)
    assert local.sights(handle) == [Sight.RUNNING, Sight.RUNNING]
    assert local.starts(order.attempt) == 2


def test_an_agent_that_cannot_deliver_is_started_again_so_often_and_no_more(local: LocalSubject) -> None:
    order, handle = local.launch_running(Plan.RUNS)
    broken = LocalSubject(local.folder, ("false",))
    broken.clock = local.clock
    broken.reopen()
    local.kill_agents(order.attempt)
    place = local.place(order.attempt)

    def is_closed() -> bool:
        broken.observe(handle)
        broken.clock.advance(60)
        return place.has("closed.json")

    broken.until(is_closed, "the engine to give up")
    assert place.read("launch.json")["starts"] == 1 + DELIVERIES
    assert broken.sights(handle) == [Sight.AGENT_LOST]


def test_a_pid_given_to_somebody_else_is_neither_alive_nor_killed(local: LocalSubject) -> None:
    stranger = subprocess.Popen(["sleep", "600"])
    try:
        real = find(stranger.pid)
        assert real
        ghost = Process(real.pid, real.start_ticks - 1)
        assert not ghost.is_alive
        assert not ghost.send(signal.SIGKILL)
        order, handle = local.launch_running(Plan.RUNS)
        local.kill_agents(order.attempt)
        ranks = local.place(order.attempt)
        ranks.write("launch.json", {"at": 1.0, "starts": 1, "pid": ghost.pid, "start_ticks": ghost.start_ticks})
        (ranks.path / "agent.lock").write_text(f'{{"pid": {ghost.pid}, "start_ticks": {ghost.start_ticks}}}')
        local.stop(handle, grace_s=0)
        local.until_seen(Sight.AGENT_LOST, handle)
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_sweeping_one_attempt_leaves_its_neighbours_alone(local: LocalSubject) -> None:
    order, handle = local.launch_running(Plan.STRAYS)
    neighbour, other = local.launch_running(Plan.STRAYS)
    before = {process.pid for process in local.alive(neighbour.attempt)}
    local.kill_agents(order.attempt)
    local.until_seen(Sight.AGENT_LOST, handle)
    assert {process.pid for process in local.alive(neighbour.attempt)} == before
    assert local.sights(other) == [Sight.RUNNING]


def test_one_node_lost_says_nothing_of_the_other(local: LocalSubject) -> None:
    order, handle = local.launch_running(Plan.RUNS, nodes=2)
    agent = local.place(order.attempt, "n2").agent()
    assert agent
    agent.send(signal.SIGKILL)
    local.until(lambda: local.sights(handle) == [Sight.RUNNING, Sight.AGENT_LOST], "the second agent to be lost")
    assert len(local.alive(order.attempt)) == 1


@pytest.mark.parametrize("with_groups", [True, False])
def test_what_a_rank_left_behind_is_killed_after_its_own_good_end(tmp_path: Path, with_groups: bool) -> None:
    subject = LocalSubject(tmp_path / "own", grouped=with_groups)
    order = subject.order(Plan.RUNS)
    marker = shlex.quote(str(subject.folder / f"starts-{order.attempt}"))
    order = replace(order, command=("sh", "-c", f"setsid sleep 600 & echo start >> {marker}"))
    try:
        handle = subject.launch(order)
        subject.until_seen(Sight.ENDED, handle)
        subject.until(lambda: bool(subject.sights(handle)) and not subject.alive(order.attempt), "nothing to be left")
        assert subject.starts(order.attempt) == 1
    finally:
        subject.close()


def test_nobody_leaves_the_group_by_a_clean_environment(local: LocalSubject) -> None:
    order = local.order(Plan.RUNS)
    marker, pid_file = local.folder / f"starts-{order.attempt}", local.folder / "pid"
    hidden = f"env -i setsid sh -c {shlex.quote(f'echo $$ > {pid_file}; echo start >> {marker}; exec sleep 600')} &"
    order = replace(order, command=("sh", "-c", f"{hidden} exec sleep 600"))
    handle = local.launch(order)
    if not local.place(order.attempt).groups:
        pytest.skip("no cgroup can be written here")
    local.until(lambda: local.starts(order.attempt) == 1, "the hidden process to start")
    hidden_process = find(int(pid_file.read_text()))
    assert hidden_process
    assert hidden_process in local.alive(order.attempt)
    local.kill_agents(order.attempt)
    local.until_seen(Sight.AGENT_LOST, handle)
    assert not hidden_process.is_alive


def test_groups_are_gone_after_the_end(local: LocalSubject) -> None:
    order, handle = local.launch_running(Plan.RUNS)
    groups = local.place(order.attempt).groups
    if not groups:
        pytest.skip("no cgroup can be written here")
    assert all(Path(group).is_dir() for group in groups)
    local.stop(handle)
    local.until(lambda: bool(local.sights(handle)) and not any(map(os.path.exists, groups)), "the groups to go")
    assert not any(Path(group).parent.exists() for group in groups)
    assert local.sights(handle) == [Sight.ENDED]


def test_the_agents_own_words_can_be_read(local: LocalSubject) -> None:
    order, handle = local.launch_running(Plan.RUNS)
    place = local.place(order.attempt)
    (place.path / "agent.out").write_bytes(b"o" * 100_000)
    (place.path / "agent.log").write_bytes(b"log")

    async def read() -> bytes:
        return b"".join([piece async for piece in local.engine.logs(handle, "n1")])

    assert asyncio.run(read()) == b"o" * 100_000 + b"log"


def test_a_process_in_the_middle_of_exec_is_not_overlooked(tmp_path: Path) -> None:
    mark = {"HEADWAY_ATTEMPT": "j-exec.1", "HEADWAY_NODE": "n1"}
    again = tmp_path / "again"
    again.write_text('#!/bin/sh\n[ "$1" -gt 0 ] && exec "$0" $(($1 - 1))\nexec sleep 600\n')
    again.chmod(0o755)
    process = start([str(again), "300"], {"PATH": os.environ["PATH"], **mark}, tmp_path / "out")
    assert process
    try:
        overlooked = 0
        while Path(f"/proc/{process.pid}/comm").read_text() != "sleep\n":
            overlooked += process not in marked("j-exec.1", "n1")
        assert overlooked == 0
    finally:
        process.send(signal.SIGKILL)
