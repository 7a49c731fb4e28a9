"""When and where a job may start, as submitted: what it waits for, which engines and nodes it may use.

A job names jobs that exist, so that no circle of waiting can arise; one that can never come true is refused.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from headway.domain.errors import PlatformError
from headway.domain.ids import JobId
from headway.domain.job import Conditions
from headway.domain.lifecycle import JobState
from headway.domain.resources import Node, Request
from headway.scheduler.admissible import largest_possible
from headway.store import jobs, nodes


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a person asks for beside the devices; jobs by id, unique beginning or name."""

    after: tuple[str, ...] = ()
    after_ok: tuple[str, ...] = ()
    protected: bool = False
    engines: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    not_before: datetime | None = None


def conditions_of(c: Connection, wishes: Wishes, request: Request) -> Conditions:
    """The wishes, checked. Raises `not-found`, `ambiguous`, `dependency-dead`, `no-node-left`, `impossible-request`."""
    known = nodes.all(c)
    _check_names("engine", wishes.engines, {node.engine for node in known})
    _check_names("node", wishes.excluded, {node.name for node in known})
    left = [node for node in known if _may_use(node, wishes)]
    if known and not left:
        raise PlatformError(
            "no-node-left", excluded=", ".join(wishes.excluded), engines=", ".join(wishes.engines) or None
        )
    largest_possible(left, request)
    return Conditions(
        after=_jobs(c, "after", wishes.after),
        after_ok=_jobs(c, "after_ok", wishes.after_ok),
        protected=wishes.protected,
        engines=wishes.engines,
        excluded=wishes.excluded,
        not_before=wishes.not_before,
    )


def _may_use(node: Node, wishes: Wishes) -> bool:
    return node.name not in wishes.excluded and (not wishes.engines or node.engine in wishes.engines)


def _check_names(what: str, names: Iterable[str], known: set[str]) -> None:
    for name in names:
        if name not in known:
            raise PlatformError("not-found", what=what, value=name, near=", ".join(sorted(known)))


def _jobs(c: Connection, field: str, names: tuple[str, ...]) -> tuple[JobId, ...]:
    """The jobs meant."""
    found = [jobs.find(c, name) for name in names]
    for job in found:
        if field == "after_ok" and job.state in (JobState.FAILED, JobState.STOPPED):
            raise PlatformError("dependency-dead", field=field, job=job.id, state=job.state)
    return tuple(job.id for job in found)
