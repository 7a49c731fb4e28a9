"""The queue as a whole: arrays of jobs, preemption by hand with its price, and how well starts were predicted."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query

from headway.domain.errors import PlatformError
from headway.domain.job import Job
from headway.scheduler.sooner import Variant, sooner
from headway.server.access import Verb
from headway.server.api.ahead import AheadView, ahead_of
from headway.server.api.asking import AskerHere, OnceHere
from headway.server.api.bodies import NewArray, Preempt
from headway.server.api.jobs import find, submission_of
from headway.server.api.rules import RulesView, rules_of
from headway.server.api.showing import LanguageHere
from headway.server.operations.jobs.arrays import Shape, check_array, items_of, submit_array
from headway.server.operations.jobs.preempting import Order, Price, price_of, take
from headway.server.operations.queue.calibration import Calibration, calibrate
from headway.server.operations.queue.foretelling import draws_for
from headway.server.operations.queue.looking import look
from headway.store import predictions

router = APIRouter(tags=["queue"])


@dataclass(frozen=True, slots=True)
class CalibrationView:
    """Hit rates of the predictions made since a moment."""

    since: datetime
    groups: list[Calibration]


@router.get("/queue/rules")
def show_rules(asker: AskerHere, language: LanguageHere) -> RulesView:
    """The rules in force: every member may read all of them."""
    asker.check(Verb.READ, "quota")
    return rules_of(asker.platform.settings, language)


@router.post("/jobs/arrays", status_code=201)
def submit_jobs(body: NewArray, asker: AskerHere, once: OnceHere) -> list[Job]:
    """Submit many jobs as one: alike, or one for each combination of parameters."""
    asker.check(Verb.CREATE, "job", body.project)
    shape = Shape(body.count, body.sweep, body.cap)
    items = items_of(submission_of(asker, body), shape)
    check = partial(check_array, asker.platform, items, asker.name)
    made = once(body, list[Job], lambda c: submit_array(asker.platform, c, items, shape, asker.name), before=check)
    asker.platform.wake("schedule")
    return made


@router.get("/jobs/{job}/ahead")
def list_ahead(job: str, asker: AskerHere) -> list[AheadView]:
    """Who stands before a waiting job: owner, devices, and when each is expected to start and end."""
    with asker.platform.database.read() as c:
        return ahead_of(c, find(c, asker, job).id)


@router.get("/jobs/{job}/sooner")
def start_sooner(job: str, asker: AskerHere) -> list[Variant]:
    """What would start a waiting job sooner: each change was put through the scheduler and has its own range."""
    platform = asker.platform
    with platform.database.read() as c:
        found = find(c, asker, job)
        seen = look(platform.settings, platform.memory, c, platform.clock.now())
    if found.id not in {queued.id for queued in seen.queued}:
        raise PlatformError("job-not-waiting", job=found.id, state=found.state)
    return list(sooner(seen, found.id, seen.runtimes, draws_for(seen)))


@router.post("/jobs/{job}/preempt")
def preempt(job: str, body: Preempt, asker: AskerHere) -> Price:
    """Take a running job's devices: it may save, and waits again. A dry run only tells what that would destroy."""
    now = asker.platform.clock.now()
    if body.dry_run:
        with asker.platform.database.read() as c:
            return price_of(c, find(c, asker, job, Verb.PREEMPT), now)
    with asker.platform.database.write() as c:
        price = take(c, find(c, asker, job, Verb.PREEMPT), Order(asker.name, now, body.reason))
    asker.platform.wake("observe", "schedule")
    return price


@router.get("/forecast/calibration")
def calibration(
    asker: AskerHere, project: str | None = None, days: Annotated[int, Query(ge=1, le=366)] = 30
) -> CalibrationView:
    """How often jobs started within the range they were first told, by project and size: readable by everybody."""
    asker.check(Verb.READ, "quota")
    since = asker.platform.clock.now() - timedelta(days=days)
    with asker.platform.database.read() as c:
        found = predictions.started(c, since)
    return CalibrationView(since, calibrate(p for p in found if project in (None, p.project)))
