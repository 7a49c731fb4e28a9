"""Stories of jobs that an operator must help first: held with a reason, let go, and never lost."""

import pytest

from headway.domain.errors import PlatformError
from headway.domain.hold_events import JobHeld, JobReleased
from headway.domain.resources import NodeState
from headway.server.api.showing import show_job
from headway.server.operations.jobs import holding
from headway.server.operations.jobs.stopping import stop
from headway.server.operations.nodes import cordoning
from headway.store import nodes
from headway.store.nodes import Cordon
from tests.scenarios.work import Work
from tests.scenarios.world import World

FULL = """Traceback (most recent call last):
  File "/home/ann/train.py", line 12, in <module>
    torch.save(state, path)
OSError: [Errno 28] No space left on device
"""


@pytest.fixture
def held(world: World) -> Work:
    """A job whose disk is full, at step 25 with a checkpoint of step 20."""
    train = world.submit("train")
    world.settle()
    train.starts().reaches(15)
    train.saves(20)
    train.reaches(25)
    train.agents[0].prints(0, FULL)
    train.breaks(code=1)
    world.settle()
    return train


def test_a_full_disk_holds_the_job_and_says_whose_move_it_is(world: World, held: Work) -> None:
    assert (held.state, held.job.reason, held.job.failures) == ("held", "awaits-fix", 0)
    (told,) = held.facts("job-held")
    assert isinstance(told, JobHeld)
    assert (told.cause, told.owner, told.node) == ("DISK_FULL", "operator", held.attempt.placements[0].node)
    assert held.facts("recovery-decided") == []
    with world.platform.database.read() as c:
        english, chinese = (show_job(world.platform, c, held.job, {}, language).held for language in ("en", "zh"))
    assert english is not None
    assert chinese is not None
    assert (english.at, english.owner) == (told.at, "operator")
    assert f"headway release {held.id}" in english.sentence
    assert chinese.sentence != english.sentence
    other = world.submit("other")
    world.settle()
    assert other.state == "starting"


def test_let_go_it_resumes_from_its_checkpoint_and_is_not_held_again_for_the_same(world: World, held: Work) -> None:
    world.later(hours=3)
    assert held.state == "held"
    with world.platform.database.write() as c:
        holding.release(c, held.job, at=world.now, by="ops")
    world.settle()
    assert (held.state, held.attempt.number, held.attempt.resume_step) == ("starting", 2, 20)
    (released,) = held.facts("job-released")
    assert isinstance(released, JobReleased)
    assert (released.by, released.reason) == ("ops", "asked")
    with world.platform.database.write() as c, pytest.raises(PlatformError, match="not-held"):
        holding.release(c, held.job, at=world.now, by="ops")


def test_its_node_closed_for_the_repair_and_opened_again_lets_it_go(world: World, held: Work) -> None:
    node = held.attempt.placements[0].node
    cordoning.close(world.platform, node, Cordon("disk"), "ops")
    world.settle()
    assert (held.state, held.job.reason) == ("held", "awaits-node")
    world.later(hours=1)
    with world.platform.database.write() as c:
        nodes.set_state(c, node, NodeState.UP, None)
    world.settle()
    assert held.state == "starting"
    assert [getattr(fact, "reason", None) for fact in held.facts("job-released")] == ["node-back"]


def test_the_same_fault_after_it_was_let_go_holds_it_again(world: World, held: Work) -> None:
    with world.platform.database.write() as c:
        holding.release(c, held.job, at=world.now, by="ops")
    world.settle()
    held.starts().agents[0].prints(0, FULL)
    held.breaks(code=1)
    world.settle()
    assert (held.state, len(held.facts("job-held"))) == ("held", 2)


def test_a_held_job_can_be_stopped(world: World, held: Work) -> None:
    with world.platform.database.write() as c:
        stop(c, held.job, at=world.now, by="ann")
    world.settle()
    assert held.state == "stopped"
