"""How often a job should save, and what every other interval would cost: of a job, or before there is one."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query
from sqlalchemy import Connection

from headway.domain.checkpoint import Checkpoint
from headway.domain.job import Job
from headway.registry.cadence import ASSUMED, Advice, Bounds, Choice, Cost, advise
from headway.registry.storages import Storage, StorageKind, kind_of
from headway.server.api.asking import AskerHere
from headway.server.api.jobs import find
from headway.server.api.showing import movement
from headway.server.operations.jobs.cadence import (
    LOOK_BACK,
    Pool,
    Standing,
    advice_for,
    belief_of,
    bounds_of,
    mode_of,
    past_of,
    standing,
)
from headway.server.platform import Platform
from headway.store import attempts, checkpoints

router = APIRouter(tags=["jobs"])
EVERYWHERE = Pool("", "")


@dataclass(frozen=True, slots=True)
class ChoiceView:
    """One interval: parts of the time that saving and doing again take, and what a fault loses on average."""

    interval_s: float
    save_share: float
    lost_share: float
    share: float
    lost_per_fault_s: float
    advised: bool
    in_use: bool


@dataclass(frozen=True, slots=True)
class StorageView:
    """What saves and restores of all jobs measured on one type of file system, in the last 90 days.

    `write_s`, `restore_s`: what a state of this job's size takes there; None: it has saved nothing, or nothing was
    restored from there. `in_use`: this job's newest save lies there.
    """

    storage: str
    kind: StorageKind
    in_use: bool
    saves: int
    write_bytes_per_s: float
    write_s: float | None
    restores: int
    restore_bytes_per_s: float | None
    restore_s: float | None


@dataclass(frozen=True, slots=True)
class CadenceView:
    """The advice with what it is made of, and its trade, shortest interval first.

    `mode`: how the job is told: `steps`, `minutes`, `advised`, or `program`, which decides for itself. `present_s`:
    what it saves at now; None: not known. `edge`: the bound the advice lies at; `kept`: the present one is as good.
    `saves` 0: the cost is assumed. Rates are failures per 1,000 node-days, with the bounds of 90 % of the belief.
    """

    mode: str
    advised_s: float
    present_s: float | None
    edge: str | None
    kept: bool
    blocking_s: float
    writing_s: float
    saves: int
    nodes: int
    mtbf_s: float
    rate: float
    rate_low: float
    rate_high: float
    trade: list[ChoiceView]
    storages: list[StorageView]


@router.get("/jobs/{job}/cadence")
def show_cadence(job: str, asker: AskerHere) -> CadenceView:
    """How often a job should save, and the trade around it, from what its saves cost and how often its pool fails."""
    platform = asker.platform
    now = platform.clock.now()
    with platform.database.read() as c:
        found = find(c, asker, job)
        tries = attempts.of_job(c, found.id)
        if not tries:
            before = _before(platform, c, EVERYWHERE, found.spec.request.nodes, found)
            return _view(mode_of(found), *before, _storages(c, now, None))
        here = _in_time(platform, standing(c, found, tries[-1]))
        advice = advice_for(here, past_of(c, now), now)
        storages = _storages(c, now, next((each for each in here.saved if each.bytes > 0), None))
    return _view(mode_of(found), advice, len(here.attempt.placements), here.present, storages)


@router.get("/cadence")
def foresee_cadence(
    asker: AskerHere,
    nodes: Annotated[int, Query(ge=1, le=100_000)],
    engine: str = "",
    device_type: str = "",
    blocking_s: Annotated[float | None, Query(gt=0, le=86400)] = None,
) -> CadenceView:
    """The trade for a job that is not there yet, on so many nodes of a pool, with what a save is thought to cost."""
    with asker.platform.database.read() as c:
        advice, nodes, _ = _before(asker.platform, c, Pool(engine, device_type), nodes, None, blocking_s)
        storages = _storages(c, asker.platform.clock.now(), None)
    return _view("program", advice, nodes, None, storages)


def _before(
    platform: Platform, c: Connection, pool: Pool, nodes: int, job: Job | None, blocking_s: float | None = None
) -> tuple[Advice, int, timedelta | None]:
    now = platform.clock.now()
    belief = belief_of(past_of(c, now), pool, nodes, None, now)
    wait = None if blocking_s is None else timedelta(seconds=blocking_s)
    cost = ASSUMED if wait is None else Cost(wait, wait)
    bounds = Bounds() if job is None else bounds_of(job.spec.checkpoint)
    present = None if job is None else job.spec.checkpoint.every
    return advise(belief, nodes, cost, bounds, present), nodes, present


def _in_time(platform: Platform, here: Standing) -> Standing:
    """With an interval in steps as the time those take at the pace of now."""
    steps = here.job.spec.checkpoint.every_steps
    rate = movement(platform, here.attempt, here.job).rate if steps is not None else None
    if steps is None or not rate:
        return here
    return Standing(here.job, here.attempt, here.saved, timedelta(seconds=steps / rate))


def _storages(c: Connection, now: datetime, newest: Checkpoint | None) -> list[StorageView]:
    """Every storage that was saved to lately; what the state of `newest` takes there, where there is one."""
    return [_storage(each, newest) for each in checkpoints.by_storage(c, now - LOOK_BACK)]


def _storage(measured: Storage, newest: Checkpoint | None) -> StorageView:
    size, read = newest.bytes if newest is not None else None, measured.restore_rate
    return StorageView(
        storage=measured.name,
        kind=kind_of(measured.name),
        in_use=newest is not None and newest.storage == measured.name,
        saves=measured.saves,
        write_bytes_per_s=measured.write_rate,
        write_s=size / measured.write_rate if size is not None and measured.write_rate > 0 else None,
        restores=measured.restores,
        restore_bytes_per_s=read,
        restore_s=size / read if size is not None and read else None,
    )


def _view(mode: str, advice: Advice, nodes: int, present: timedelta | None, storages: list[StorageView]) -> CadenceView:
    low, high = advice.belief.between()
    return CadenceView(
        mode=mode,
        advised_s=advice.interval.total_seconds(),
        present_s=None if present is None else present.total_seconds(),
        edge=advice.edge,
        kept=advice.kept,
        blocking_s=advice.cost.blocking.total_seconds(),
        writing_s=advice.cost.writing.total_seconds(),
        saves=advice.cost.saves,
        nodes=nodes,
        mtbf_s=advice.mtbf.total_seconds(),
        rate=1000 * advice.belief.per_node_day,
        rate_low=1000 * low,
        rate_high=1000 * high,
        trade=[_choice(each, advice, present) for each in advice.trade],
        storages=storages,
    )


def _choice(each: Choice, advice: Advice, present: timedelta | None) -> ChoiceView:
    return ChoiceView(
        interval_s=each.interval.total_seconds(),
        save_share=each.save_share,
        lost_share=each.lost_share,
        share=each.share,
        lost_per_fault_s=each.lost_per_fault.total_seconds(),
        advised=each.interval == advice.interval,
        in_use=each.interval == present,
    )
