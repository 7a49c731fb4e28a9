"""Stories of what an engine does and does not see: unknown is not dead, refused is not lost."""

from datetime import timedelta

from headway.diagnosis.verdict import Fault
from headway.domain.ids import attempt_id
from headway.engines.fake.world import Life
from tests.scenarios.world import World

MINUTE = timedelta(minutes=1)


def test_engine_unreachable_is_not_lost(world: World) -> None:
    job = world.submit()
    world.settle()
    job.starts()
    world.machines.cut_off(timedelta(0), lasting=timedelta(hours=6))
    for _ in range(6):
        world.later(minutes=30)
    assert job.state == "running"
    job.agents[0].reports()
    world.later(hours=4)
    job.finishes()
    world.settle()
    assert job.state == "succeeded"


def test_an_agent_that_dies_behind_a_cut_off_engine_is_lost_once_that_is_seen(world: World) -> None:
    job = world.submit()
    world.settle()
    job.starts()
    world.machines.cut_off(timedelta(0), lasting=timedelta(hours=1))
    job.loses_its_agents()
    world.later(minutes=59)
    assert job.state == "running"
    world.later(minutes=1)
    assert job.state == "running"
    world.later(seconds=10)
    assert job.attempts[0].outcome == "lost"


def test_a_launch_waits_for_an_engine_that_cannot_be_reached(world: World) -> None:
    world.machines.cut_off(timedelta(0), lasting=timedelta(minutes=5))
    job = world.submit()
    world.settle()
    assert (job.state, job.attempt.state) == ("starting", "placed")
    world.later(minutes=5)
    assert (job.state, job.attempt.state) == ("starting", "launched")
    assert len(job.facts("attempt-launched")) == 1


def test_a_stop_waits_for_an_engine_that_cannot_be_reached(world: World) -> None:
    job = world.submit()
    world.settle()
    job.starts()
    world.machines.cut_off(timedelta(0), lasting=timedelta(minutes=5))
    job.stop()
    world.settle()
    assert job.state == "stopping"
    world.later(minutes=5)
    assert world.machines.parts[job.attempt.id].stopped_at == world.now


def test_launch_refused(world: World) -> None:
    job = world.submit()
    for number in (1, 2, 3, 4):
        world.machines.write(attempt_id(job.id, number), Life(refuses="no cgroup left"))
    world.settle()
    assert (job.state, job.job.reason, len(job.attempts)) == ("failed", "no-progress", 4)
    assert job.verdict is not None
    assert job.verdict.fault == Fault.LAUNCH_FAILED
    assert "no cgroup left" in (job.verdict.detail or "")
    assert len(job.facts("launch-failed")) == 4
    assert world.statement().device_seconds == 0


def test_a_refused_launch_is_tried_again(world: World) -> None:
    job = world.submit()
    world.machines.write(attempt_id(job.id, 1), Life(refuses="the node is full"))
    world.settle()
    assert (job.state, job.attempt.number, job.attempt.state) == ("starting", 2, "launched")
    job.starts().finishes()
    world.settle()
    assert job.state == "succeeded"


def test_a_launch_that_cannot_be_prepared_is_refused_and_says_why(world: World) -> None:
    job = world.submit(devices=8)
    other = world.submit(devices=8)
    folder = world.platform.checkpoints / job.id
    folder.write_text("in the way")  # where the job's checkpoint folder goes
    world.settle()
    assert (job.state, job.job.reason, other.state) == ("failed", "no-progress", "starting")
    assert job.verdict is not None
    assert job.verdict.fault == Fault.LAUNCH_FAILED
    assert "FileExistsError" in (job.verdict.detail or "")
    assert [attempt.state for attempt in job.attempts] == ["ended"] * 4


def test_an_order_that_no_agent_can_carry_out_is_a_failed_launch_not_a_lost_agent(world: World) -> None:
    job = world.submit(nodes=2)
    world.machines.write(attempt_id(job.id, 1), Life(cannot_start="order.json: no field ranks"))
    world.settle()
    world.later(seconds=9)
    assert (job.attempt.number, job.verdict) == (1, None)
    world.later(seconds=1)
    assert job.verdict is not None
    assert (job.verdict.fault, job.verdict.detail) == (Fault.LAUNCH_FAILED, "order.json: no field ranks")
    assert (job.attempts[0].outcome, job.facts("agent-lost")) == ("failed", [])
    assert job.attempt.number == 2


def test_an_agent_that_never_begins_is_lost(world: World) -> None:
    job = world.submit()
    world.machines.write(attempt_id(job.id, 1), Life(never_begins=True))
    world.settle()
    world.later(seconds=29)
    assert job.attempt.number == 1
    world.later(seconds=1)
    assert job.attempts[0].outcome == "lost"
    assert job.attempt.number == 2


def test_an_agent_thought_lost_that_comes_back_is_told_to_stop(world: World) -> None:
    job = world.submit()
    world.machines.write(attempt_id(job.id, 1), Life(never_begins=True))
    world.settle()
    late = job.agents[0]
    world.later(seconds=30)
    assert job.attempt.number == 2
    stop = late.starts().stop
    assert stop is not None
    assert stop.reason == "over"
    assert job.attempts[0].state == "ended"
    assert late.obeys("over").over


def test_an_end_whose_word_never_comes_is_a_loss(world: World) -> None:
    job = world.submit()
    world.settle()
    job.starts()
    world.machines.write(job.attempt.id, Life(runs_for=timedelta(0)))
    world.settle()
    world.later(seconds=59)
    assert job.attempt.number == 1
    world.later(seconds=1)
    assert job.attempts[0].outcome == "lost"


def test_a_gang_that_lost_a_node_and_does_not_obey_is_ended_by_the_engine(world: World) -> None:
    job = world.submit(nodes=2)
    world.settle()
    job.starts()
    job.agents[0].ends("agent-lost")
    world.later(seconds=14)
    assert world.machines.parts[job.attempt.id].stopped_at is None
    world.later(seconds=2)
    assert world.machines.parts[job.attempt.id].stopped_at == world.now


def test_a_restart_of_the_server_changes_nothing(either_world: World) -> None:
    world = either_world
    running, waiting = world.submit("running", nodes=2), world.submit("waiting", nodes=2)
    world.settle()
    running.starts().reaches(7)
    world.restart()
    world.later(minutes=1)
    assert (running.state, waiting.state, running.job.step) == ("running", "queued", 7)
    running.finishes()
    world.restart()
    world.settle()
    assert (running.state, waiting.state) == ("succeeded", "starting")
    assert len(running.facts("attempt-ended")) == 1
    assert world.statement().device_seconds == 16 * 60
