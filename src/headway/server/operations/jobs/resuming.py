"""Go on with a job that has ended: a new job like it, from a checkpoint that verifies now, here or in another pool.

The old job and its checkpoints are only read. What is refused is refused before anything is created.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from headway.domain.carrying import OWN, Carried, Carry, Site, carry
from headway.domain.errors import Param, PlatformError
from headway.domain.ids import JobId, check_name
from headway.domain.job import Job, JobSpec, Origin
from headway.domain.lifecycle import JobState
from headway.domain.resources import Maker, Node, Request
from headway.domain.seeing import see
from headway.scheduler.plan import Forecast
from headway.server.operations.jobs.checkpoints import Found
from headway.server.operations.jobs.choosing import Asks, choose
from headway.server.operations.jobs.conditions import Wishes, conditions_of
from headway.server.operations.jobs.foreseeing import foresee, world_of
from headway.server.operations.jobs.submit import enqueue, request_of
from headway.server.operations.jobs.views import pool_of
from headway.server.operations.people.unix import account_of, check_account, may_become
from headway.server.platform import Platform
from headway.server.secrets import make_id
from headway.store import attempts, checkpoints, jobs, nodes, quotas


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be different; None: as the job had it. `pool`: an engine, a device type, or `ENGINE/TYPE`.

    `checkpoint`: a step, or the path of one of the job's checkpoints; None: the newest that verifies.
    """

    pool: str | None = None
    nodes: int | None = None
    devices_per_node: int | None = None
    checkpoint: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """A job that can be resumed: from which checkpoint, as what, and what it carries over."""

    job: Job
    spec: JobSpec
    origin: Origin
    carries: tuple[Carry, ...]


def prepare(platform: Platform, job: Job, wish: Wish, by: str) -> Move:
    """Check everything, the checkpoint's files too: outside of any transaction, as that takes long.

    Raises `still-live`, `no-checkpoint`, `checkpoint-bad`, `not-found`, `impossible-request`, `not-readable`.
    """
    if not job.state.is_terminal:
        raise PlatformError("still-live", job=job.id, state=job.state)
    with platform.database.read() as c:
        account = account_of(c, by) if may_become(platform.engines.values()) else None
    chosen = choose(Asks(platform, job, by, account), wish.checkpoint)
    found = chosen.found
    origin = Origin(job.id, found.path, found.step, found.format)
    with platform.database.read() as c:
        spec = _spec(platform, c, job, wish, origin, by)
        before, after = _before(c, job), _after(c, spec)
        path = _seen(
            c, job, found, see(chosen.lies, pool_of(platform, c, _wanted(c, spec), before.engine if before else None))
        )
        quota = _quota(c, spec, after, platform.clock.now())
    carries = carry(chosen.saved((before or after).world), before or after, after)
    return Move(job, spec, origin, (chosen.verified, *carries, path, *_handed(spec, found), quota))


def resume(platform: Platform, c: Connection, move: Move, by: str) -> Job:
    """Write the job that goes on. Raises `still-live` where the old one has come to life meanwhile, and `path-unseen`
    where no node that it could get sees the checkpoint."""
    unseen = next((each for each in move.carries if each.what == "path" and each.carried is Carried.NO), None)
    if unseen is not None:
        raise PlatformError("path-unseen", **unseen.params)
    present = jobs.get(c, move.job.id)
    if present is None or not present.state.is_terminal:
        raise PlatformError("still-live", job=move.job.id, state=present.state if present else None)
    now = platform.clock.now()
    job = Job(id=JobId(make_id("j")), spec=move.spec, owner=by, state=JobState.QUEUED, submitted_at=now)
    return enqueue(c, job, now, by)


def when(platform: Platform, c: Connection, move: Move, by: str) -> Forecast:
    """When it would start if it were sent now."""
    (found,) = foresee(world_of(platform, c), [move.spec], by)
    return found.forecast


def _spec(platform: Platform, c: Connection, job: Job, wish: Wish, origin: Origin, by: str) -> JobSpec:
    spec, name = job.spec, wish.name or job.spec.name
    check_name("name", name)
    project = quotas.project(c, spec.project)
    if project is None or project.closed_at is not None:
        raise PlatformError("not-found", what="project", value=spec.project)
    check_account(platform.settings, c, by, platform.engines.values())
    known = nodes.all(c)
    pools = _pools(known, wish.pool)
    changes = {"nodes": wish.nodes, "devices_per_node": wish.devices_per_node}
    request = request_of(spec.request, {field: value for field, value in changes.items() if value is not None})
    engines = spec.conditions.engines
    if wish.pool is not None:
        engines = tuple(sorted({engine for engine, _ in pools}))
        request = replace(request, device_types=tuple(sorted({kind for _, kind in pools})))
    names = {node.name for node in known}
    excluded = tuple(name for name in spec.conditions.excluded if name in names)
    wishes = Wishes(protected=spec.conditions.protected, engines=engines, excluded=excluded)
    return replace(spec, name=name, request=request, conditions=conditions_of(c, wishes, request), origin=origin)


def _pools(known: Iterable[Node], wanted: str | None) -> list[tuple[str, str]]:
    pools = sorted({(node.engine, node.device_type) for node in known})
    if wanted is None:
        return pools
    found = [pool for pool in pools if wanted in (*pool, "/".join(pool))]
    if not found:
        near = ", ".join("/".join(pool) for pool in pools)
        raise PlatformError("not-found", what="pool", value=wanted, near=near)
    return found


def _seen(c: Connection, job: Job, found: Found, seen: Carry) -> Carry:
    """A copy in a store makes good for a path that the nodes do not see, or that is gone."""
    copy = next((row.copy for row in checkpoints.of_job(c, job.id) if row.path == found.path), None)
    if copy is None or (seen.carried is Carried.YES and os.path.lexists(found.path)):
        return seen
    return Carry("path", Carried.YES, "carry-path-copy", {"path": found.path, "copy": copy})


def _handed(spec: JobSpec, found: Found) -> tuple[Carry, ...]:
    """How a program that does not ask the in-job SDK is told where to go on from."""
    if found.format == OWN:
        return ()
    words = spec.checkpoint.resume
    if words:
        return (Carry("handed", Carried.YES, "carry-handed-words", {"value": " ".join(words)}),)
    return (Carry("handed", Carried.UNSURE, "carry-handed-variable", {"path": found.path}),)


def _before(c: Connection, job: Job) -> Site | None:
    """Where its last attempt ran; None: it never did."""
    tries = attempts.of_job(c, job.id)
    if not tries:
        return None
    last = tries[-1]
    world = _world(job.spec.request)
    return Site(world, last.engine, last.device_type, _maker(nodes.all(c), last.device_type))


def _after(c: Connection, spec: JobSpec) -> Site:
    """Where it would go first: the pool it likes most of those that have room for it."""
    liked = sorted(_wanted(c, spec), key=lambda node: _rank(spec.conditions.engines, node.engine))
    return Site(_world(spec.request), liked[0].engine, liked[0].device_type, liked[0].maker)


def _wanted(c: Connection, spec: JobSpec) -> list[Node]:
    """The nodes it could get."""
    return [node for node in nodes.all(c) if _may_run(node, spec)]


def _may_run(node: Node, spec: JobSpec) -> bool:
    engines = spec.conditions.engines
    fits = node.devices >= spec.request.devices_per_node and spec.request.accepts(node.device_type)
    return fits and (not engines or node.engine in engines)


def _rank(liked: Sequence[str], name: str) -> int:
    return liked.index(name) if name in liked else len(liked)


def _maker(known: Iterable[Node], device_type: str) -> Maker:
    return next((node.maker for node in known if node.device_type == device_type), Maker.CPU)


def _world(request: Request) -> int:
    return request.nodes * request.ranks_per_node


def _quota(c: Connection, spec: JobSpec, after: Site, now: datetime) -> Carry:
    """Whether the project may hold so many now; beyond its guarantee it may still borrow."""
    mine = [quota for quota in quotas.quotas(c, now, spec.project) if quota.device_type == after.device_type]
    allowed = mine[0].devices if mine else 0
    used = quotas.used(c).get((spec.project, after.device_type), 0)
    fits = used + spec.request.devices <= allowed
    told: dict[str, Param] = {"project": spec.project, "device_type": after.device_type}
    told |= {"allowed": allowed, "used": used, "wanted": spec.request.devices}
    return Carry("quota", Carried.YES if fits else Carried.UNSURE, f"carry-quota-{'fits' if fits else 'beyond'}", told)
