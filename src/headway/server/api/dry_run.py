"""A dry run: what would follow a submission. Refused as the submission would be; nothing is created."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal

from fastapi import APIRouter

from headway.domain.errors import Language
from headway.domain.job import JobSpec
from headway.scheduler.outlook import Outlook
from headway.scheduler.plan import Forecast
from headway.server.access import Verb
from headway.server.api.asking import Asker, AskerHere
from headway.server.api.bodies import NewArray, NewJob
from headway.server.api.jobs import submission_of
from headway.server.api.showing import LanguageHere, show_wait
from headway.server.api.views import WaitView
from headway.server.operations.jobs.arrays import Shape, check_array, items_of
from headway.server.operations.jobs.foreseeing import QuotaAfter, World, foresee, quota_after, world_of
from headway.server.operations.jobs.submit import Submission, specify

router = APIRouter(tags=["jobs"])
ARRAY = "a-dry-run"
HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class DeviceHours:
    """What it would cost: half of such jobs are over by `usual`, nine of ten by `long`; `at_most`: by its limit.

    None: unknown. `by`: past runs of such jobs (`history`), or, for want of any, the `limit`.
    """

    usual: float | None
    long: float | None
    at_most: float | None
    by: Literal["history", "limit"] | None


@dataclass(frozen=True, slots=True)
class DryRunView:
    """What would be submitted, and what would follow if it were submitted now.

    `starts_on`: the device type it would start on at once; else `waits` says its place and why, among `waiting` in all.
    """

    spec: JobSpec
    devices: int
    starts_on: str | None
    waits: WaitView | None
    waiting: int
    forecast: Forecast
    quota: list[QuotaAfter]
    device_hours: DeviceHours


@dataclass(frozen=True, slots=True)
class ArrayDryRunView:
    """The jobs of an array: how many, and the outlook of the first and of the last; `quota` with all that may run."""

    jobs: int
    first: DryRunView
    last: DryRunView
    quota: list[QuotaAfter]


@router.post("/jobs/dry-run")
def dry_run(body: NewJob, asker: AskerHere, language: LanguageHere) -> DryRunView:
    """What would be submitted, its place in the queue, when it would start, its quota after and its device-hours."""
    asker.check(Verb.CREATE, "job", body.project)
    (spec,), world = _checked(asker, [submission_of(asker, body)])
    (found,) = foresee(world, [spec], asker.name)
    return _view(found, spec, world, language)


@router.post("/jobs/arrays/dry-run")
def dry_run_array(body: NewArray, asker: AskerHere, language: LanguageHere) -> ArrayDryRunView:
    """The same of many jobs submitted as one."""
    asker.check(Verb.CREATE, "job", body.project)
    shape = Shape(body.count, body.sweep, body.cap)
    specs, world = _checked(asker, items_of(submission_of(asker, body), shape))
    capped = [replace(spec, conditions=replace(spec.conditions, array=ARRAY, array_cap=shape.cap)) for spec in specs]
    found = foresee(world, capped, asker.name)
    first, last = (_view(found[n], capped[n], world, language) for n in (0, -1))
    devices = first.devices * min(shape.cap or len(specs), len(specs))
    return ArrayDryRunView(len(specs), first, last, quota_after(world.snapshot, specs[0], devices, first.starts_on))


def _checked(asker: Asker, items: Sequence[Submission]) -> tuple[list[JobSpec], World]:
    """What would be written, after every check of a submission, and the queue as it is."""
    check_array(asker.platform, items, asker.name)
    with asker.platform.database.read() as c:
        return [specify(asker.platform, c, item, asker.name) for item in items], world_of(asker.platform, c)


def _view(found: Outlook, spec: JobSpec, world: World, language: Language) -> DryRunView:
    start, devices = found.start, spec.request.devices
    return DryRunView(
        spec=spec,
        devices=devices,
        starts_on=start.device_type if start else None,
        waits=show_wait(found.waits, found.forecast, language) if found.waits else None,
        waiting=found.waiting,
        forecast=found.forecast,
        quota=quota_after(world.snapshot, spec, devices, start.device_type if start else None),
        device_hours=DeviceHours(
            usual=_hours(found.usual, devices),
            long=_hours(found.long, devices),
            at_most=_hours(spec.limit, devices),
            by="history" if found.remembered else "limit" if spec.limit else None,
        ),
    )


def _hours(length: timedelta | None, devices: int) -> float | None:
    return None if length is None else round(devices * (length / HOUR), 3)
