"""Drills: break a job or a copy of it on purpose, and see how each drill came out and who should hold one again."""

from dataclasses import dataclass

from fastapi import APIRouter
from sqlalchemy import Connection

from headway.domain.drill import Drill, Kill, Score
from headway.domain.ids import JobId
from headway.server.access import Verb
from headway.server.api.asking import AskerHere, OnceHere
from headway.server.api.bodies import NewDrill
from headway.server.api.jobs import find
from headway.server.api.paging import PageHere, newest
from headway.server.operations.jobs.drill import Begin, Order, begin_shadow, check_order, drill, shadow
from headway.server.operations.jobs.drill_reminders import Overdue, overdue
from headway.store import drills, jobs

router = APIRouter(tags=["drills"])


@dataclass(frozen=True, slots=True)
class DrillView:
    """A drill that was ordered; `job` is the one that is broken: the copy, where it is of `shadow_of`."""

    drill: str
    job: JobId
    rank: int
    kill: Kill
    at_step: int | None
    shadow_of: JobId | None


@dataclass(frozen=True, slots=True)
class HeldDrill:
    """A drill with what it was of. `state`: `waiting`, `struck`, or how it came out."""

    drill: Drill
    name: str
    project: str
    template: str
    state: str
    score: Score | None


@router.post("/jobs/{job}/drills", status_code=201)
def order_drill(job: str, body: NewDrill, asker: AskerHere, once: OnceHere) -> DrillView:
    """Break a running job, or a copy of it, without warning, and measure the recovery."""
    platform, order = asker.platform, Order(body.kill, body.rank, body.at_step)
    begins: list[Begin] = []

    def before() -> None:
        with platform.database.read() as c:
            found = find(c, asker, job, Verb.DRILL)
        check_order(found, order)
        if body.shadow:
            asker.check(Verb.CREATE, "job", found.spec.project)
            begins.append(begin_shadow(platform, found))

    def act(c: Connection) -> DrillView:
        found, now = find(c, asker, job, Verb.DRILL), platform.clock.now()
        if body.shadow:
            return _shown(shadow(c, found, begins[0], order, at=now, by=asker.name)[1])
        return _shown(drill(c, found, order, at=now, by=asker.name))

    ordered = once(body, DrillView, act, before=before)
    platform.wake("observe", "schedule")
    return ordered


@router.get("/drills")
def list_drills(asker: AskerHere, page: PageHere, project: str | None = None) -> list[HeldDrill]:
    """Drills with how they came out, newest first."""
    if project is not None:
        asker.check(Verb.READ, "job", project)
    scope = asker.projects if project is None else frozenset({project})
    with asker.platform.database.read() as c:
        found = page.of(drills.history(c, scope), lambda each: newest(each.at, each.id))
        return [_held(c, each) for each in found]


@router.get("/drills/overdue")
def list_overdue(asker: AskerHere, page: PageHere) -> list[Overdue]:
    """Templates that projects train with now and have not drilled for too long, the longest first."""
    with asker.platform.database.read() as c:
        found = overdue(c, asker.platform.clock.now())
    mine = [each for each in found if asker.projects is None or each.project in asker.projects]
    return page.of(mine, lambda each: (each.since.timestamp(), each.project, each.template))


def _shown(ordered: Drill) -> DrillView:
    return DrillView(ordered.id, ordered.job, ordered.rank, ordered.kill, ordered.at_step, ordered.shadow_of)


def _held(c: Connection, each: Drill) -> HeldDrill:
    job = jobs.get(c, each.job)
    assert job is not None
    state = "struck" if each.sent_at else "waiting"
    return HeldDrill(
        drill=each,
        name=job.spec.name,
        project=job.spec.project,
        template=job.spec.template,
        state=each.score.result if each.score else state,
        score=each.score,
    )
