"""Stories of broken attempts: what is decided, what is resumed from where, and what it cost."""

import shutil
from datetime import timedelta
from pathlib import Path

from headway.diagnosis.verdict import Fault, Owner
from headway.domain.events import CheckpointRejected
from headway.domain.recovery_events import RecoveryDecided
from tests.scenarios.world import START, World


def test_node_lost_on_day_three(either_world: World) -> None:
    world = either_world
    train = world.submit("train", nodes=2)
    world.settle()
    train.starts()
    world.later(days=2, hours=23)
    path = train.saves(2000)
    world.later(hours=1)
    train.reaches(2040)
    world.later(minutes=5)

    lost_at = world.now
    train.loses_its_agents()
    world.settle()
    assert train.state == "running"
    world.later(seconds=10)

    assert train.attempts[0].outcome == "lost"
    assert train.attempts[0].ended_at == lost_at + timedelta(seconds=10)
    decided = train.facts("recovery-decided")[-1]
    assert isinstance(decided, RecoveryDecided)
    assert (decided.resume, decided.resume_from, decided.resume_step) == (True, path, 2000)
    again = train.attempts[1]
    assert (again.placements, again.resume_from, again.resume_step) == (train.attempts[0].placements, path, 2000)
    with world.platform.database.read():
        order = world.machines.parts[again.id].order
    assert (order.resume_from, order.number) == (path, 2)

    world.later(minutes=1)
    train.starts().reaches(2010)
    world.later(minutes=10)
    train.reaches(2050)
    (bill,) = train.bills
    since_saved, outage = timedelta(hours=1, minutes=5), timedelta(minutes=1, seconds=10)
    assert (bill.last_step, bill.resumed_step, bill.lost_steps) == (2040, 2000, 40)
    assert (bill.fault_at, bill.detected_at) == (lost_at, lost_at + timedelta(seconds=10))
    assert bill.kill_to_first_step_s == outage.total_seconds()
    assert bill.device_seconds_lost == 16 * int((since_saved + outage).total_seconds())
    assert bill.passed_fault_step_at == world.now
    (recovery,) = train.recoveries
    assert (recovery.phases.detect, recovery.phases.start, recovery.phases.first_step) == (10, 60, 0)
    assert recovery.passing == "passed"

    train.finishes()
    world.settle()
    held = world.now - START
    assert (train.state, world.statement().device_seconds) == ("succeeded", 16 * int(held.total_seconds()))


def test_a_checkpoint_that_rotted_is_passed_over(world: World) -> None:
    train = world.submit("train")
    world.settle()
    train.starts()
    good = train.saves(10)
    world.later(minutes=1)
    rotten = train.saves(20)
    train.reaches(25)
    world.settle()
    assert [c.state for c in train.checkpoints] == ["verified", "verified"]
    state = next(Path(rotten).glob("state.*"))
    state.write_bytes(b"\0" + state.read_bytes()[1:])
    train.breaks(signal=9)
    world.settle()
    assert train.attempt.resume_from == good
    (rejected,) = train.facts("checkpoint-rejected")
    assert isinstance(rejected, CheckpointRejected)
    assert (rejected.path, rejected.reason) == (rotten, "wrong-hash")


def test_with_no_checkpoint_left_it_starts_from_step_zero(world: World) -> None:
    train = world.submit("train")
    world.settle()
    train.starts()
    shutil.rmtree(train.saves(10))
    train.reaches(12)
    train.breaks(signal=9)
    world.settle()
    assert (train.attempt.number, train.attempt.resume_from, train.attempt.resume_step) == (2, None, 0)
    assert train.bills[0].lost_steps == 12


def test_three_tries_without_progress_end_it(world: World) -> None:
    train = world.submit("train")
    world.settle()
    train.starts()
    train.saves(10)
    train.reaches(15)
    for number in range(1, 5):
        assert (train.attempt.number, train.state) == (number, "running" if number == 1 else "starting")
        world.later(minutes=1)
        train.starts().breaks(signal=9)
        world.settle()
    assert (train.state, train.job.failures, len(train.attempts)) == ("failed", 3, 4)
    assert [each.passing for each in train.recoveries] == ["broke-before"] * 3
    assert train.job.reason == "no-progress"


def test_progress_gives_new_tries(world: World) -> None:
    train = world.submit("train")
    world.settle()
    for number in range(1, 8):
        assert (train.attempt.number, train.attempt.resume_step) == (number, (number - 1) * 10)
        train.starts().reaches(number * 10 + 1)
        train.saves(number * 10)
        world.later(minutes=1)
        train.breaks(signal=9)
        world.settle()
    assert (train.state, train.job.failures) == ("starting", 1)
    assert [bill.lost_steps for bill in train.bills] == [1] * 7


def test_another_interval_is_compared_by_the_pace_and_the_saves_that_were_seen(world: World) -> None:
    train = world.submit("train", devices=2)
    world.settle()
    train.starts()
    for step in range(1, 26):
        world.later(seconds=2)
        train.reaches(step)
        if step % 10 == 0:
            train.saves(step)
    train.breaks(signal=9)
    world.settle()
    (recovery,) = train.recoveries
    assert (recovery.bill.lost_steps, recovery.passing) == (5, "watched")
    summed = train.losses
    assert (summed.every_steps, summed.save_s, summed.unfinished) == (10, 0.5, 1)
    costs = {cost.every_steps: (cost.lost_steps, cost.saves, cost.device_seconds) for cost in summed.intervals}
    assert costs == {
        2: (1, 12, 1 * 2 * 2 + 12 * 0.5 * 2),
        5: (0, 5, 0 + 5 * 0.5 * 2),
        10: (5, 2, 5 * 2 * 2 + 2 * 0.5 * 2),
        20: (5, 1, 5 * 2 * 2 + 1 * 0.5 * 2),
        40: (25, 0, 25 * 2 * 2),
    }


def test_a_save_in_the_background_costs_only_what_training_waited_for_it(world: World) -> None:
    train = world.submit("train")
    world.settle()
    train.starts()
    path = train.saves(10)
    assert train.losses.save_s == 0.5
    train.agents[0].tells(0, "checkpoint-saved", step=10, path=path, bytes=1, seconds=9.0, blocked=0.25)
    assert train.losses.save_s == 0.25


def test_code_error_is_not_retried(world: World) -> None:
    train = world.submit("train")
    world.settle()
    train.starts()
    trace = 'Traceback (most recent call last):\n  File "/home/ann/train.py", line 12, in <module>\n    step()\n'
    train.agents[0].prints(0, trace + "ValueError: batch size 0\n")
    world.later(minutes=1)
    train.breaks(code=1)
    world.settle()
    assert (train.state, len(train.attempts), train.bills) == ("failed", 1, [])
    assert train.verdict is not None
    assert (train.verdict.fault, train.verdict.owner) == (Fault.CODE_ERROR, Owner.RESEARCHER)
    assert train.verdict.location == "/home/ann/train.py:12"


def test_a_verdict_waits_for_the_last_words(world: World) -> None:
    train = world.submit("train")
    world.settle()
    train.starts()
    agent = train.agents[0]
    agent.exits_with(0, code=1)
    words = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\nKeyError: 1\n'
    agent.ends(logs={0: len(words)})
    world.later(seconds=29)
    assert (train.state, train.verdict) == ("recovering", None)
    agent.prints(0, words)
    world.settle()
    assert train.state == "failed"
    assert train.verdict is not None
    assert train.verdict.fault == Fault.CODE_ERROR


def test_words_that_never_come_are_waited_for_half_a_minute(world: World) -> None:
    train = world.submit("train")
    world.settle()
    train.starts()
    train.agents[0].exits_with(0, code=1)
    train.agents[0].ends(logs={0: 1000})
    world.later(seconds=30)
    assert train.verdict is None
    world.later(seconds=1)
    assert train.verdict is not None
    assert train.state != "recovering"


def test_a_damaged_log_does_not_keep_its_verdict_from_being_reached(world: World) -> None:
    train = world.submit("train")
    world.settle()
    train.starts()
    train.agents[0].prints(0, "step 1\n")
    train.agents[0].prints(
        0, 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\nKeyError: 1\n'
    )
    (file,) = (world.platform.home / "logs" / train.attempt.id / "0").iterdir()
    content = bytearray(file.read_bytes())
    content[content.index(b"step 1\n")] ^= 0xFF
    file.write_bytes(content)
    train.breaks(code=1)
    world.settle()
    assert train.verdict is not None
    assert train.verdict.fault == Fault.CODE_ERROR


def test_a_drill_uses_up_no_try(world: World) -> None:
    from headway.server.operations.jobs.drill import Order, drill

    train = world.submit("train", nodes=2)
    world.settle()
    train.starts().reaches(5)
    with world.platform.database.write() as c:
        name = drill(c, train.job, Order(rank=1), at=world.now, by="ann").id
    assert train.agents[0].reports().kill == []
    (order,) = train.agents[1].reports().kill
    assert (order.drill, order.rank, order.signal) == (name, 1, 9)
    train.agents[1].reports(drills_done=[name])
    assert train.agents[1].reports().kill == []
    world.later(seconds=1)
    train.breaks(rank=1, signal=9, signal_name="SIGKILL")
    world.settle()
    assert (train.state, train.job.failures, train.attempt.number) == ("starting", 0, 2)


def test_the_outage_of_a_second_failure_is_counted_once(world: World) -> None:
    train = world.submit("train", devices=1)
    world.settle()
    train.starts()
    train.saves(10)
    world.later(seconds=100)
    train.reaches(15)
    train.breaks(signal=9)
    world.later(seconds=50)
    train.starts().breaks(signal=9)
    world.later(seconds=30)
    train.starts().reaches(11)
    world.later(seconds=5)
    train.reaches(16)
    first, second = train.bills
    assert (first.lost_steps, second.lost_steps) == (5, 0)
    assert first.kill_to_first_step_s == 80
    assert first.device_seconds_lost + second.device_seconds_lost == 180
