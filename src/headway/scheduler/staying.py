"""Whether a broken job may begin again at once where it was, on devices that nobody else has had since, or must ask the
queue. Whatever the queue alone can weigh (windows, arrays, promises to others) sends it there. Never picks other nodes.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from headway.domain.attempt import Attempt
from headway.domain.job import Job
from headway.domain.resources import Node, NodeState
from headway.scheduler.snapshot import Hold, Window


class Obstacle(StrEnum):
    """Why a job that goes on is sent through the queue."""

    ENGINE = "engine"
    HOLD_OVER = "hold-over"
    NODE_CLOSED = "node-closed"
    NODE_AVOIDED = "node-avoided"
    WINDOW = "window"
    ARRAY = "array"
    PROMISE = "promise"
    PINNED = "pinned"


@dataclass(frozen=True, slots=True)
class Ground:
    """What a broken attempt leaves behind at `now`: the devices held for its job, if they still are, and their nodes.

    `keeps`: its engine leaves the devices to the server between two attempts. `avoids`: nodes its job is kept from.
    """

    now: datetime
    keeps: bool
    hold: Hold | None
    nodes: Mapping[str, Node]
    windows: Collection[Window]
    avoids: Collection[str] = ()


def obstacle(job: Job, attempt: Attempt, ground: Ground) -> Obstacle | None:
    """What keeps the job from beginning again where this attempt was; None: nothing."""
    conditions = job.spec.conditions
    mine = [placement.node for placement in attempt.placements]
    found = {
        Obstacle.ENGINE: not ground.keeps,
        Obstacle.PINNED: bool(conditions.pinned),
        Obstacle.NODE_CLOSED: any(not _is_open(ground.nodes.get(node)) for node in mine),
        Obstacle.NODE_AVOIDED: not {*ground.avoids, *conditions.excluded}.isdisjoint(mine),
        Obstacle.HOLD_OVER: not _is_kept(attempt, ground),
        Obstacle.WINDOW: any(_is_over(window, job, attempt) for window in ground.windows if window.ends > ground.now),
        Obstacle.ARRAY: conditions.array_cap is not None,
        Obstacle.PROMISE: bool(attempt.overtook),
    }
    return next((each for each, stands in found.items() if stands), None)


def _is_open(node: Node | None) -> bool:
    return node is not None and node.state is NodeState.UP


def _is_kept(attempt: Attempt, ground: Ground) -> bool:
    """Whether every device it had has been held since it ended."""
    hold = ground.hold
    return hold is not None and hold.until > ground.now and hold.placements == attempt.placements


def _is_over(window: Window, job: Job, attempt: Attempt) -> bool:
    if window.project == job.spec.project or window.device_type not in (None, attempt.device_type):
        return False
    return not window.nodes or any(placement.node in window.nodes for placement in attempt.placements)
