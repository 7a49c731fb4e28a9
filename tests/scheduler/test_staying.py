"""A job begins again where it was only on devices nobody had since, and only where the queue has nothing to say."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from headway.domain.attempt import Attempt, Overtaken
from headway.domain.ids import JobId, attempt_id
from headway.domain.job import Conditions, Job
from headway.domain.lifecycle import AttemptState
from headway.domain.resources import NodeState, Placement
from headway.scheduler.snapshot import Hold, Window
from headway.scheduler.staying import Ground, Obstacle, obstacle
from tests.builders import HOUR, MINUTE, NOW, a_job, a_node, a_spec

WHERE = (Placement("n1", (0, 1)), Placement("n2", (0, 1)))
ATTEMPT = Attempt(
    id=attempt_id(JobId("j-1"), 1),
    job=JobId("j-1"),
    number=1,
    engine="local",
    device_type="h200",
    placements=WHERE,
    state=AttemptState.ENDED,
    placed_at=NOW - HOUR,
    ended_at=NOW - MINUTE,
)
HOLD = Hold(JobId("j-1"), "h200", WHERE, NOW + MINUTE)
NODES = {name: a_node(name) for name in ("n1", "n2", "n3")}
GROUND = Ground(now=NOW, keeps=True, hold=HOLD, nodes=NODES, windows=())
SOON = Window("mend", NOW + HOUR, NOW + 2 * HOUR)


def a_broken(**conditions: Any) -> Job:
    return a_job(spec=a_spec(conditions=Conditions(**conditions)))


def a_closed(state: NodeState) -> Ground:
    return replace(GROUND, nodes=NODES | {"n2": replace(NODES["n2"], state=state)})


def test_what_is_still_held_on_open_nodes_is_begun_on_again() -> None:
    assert obstacle(a_broken(), ATTEMPT, GROUND) is None


@pytest.mark.parametrize(
    ("ground", "expected"),
    [
        (replace(GROUND, keeps=False), Obstacle.ENGINE),
        (replace(GROUND, hold=None), Obstacle.HOLD_OVER),
        (replace(GROUND, hold=replace(HOLD, until=NOW)), Obstacle.HOLD_OVER),
        (replace(GROUND, hold=replace(HOLD, placements=WHERE[:1])), Obstacle.HOLD_OVER),
        (a_closed(NodeState.DOWN), Obstacle.NODE_CLOSED),
        (a_closed(NodeState.CORDONED), Obstacle.NODE_CLOSED),
        (a_closed(NodeState.UNKNOWN), Obstacle.NODE_CLOSED),
        (replace(GROUND, nodes={"n1": NODES["n1"]}), Obstacle.NODE_CLOSED),
        (replace(GROUND, avoids=("n2",)), Obstacle.NODE_AVOIDED),
        (replace(GROUND, windows=[SOON]), Obstacle.WINDOW),
        (replace(GROUND, windows=[replace(SOON, nodes=frozenset({"n2"}))]), Obstacle.WINDOW),
        (replace(GROUND, windows=[replace(SOON, device_type="h200", project="speech")]), Obstacle.WINDOW),
    ],
)
def test_a_ground_that_has_changed_sends_it_through_the_queue(ground: Ground, expected: Obstacle) -> None:
    assert obstacle(a_broken(), ATTEMPT, ground) is expected


@pytest.mark.parametrize(
    "window",
    [
        replace(SOON, nodes=frozenset({"n3"})),
        replace(SOON, device_type="910b"),
        replace(SOON, project="vision"),
        replace(SOON, begins=NOW - 2 * HOUR, ends=NOW),
    ],
)
def test_a_window_elsewhere_of_its_own_project_or_past_is_nothing_to_it(window: Window) -> None:
    assert obstacle(a_broken(), ATTEMPT, replace(GROUND, windows=[window])) is None


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"array": "sweep", "array_cap": 2}, Obstacle.ARRAY),
        ({"excluded": ("n1",)}, Obstacle.NODE_AVOIDED),
        ({"pinned": ("n1", "n2")}, Obstacle.PINNED),
    ],
)
def test_conditions_that_the_queue_weighs_send_it_there(conditions: dict[str, Any], expected: Obstacle) -> None:
    assert obstacle(a_broken(**conditions), ATTEMPT, GROUND) is expected


def test_one_that_was_let_past_a_promised_job_does_not_outlive_its_word_by_beginning_again() -> None:
    let_past = replace(ATTEMPT, overtook=(Overtaken(JobId("j-2"), NOW + timedelta(hours=3)),))
    assert obstacle(a_broken(), let_past, GROUND) is Obstacle.PROMISE
