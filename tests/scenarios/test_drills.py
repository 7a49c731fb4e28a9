"""Stories of drills: what is broken when, how it is scored, what a copy leaves alone, who is reminded."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from headway.domain.alert import AlertRule
from headway.domain.drill import Drill, Kill, Result
from headway.domain.errors import PlatformError
from headway.domain.resources import NodeState
from headway.server.operations.alerts.gauges import measure
from headway.server.operations.jobs.drill import Order, begin_shadow, drill, shadow
from headway.server.operations.jobs.drill_reminders import overdue
from headway.store import drills, nodes
from tests.scenarios.work import Work
from tests.scenarios.world import World

FAILED_SAVE = """Traceback (most recent call last):
  File "/home/ann/train.py", line 30, in <module>
    checkpoints.save(step)
OSError: [Errno 5] not saved: the storage under /c fails; earlier checkpoints stay [Input/output error]
"""


def ordered(world: World, work: Work, **order: object) -> Drill:
    with world.platform.database.write() as c:
        return drill(c, work.job, Order(**order), at=world.now, by="ann")  # type: ignore[arg-type]


def held(world: World, work: Work) -> Drill:
    with world.platform.database.read() as c:
        (found,) = drills.of_job(c, work.id)
    return found


def trained(world: World) -> Work:
    """On two nodes at step 25, saved at step 20."""
    train = world.submit("train", nodes=2)
    world.settle()
    train.starts()
    train.saves(20)
    train.reaches(25)
    world.settle()
    return train


def test_a_killed_rank_is_struck_at_its_step_and_scored_once_the_fault_is_passed(world: World) -> None:
    train = trained(world)
    name = ordered(world, train, rank=1, at_step=30).id
    assert train.agents[1].reports().kill == []
    train.reaches(30)
    (order,) = train.agents[1].reports().kill
    assert (order.drill, order.rank, order.signal, order.what) == (name, 1, 9, "rank")
    train.agents[1].reports(drills_done=[name])
    world.later(seconds=1)
    train.breaks(rank=1, signal=9, signal_name="SIGKILL")
    world.settle()
    assert held(world, train).score is None
    world.later(seconds=7)
    train.starts().reaches(21)
    world.settle()
    assert held(world, train).score is None
    train.reaches(31)
    world.settle()
    score = held(world, train).score
    assert score is not None
    assert (score.result, score.passed, score.detected, score.verdict_right) == (Result.RECOVERED, True, True, True)
    assert (score.resumed_step, score.lost_steps, score.seconds) == (20, 10, 7)
    assert sum(score.phases.values()) == 7
    assert train.job.failures == 0
    assert len(train.facts("drill-scored")) == 1


def test_a_killed_agent_is_told_once_and_its_verdict_is_the_drills(world: World) -> None:
    train = trained(world)
    ordered(world, train, kill=Kill.AGENT, rank=1)
    (order,) = train.agents[1].reports().kill
    assert order.what == "agent"
    assert train.agents[1].reports().kill == []
    train.loses_its_agents()
    world.settle()
    world.later(seconds=10)
    assert train.verdict is not None
    assert (train.verdict.fault, train.verdict.drill, train.verdict.owner) == ("agent-lost", True, "nobody")
    assert train.job.failures == 0
    train.starts().reaches(26)
    world.settle()
    score = held(world, train).score
    assert score is not None
    assert (score.result, score.lost_steps) == (Result.RECOVERED, 5)


def test_a_drill_whose_step_never_came_is_missed_and_blames_nothing(world: World) -> None:
    train = trained(world)
    ordered(world, train, rank=1, at_step=1000)
    train.breaks(rank=0, signal=11, signal_name="SIGSEGV")
    world.settle()
    assert train.verdict is not None
    assert not train.verdict.drill
    score = held(world, train).score
    assert score is not None
    assert score.result == Result.MISSED


def test_a_copy_is_broken_from_the_newest_checkpoint_and_the_job_goes_on_untouched(world: World) -> None:
    train = world.submit("train")
    world.settle()
    train.starts()
    path = train.saves(20)
    train.reaches(25)
    world.settle()
    before = (train.attempt.id, train.agents[0].seq, len(train.facts("stop-requested")))
    begin = begin_shadow(world.platform, train.job)
    with world.platform.database.write() as c:
        made, _ = shadow(c, train.job, begin, Order(Kill.RANK), at=world.now, by="ann")
    copy = Work(world, made.id)
    shutil.rmtree(path)  # the job thins it while the copy waits
    world.settle()
    own = str(world.platform.checkpoints / copy.id / Path(path).name)
    assert (copy.attempt.resume_from, copy.attempt.resume_step) == (own, 20)
    assert world.machines.parts[copy.attempt.id].order.checkpoint_dir == str(world.platform.checkpoints / copy.id)
    copy.starts()
    world.settle()
    assert copy.agents[0].reports().kill == []
    copy.reaches(21)
    world.settle()
    (order,) = copy.agents[0].reports().kill
    copy.agents[0].reports(drills_done=[order.drill])
    copy.breaks(signal=9, signal_name="SIGKILL")
    world.settle()
    copy.starts().reaches(22)
    world.settle()
    assert copy.state == "stopping"
    copy.obeys()
    world.settle()
    assert copy.state == "stopped"
    score = held(world, copy).score
    assert score is not None
    assert (score.result, score.resumed_step, score.verdict_right) == (Result.RECOVERED, 20, True)
    assert train.state == "running"
    assert (train.attempt.id, train.agents[0].seq, len(train.facts("stop-requested"))) == before
    with world.platform.database.read() as c:
        assert drills.of_job(c, train.id) == []


def test_an_order_that_does_not_fit_the_job_is_refused_with_what_can_be_done(world: World) -> None:
    train = world.submit("train", nodes=2)
    world.settle()
    train.starts().reaches(25)
    for order, code in [
        ({"kill": Kill.MOUNT}, "drill-unsaved"),
        ({"rank": 2}, "invalid-field"),
        ({"at_step": 25}, "invalid-field"),
    ]:
        before = world.mark()
        with pytest.raises(PlatformError) as refused:
            ordered(world, train, **order)
        assert refused.value.code == code
        assert refused.value.hint("en")
        assert refused.value.hint("zh")
        assert world.mark() == before


def test_a_node_that_a_drill_takes_is_down_for_everybody_until_its_job_is_back(either_world: World) -> None:
    world = either_world
    world.machines.nodes = (*world.machines.nodes, replace(world.machines.nodes[0], name="n3"))
    world.later(seconds=11)
    train = trained(world)
    taken = train.attempt.placements[1].node
    ordered(world, train, kill=Kill.NODE)
    (order,) = train.agents[1].reports().kill
    assert (order.what, order.rank) == ("node", 1)
    assert train.agents[1].reports().kill == []
    loses_a_node(train, taken)
    world.settle()
    assert (state_of(world, taken), other_states(world, taken)) == (NodeState.DOWN, {NodeState.UP})
    assert train.verdict is not None
    assert (train.verdict.fault, train.verdict.node, train.verdict.drill) == ("node-down", taken, True)
    assert (train.state, train.job.failures, train.job.avoids) == ("starting", 0, ())
    assert taken not in {placement.node for placement in train.attempt.placements}
    assert [recovery.way for recovery in train.recoveries] == ["node-closed"]
    train.starts().reaches(26)
    world.settle()
    score = held(world, train).score
    assert score is not None
    assert (score.result, score.verdict_right, score.lost_steps, score.kept) == (Result.RECOVERED, True, 5, None)
    world.later(seconds=11)
    assert state_of(world, taken) == NodeState.UP


def test_a_job_with_nowhere_else_to_go_waits_until_its_node_is_back(world: World) -> None:
    train = trained(world)
    taken = train.attempt.placements[1].node
    ordered(world, train, kill=Kill.NODE)
    train.agents[1].reports()
    loses_a_node(train, taken)
    world.settle()
    assert (train.state, state_of(world, taken)) == ("queued", NodeState.DOWN)
    world.restart()
    world.later(seconds=30)
    assert (train.state, state_of(world, taken)) == ("queued", NodeState.DOWN)
    world.later(seconds=31)
    assert (train.state, state_of(world, taken)) == ("starting", NodeState.UP)


def test_a_save_that_meets_a_drill_of_storage_breaks_the_job_and_leaves_what_was_saved(world: World) -> None:
    train = trained(world)
    name = ordered(world, train, kill=Kill.MOUNT).id
    (order,) = train.agents[0].reports().kill
    assert (order.what, order.rank) == ("mount", 0)
    assert (train.agents[0].reports().kill, train.agents[1].reports().kill) == ([], [])
    train.reaches(30)
    train.agents[0].prints(0, FAILED_SAVE)
    train.agents[0].reports(drills_done=[name])
    world.later(seconds=1)
    train.breaks(code=1)
    world.settle()
    assert train.verdict is not None
    assert (train.verdict.cause, train.verdict.drill, train.verdict.owner) == ("STORAGE_IO", True, "nobody")
    assert (train.state, train.attempt.resume_step) == ("starting", 20)
    train.starts().reaches(31)
    world.settle()
    score = held(world, train).score
    assert score is not None
    assert (score.result, score.verdict_right, score.kept, score.lost_steps) == (Result.RECOVERED, True, True, 10)


def test_a_fault_that_comes_before_the_next_save_is_no_drill_of_storage(world: World) -> None:
    train = trained(world)
    ordered(world, train, kill=Kill.MOUNT)
    train.agents[0].reports()
    train.breaks(signal=11, signal_name="SIGSEGV")
    world.settle()
    assert train.verdict is not None
    assert not train.verdict.drill
    score = held(world, train).score
    assert score is not None
    assert score.result == Result.MISSED


def test_a_job_that_saves_again_after_a_failed_save_has_endured_it(world: World) -> None:
    train = trained(world)
    name = ordered(world, train, kill=Kill.MOUNT).id
    train.agents[0].reports()
    train.agents[0].reports(drills_done=[name])
    for step, result in ((30, None), (40, Result.ENDURED)):
        world.later(minutes=1)
        train.saves(step)
        world.settle()
        score = held(world, train).score
        assert (score.result if score else None) == result
    assert (train.state, len(train.attempts), train.bills) == ("running", 1, [])


def loses_a_node(train: Work, node: str) -> None:
    """The agent of this node dies; the other obeys and stops its gang."""
    for agent in train.agents:
        if agent.node != node:
            agent.obeys("gang")
    train.loses_its_agents()


def state_of(world: World, node: str) -> NodeState:
    with world.platform.database.read() as c:
        return next(each.state for each in nodes.all(c) if each.name == node)


def other_states(world: World, node: str) -> set[NodeState]:
    with world.platform.database.read() as c:
        return {each.state for each in nodes.all(c) if each.name != node}


def test_a_copy_that_would_write_where_its_job_writes_is_refused(world: World) -> None:
    train = trained(world)
    folder = str(world.platform.checkpoints / train.id)
    spec = replace(train.job.spec, command=("train", f"--save={folder}"))
    with pytest.raises(PlatformError) as refused:
        begin_shadow(world.platform, replace(train.job, spec=spec))
    assert refused.value.code == "drill-shadow-path"
    assert folder in refused.value.text("zh")


def test_a_template_that_is_trained_with_and_not_drilled_for_a_quarter_is_pointed_out(world: World) -> None:
    train = trained(world)
    world.later(days=91)
    with world.platform.database.read() as c:
        (late,) = overdue(c, world.now)
    assert (late.project, late.template, late.days) == ("nlp", "train", 91)
    ordered(world, train, rank=1)
    (order,) = train.agents[1].reports().kill
    train.agents[1].reports(drills_done=[order.drill])
    train.breaks(rank=1, signal=9, signal_name="SIGKILL")
    world.settle()
    train.starts().reaches(26)
    world.settle()
    with world.platform.database.read() as c:
        assert overdue(c, world.now) == []


def test_how_long_ago_a_template_was_drilled_can_be_watched_by_an_alert_rule(world: World) -> None:
    trained(world)
    world.later(days=100)
    rule = AlertRule("drills", "drill-age", "olga", world.now, threshold=90)
    with world.platform.database.read() as c:
        (gauge,) = measure(world.platform, c, [rule], world.now)
    assert (gauge.subject.key, gauge.subject.project, gauge.value) == ("template/train", "nlp", 100.0)
    assert rule.holds(gauge.value)
