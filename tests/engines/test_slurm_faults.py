"""What breaks under running attempts on a real Slurm: controller, munge, accounting, nodes, cables, the engine itself.

Nothing is lost, nothing starts twice, and nothing that cannot be seen is called dead.
"""

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from headway.domain.errors import PlatformError
from headway.domain.resources import NodeState
from headway.engines.protocol import Cause, Handle, Sight
from headway.engines.slurm.place import Place
from headway.engines.slurm.record import Records
from tests.engines.contract import Plan
from tests.engines.recorder import Recorder
from tests.engines.slurm_site import SlurmSubject
from tests.live.seeds import exhaustive

pytestmark = pytest.mark.live


def jobs_named(subject: SlurmSubject, attempt: str) -> list[str]:
    return subject.testbed.run("squeue", "-h", "-t", "all", "-n", attempt, "-o", "%i").split()


def causes(subject: SlurmSubject, handle: Handle) -> list[Cause | None]:
    return [seen.cause for seen in subject.observe(handle)]


def test_a_server_killed_between_submit_and_record_does_not_submit_again(slurm: SlurmSubject) -> None:
    order, handle = slurm.launch_running(Plan.RUNS)
    records = Records(slurm.settings.records)
    record = records.read(order.attempt)
    assert record
    records.write(replace(record, job=None))
    slurm.reopen()
    assert slurm.launch(order) == handle
    again = records.read(order.attempt)
    assert again == record
    assert len(jobs_named(slurm, order.attempt)) == slurm.starts(order.attempt) == 1


def test_a_server_killed_before_submit_submits_when_asked_again_or_when_it_looks(slurm: SlurmSubject) -> None:
    records = Records(slurm.settings.records)
    orders = asked, seen = [slurm.order(Plan.RUNS) for _ in range(2)]
    path = slurm.settings.path
    slurm.change(path=str(without_sbatch(slurm.folder / "bin")))
    for order in orders:
        with pytest.raises(PlatformError, match="sbatch") as fault:
            asyncio.run(slurm.engine.launch(order))
        assert fault.value.code == "engine-unreachable"
    slurm.change(path=path)
    slurm.launch(asked)
    record = records.read(seen.attempt)
    assert record
    handle = record.handle("slurm")
    slurm.until(lambda: slurm.sights(handle) == [Sight.RUNNING] and slurm.starts(seen.attempt) == 1, "a new submission")
    slurm.until(lambda: slurm.starts(asked.attempt) == 1, "the other to start")
    assert [len(jobs_named(slurm, order.attempt)) for order in orders] == [1, 1]


def without_sbatch(folder: Path) -> Path:
    """A search path with Slurm's commands but one."""
    folder.mkdir()
    for name in ("squeue", "scontrol", "sacct"):
        (folder / name).symlink_to(shutil.which(name) or name)
    return folder


# Slurm's commands try for long to reach munge.
@exhaustive
@pytest.mark.slow
def test_munge_stopped_makes_everything_unknown_and_nothing_dead(slurm: SlurmSubject) -> None:
    order, handle = slurm.launch_running(Plan.RUNS, nodes=2)
    with slurm.testbed.without("munged"):
        slurm.until_seen(Sight.UNKNOWN, handle)
    slurm.until_seen(Sight.RUNNING, handle)
    assert slurm.starts(order.attempt) == 2


def test_a_controller_killed_and_restarted_changes_nothing_for_those_that_run(slurm: SlurmSubject) -> None:
    order, handle = slurm.launch_running(Plan.RUNS, nodes=2)
    slurm.testbed.save()
    slurm.testbed.tool("kill", "slurmctld")
    slurm.until_seen(Sight.UNKNOWN, handle)
    slurm.testbed.tool("up", "slurmctld")
    slurm.until_seen(Sight.RUNNING, handle)
    assert (len(slurm.alive(order.attempt)), slurm.starts(order.attempt)) == (2, 2)


@pytest.mark.parametrize("begun", [pytest.param(False, marks=exhaustive), True])
def test_a_controller_that_forgot_a_fresh_job_starts_it_once_or_loses_it_seen(slurm: SlurmSubject, begun: bool) -> None:
    with slurm.testbed.forgetting():
        order, handle = slurm.launch_running(Plan.RUNS) if begun else (slurm.order(Plan.RUNS), None)
        handle = handle or slurm.launch(order)
    stranger = slurm.launch(slurm.order(Plan.RUNS))

    def is_settled() -> bool:
        (seen,) = slurm.observe(handle)
        runs = (
            seen.sight is Sight.RUNNING and bool(slurm.alive(order.attempt)) and bool(jobs_named(slurm, order.attempt))
        )
        return runs or (seen.sight is Sight.AGENT_LOST and not slurm.alive(order.attempt))

    slurm.until(is_settled, "the attempt to run in a job, or to be lost")
    assert slurm.starts(order.attempt) == 1
    slurm.until_seen(Sight.RUNNING, stranger)


def test_accounting_away_hinders_neither_start_nor_end(slurm: SlurmSubject) -> None:
    with slurm.testbed.without("slurmdbd"):
        order, handle = slurm.launch_running(Plan.SUCCEEDS)
        slurm.until_seen(Sight.ENDED, handle)
    assert slurm.starts(order.attempt) == 1


# Slurm's own time-outs; `tests/live/slurm` tells the same story of a whole platform in every run.
@exhaustive
@pytest.mark.slow
def test_a_power_cut_is_a_node_that_failed_and_its_last_words_are_delivered(
    slurm: SlurmSubject, recorder: Recorder
) -> None:
    order, handle = slurm.launch_running(Plan.RUNS, nodes=2)
    slurm.testbed.tool("kill", slurm.nodes[1])
    slurm.until(lambda: slurm.sights(handle)[1] is Sight.AGENT_LOST, "the second node's part to be lost")
    assert causes(slurm, handle)[1] is Cause.NODE_FAIL
    slurm.until(lambda: slurm.sights(handle)[0] in (Sight.ENDED, Sight.AGENT_LOST), "the first to end with it")
    nodes = {node.name: node for node in asyncio.run(slurm.engine.inventory()).nodes}
    assert nodes[slurm.nodes[1]].state is NodeState.DOWN

    def told() -> bool:
        slurm.observe(handle)
        return any(
            report["ended"] and report["ended"]["reason"] == "agent-lost" for report in recorder.reports[order.attempt]
        )  # type: ignore[index]

    slurm.until(told, "the lost agent's end to be delivered")
    assert slurm.launch(order) == handle
    assert slurm.starts(order.attempt) == 2


# Slurm's own time-outs, twice.
@exhaustive
@pytest.mark.slow
def test_a_node_cut_off_is_lost_though_its_rank_lives_on_until_it_is_back(slurm: SlurmSubject) -> None:
    order, handle = slurm.launch_running(Plan.RUNS, nodes=2)
    slurm.testbed.tool("cut", slurm.nodes[1])
    slurm.until(lambda: slurm.sights(handle)[1] is Sight.AGENT_LOST, "the second node's part to be lost")
    assert causes(slurm, handle)[1] is Cause.NODE_FAIL
    assert slurm.alive(order.attempt), "split brain is real: leases keep it from writing"
    slurm.testbed.tool("heal", slurm.nodes[1])
    slurm.until(lambda: not slurm.alive(order.attempt), "Slurm to end what lived on")
    assert slurm.sights(handle)[1] is Sight.AGENT_LOST


def test_a_node_drained_in_mid_job_goes_on_to_its_end(slurm: SlurmSubject) -> None:
    order, handle = slurm.launch_running(Plan.RUNS)
    slurm.testbed.run("scontrol", "update", f"nodename={slurm.nodes[0]}", "state=drain", "reason=to be moved")
    slurm.reopen()
    nodes = {node.name: node for node in asyncio.run(slurm.engine.inventory()).nodes}
    assert (nodes[slurm.nodes[0]].state, nodes[slurm.nodes[0]].reason) == (NodeState.CORDONED, "to be moved")
    assert slurm.sights(handle) == [Sight.RUNNING]
    slurm.stop(handle)
    slurm.until_seen(Sight.ENDED, handle)
    assert slurm.starts(order.attempt) == 1


def test_a_rank_killed_for_want_of_memory_is_told_by_its_agent_and_by_slurm(slurm: SlurmSubject) -> None:
    slurm.change(memory_per_device=100)
    eats = "x = bytearray(1 << 30)\nfor i in range(0, len(x), 4096): x[i] = 1"
    order = replace(slurm.order(Plan.RUNS), command=("python3", "-c", eats))
    handle = slurm.launch(order)
    slurm.until(lambda: causes(slurm, handle) == [Cause.OUT_OF_MEMORY], "Slurm's word")
    assert slurm.sights(handle) == [Sight.ENDED]
    (exit,) = Place(slurm.settings.share, order.attempt, slurm.nodes[0]).final()["exits"]
    assert (exit["signal"], exit["oom_kill"]) == (9, True)


def test_a_job_the_site_cancels_has_ended_and_was_not_lost(slurm: SlurmSubject) -> None:
    order, handle = slurm.launch_running(Plan.RUNS)
    slurm.testbed.run("scancel", *jobs_named(slurm, order.attempt))
    slurm.until_seen(Sight.ENDED, handle)
    slurm.until(lambda: not slurm.alive(order.attempt), "everything to be gone")
