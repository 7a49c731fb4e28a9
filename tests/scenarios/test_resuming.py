"""Stories of jobs that go on elsewhere: from which checkpoint, as what, and what is refused."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from headway.domain.errors import PlatformError
from headway.domain.events import JobSubmitted
from headway.domain.resources import Maker, Node
from headway.server.operations.jobs.resuming import Move, Wish, prepare, resume, when
from headway.store import nodes
from tests.scenarios.work import Work
from tests.scenarios.world import World


def moved(world: World, work: Work, **wish: Any) -> Move:
    return prepare(world.platform, work.job, Wish(**wish), "ann")


def gone_on(world: World, work: Work, **wish: Any) -> Work:
    """The job that goes on, once it has its devices."""
    move = moved(world, work, **wish)
    with world.platform.database.write() as c:
        job = resume(world.platform, c, move, "ann")
    world.settle()
    return Work(world, job.id)


def trained(world: World, *steps: int) -> tuple[Work, list[str]]:
    """A job on two nodes that saved at these steps and was stopped."""
    train = world.submit("train", nodes=2)
    world.settle()
    train.starts()
    paths = [train.saves(step) for step in steps]
    train.reaches(steps[-1] + 5)
    world.settle()
    train.stop()
    world.settle()
    train.obeys()
    world.settle()
    assert train.state == "stopped"
    return train, paths


def test_a_stopped_job_goes_on_from_its_newest_checkpoint_on_fewer_nodes(world: World) -> None:
    train, paths = trained(world, 10, 20)
    again = gone_on(world, train, nodes=1)
    assert (again.state, len(again.attempt.placements)) == ("starting", 1)
    assert (again.attempt.resume_from, again.attempt.resume_step) == (paths[1], 20)
    order = world.machines.parts[again.attempt.id].order
    assert order.resume_from == paths[1]
    assert order.checkpoint_dir == str(world.platform.checkpoints / again.id)
    (submitted,) = again.facts("job-submitted")
    assert isinstance(submitted, JobSubmitted)
    assert submitted.origin == train.id
    assert again.job.spec.command == train.job.spec.command


def test_until_it_has_saved_itself_it_falls_back_to_where_it_began(world: World) -> None:
    train, paths = trained(world, 10)
    again = gone_on(world, train)
    again.starts().reaches(12)
    world.later(seconds=5)
    again.breaks(signal=9)
    world.settle()
    assert (again.attempt.number, again.attempt.resume_from, again.attempt.resume_step) == (2, paths[0], 10)
    assert again.bills[0].lost_steps == 2
    assert [checkpoint.path for checkpoint in again.checkpoints] == []
    own = again.starts().saves(30)
    again.reaches(31)
    world.settle()
    again.breaks(signal=9)
    world.settle()
    assert (again.attempt.resume_from, again.attempt.resume_step) == (own, 30)


def test_an_earlier_checkpoint_is_taken_by_its_step_or_its_path(world: World) -> None:
    train, paths = trained(world, 10, 20)
    assert moved(world, train, checkpoint="10").origin.path == paths[0]
    assert moved(world, train, checkpoint=paths[0]).origin.step == 10


def test_a_damaged_checkpoint_is_passed_over_and_refused_by_name(world: World) -> None:
    train, paths = trained(world, 10, 20)
    state = next(Path(paths[1]).glob("state.*"))
    state.write_bytes(b"\0" + state.read_bytes()[1:])
    assert moved(world, train).origin.path == paths[0]
    with pytest.raises(PlatformError) as refused:
        moved(world, train, checkpoint="20")
    assert refused.value.code == "checkpoint-bad"
    assert refused.value.params["value"] == paths[1]


def test_what_cannot_go_on_is_refused_with_the_way_out(world: World) -> None:
    train, _ = trained(world, 10)
    running = world.submit("other")
    world.settle()
    for work, wish, code, named in [
        (running, {}, "still-live", "starting"),
        (train, {"checkpoint": "11"}, "not-found", "10"),
        (train, {"pool": "moon"}, "not-found", "fake/a100"),
        (train, {"nodes": 3}, "impossible-request", "2"),
        (train, {"nodes": 0}, "invalid-field", "resources.nodes"),
        (train, {"name": "a b"}, "invalid-name", "a b"),
    ]:
        before = world.mark()
        with pytest.raises(PlatformError) as refused:
            moved(world, work, **wish)
        assert refused.value.code == code
        assert named in refused.value.text("en") + refused.value.hint("en")
        assert refused.value.hint("en")
        assert refused.value.hint("zh")
        assert world.mark() == before
    shutil.rmtree(world.platform.checkpoints / train.id)
    with pytest.raises(PlatformError) as refused:
        moved(world, train)
    assert refused.value.code == "no-checkpoint"


def test_a_dry_run_says_what_is_carried_over_and_when_it_would_start(world: World) -> None:
    ascend = [Node(f"m{n}", "fake", "910B", 8, Maker.ASCEND) for n in (1, 2)]
    train, _ = trained(world, 10)
    with world.platform.database.write() as c:
        nodes.put(c, [*nodes.all(c), *ascend], world.now)
    before = world.mark()
    move = moved(world, train, pool="fake/910B", nodes=1)
    told = {each.what: (each.carried.value, each.code) for each in move.carries}
    assert told == {
        "checkpoint": ("yes", "carry-checkpoint"),
        "world": ("yes", "carry-world-same"),
        "data": ("yes", "carry-data-same"),
        "random": ("yes", "carry-random-same"),
        "cards": ("unsure", "carry-cards-maker"),
        "path": ("yes", "carry-path-same"),
        "quota": ("unsure", "carry-quota-beyond"),
    }
    assert (move.spec.request.device_types, move.spec.request.nodes) == (("910B",), 1)
    with world.platform.database.read() as c:
        here = when(world.platform, c, moved(world, train, pool="a100"), "ann")
    assert here.p50 is not None
    assert world.mark() == before
