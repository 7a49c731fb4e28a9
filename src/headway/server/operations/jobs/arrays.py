"""Arrays and sweeps: many jobs submitted as one, alike but for an index or parameters, with a cap on how many run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import product
from typing import Any

from sqlalchemy import Connection

from headway.domain.errors import PlatformError
from headway.domain.ids import JobId
from headway.domain.job import Job
from headway.domain.lifecycle import JobState
from headway.server.operations.jobs.submit import Submission, check_paths, enqueue, specify
from headway.server.platform import Platform
from headway.server.secrets import make_id

MOST = 1000
TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Shape:
    """`count` alike, or one for each combination of the values of `sweep`; at most `cap` run at once (None: all)."""

    count: int | None = None
    sweep: Mapping[str, Sequence[Any]] | None = None
    cap: int | None = None


def items_of(submission: Submission, shape: Shape) -> list[Submission]:
    """Each job as if it came alone: `name-1`, `name-2`, …, told its HEADWAY_ARRAY_INDEX. Raises `invalid-field`."""
    return [
        replace(
            submission,
            name=f"{submission.name}-{index}",
            parameters={**submission.parameters, **parameters},
            env={**submission.env, "HEADWAY_ARRAY_INDEX": str(index)},
        )
        for index, parameters in enumerate(_parameters(shape), start=1)
    ]


def check_array(platform: Platform, items: Sequence[Submission], by: str) -> None:
    """Raise what `check_paths` raises, for any of the jobs."""
    for item in items:
        check_paths(platform, item, by)


def submit_array(platform: Platform, c: Connection, items: Sequence[Submission], shape: Shape, by: str) -> list[Job]:
    """Write every job, or none; they share an array and its cap."""
    now, array = platform.clock.now(), make_id("a")
    made = []
    for index, item in enumerate(items):
        spec = specify(platform, c, replace(item, env={**item.env, "HEADWAY_ARRAY": array}), by)
        spec = replace(spec, conditions=replace(spec.conditions, array=array, array_cap=shape.cap))
        at = now + index * TICK  # those of one array stand in line in its order
        job = Job(id=JobId(make_id("j")), spec=spec, owner=by, state=JobState.QUEUED, submitted_at=at)
        made.append(enqueue(c, job, at, by))
    return made


def _parameters(shape: Shape) -> list[dict[str, Any]]:
    """What each job changes. Raises `invalid-field`."""
    if (shape.count is None) == (shape.sweep is None):
        raise PlatformError("invalid-field", field="count", value=str(shape.count), rule="count | sweep")
    if shape.sweep is None:
        changes: list[dict[str, Any]] = [{}] * (shape.count or 0)
    else:
        names = list(shape.sweep)
        changes = [dict(zip(names, values, strict=True)) for values in product(*shape.sweep.values())]
    if not 1 <= len(changes) <= MOST:
        raise PlatformError("invalid-field", field="sweep", value=len(changes), rule=f"1 … {MOST}")
    return changes
