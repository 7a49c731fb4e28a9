"""Jobs: submit, list, show, explain, stop."""

from dataclasses import fields
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query
from sqlalchemy import Connection

from headway.domain.attempt import Attempt
from headway.domain.checkpoint import Checkpoint
from headway.domain.ids import JobId
from headway.domain.job import Job, Priority
from headway.domain.lifecycle import JobState
from headway.server.access import Verb
from headway.server.api.asking import Asker, AskerHere, OnceHere
from headway.server.api.bodies import NewJob, StopJob
from headway.server.api.paging import Cursor, Limit, PageHere, cursor_of, moment_of
from headway.server.api.showing import LanguageHere, show_attempt, show_bill, show_job, show_losses
from headway.server.api.views import AttemptView, BillView, JobView, LossView, Page
from headway.server.operations.jobs.holding import release
from headway.server.operations.jobs.losses import losses, recoveries
from headway.server.operations.jobs.pinning import pin, unpin
from headway.server.operations.jobs.stopping import stop
from headway.server.operations.jobs.submit import Submission, check_paths, submit
from headway.store import attempts, checkpoints, jobs, ledger
from headway.store.readings import Grid, Series

router = APIRouter(tags=["jobs"])
Points = Annotated[int, Query(ge=1, le=5000)]


@router.post("/jobs", status_code=201)
def submit_job(body: NewJob, asker: AskerHere, once: OnceHere) -> Job:
    """Submit a job from a template. It waits in the queue until the plan gives it devices."""
    asker.check(Verb.CREATE, "job", body.project)
    platform, submission = asker.platform, submission_of(asker, body)
    check = partial(check_paths, platform, submission, asker.name)
    job = once(body, Job, lambda c: submit(platform, c, submission, asker.name), before=check)
    platform.wake("schedule")
    return job


@router.get("/jobs")
def list_jobs(  # noqa: PLR0913
    asker: AskerHere,
    language: LanguageHere,
    project: str | None = None,
    state: Annotated[list[JobState] | None, Query()] = None,
    owner: str | None = None,
    text: Annotated[str | None, Query(max_length=200)] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[JobView]:
    """Jobs, newest first; `text`: a part of the id, the name, the owner or the project."""
    with asker.platform.database.read() as c:
        scope = asker.projects if project is None else {project}
        if project is not None:
            asker.check(Verb.READ, "job", project)
        before = moment_of(cursor)
        found = jobs.page(c, project=scope, states=state, owner=owner, text=text, before=before, limit=limit)
        posted = ledger.of_attempts(c, [job.id for job in found])
        items = [show_job(asker.platform, c, job, posted, language) for job in found]
    last = found[-1] if len(found) == limit else None
    return Page(items=items, next=cursor_of((last.submitted_at.isoformat(), last.id)) if last else None)


@router.get("/jobs/{job}")
def show(job: str, asker: AskerHere, language: LanguageHere) -> JobView:
    """One job: where it stands, how it moves, or why it waits or broke."""
    with asker.platform.database.read() as c:
        found = find(c, asker, job)
        return show_job(asker.platform, c, found, ledger.of_attempts(c, [found.id]), language)


@router.get("/jobs/{job}/attempts")
def list_attempts(job: str, asker: AskerHere, page: PageHere, language: LanguageHere) -> list[AttemptView]:
    """Every attempt with its exits and verdict, first one first."""
    with asker.platform.database.read() as c:
        found = page.of(attempts.of_job(c, find(c, asker, job).id), lambda attempt: (attempt.number,))
        return [show_attempt(c, attempt, language) for attempt in found]


@router.get("/jobs/{job}/checkpoints")
def list_checkpoints(job: str, asker: AskerHere, page: PageHere) -> list[Checkpoint]:
    """Checkpoints, newest step first, each verified or rejected with a reason."""
    with asker.platform.database.read() as c:
        found = checkpoints.of_job(c, find(c, asker, job).id)
    return page.of(found, lambda each: (-each.step, -each.saved_at.timestamp(), each.path))


@router.put("/jobs/{job}/checkpoints/{step}/pin")
def pin_checkpoint(job: str, step: int, asker: AskerHere) -> list[Checkpoint]:
    """Keep what was saved at a step, whatever the policy or a full disk says; what is there of that step."""
    with asker.platform.database.write() as c:
        found = find(c, asker, job, Verb.STOP)
        pinned = pin(c, found, step, at=asker.platform.clock.now(), by=asker.name)
    asker.platform.wake("thin")
    return pinned


@router.delete("/jobs/{job}/checkpoints/{step}/pin")
def unpin_checkpoint(job: str, step: int, asker: AskerHere) -> list[Checkpoint]:
    """Leave what was saved at a step to the policy again."""
    with asker.platform.database.write() as c:
        found = find(c, asker, job, Verb.STOP)
        unpinned = unpin(c, found, step, at=asker.platform.clock.now(), by=asker.name)
    asker.platform.wake("thin")
    return unpinned


@router.get("/jobs/{job}/bills")
def list_bills(job: str, asker: AskerHere, page: PageHere) -> list[BillView]:
    """What each failure cost: steps, device-seconds, and seconds by phase."""
    with asker.platform.database.read() as c:
        found = page.of(
            recoveries(c, find(c, asker, job)), lambda each: (each.bill.fault_at.timestamp(), each.bill.failed)
        )
    return [show_bill(recovery) for recovery in found]


@router.get("/jobs/{job}/losses")
def sum_losses(job: str, asker: AskerHere) -> LossView:
    """What all its failures cost, and what another interval between checkpoints would have cost."""
    with asker.platform.database.read() as c:
        return show_losses(losses(asker.platform, c, find(c, asker, job)))


@router.get("/jobs/{job}/readings")
def readings(
    job: str,
    asker: AskerHere,
    name: str,
    attempt: int | None = None,
    rank: int | None = None,
    points: Points = 500,
) -> list[Series]:
    """One measurement of an attempt (by default the newest) over time."""
    chosen = _attempt(asker, job, attempt)
    return asker.platform.readings.series(chosen.id, name, rank=rank, points=points) if chosen else []


@router.get("/jobs/{job}/readings/nodes")
def readings_of_nodes(job: str, asker: AskerHere, name: str, attempt: int | None = None, points: Points = 240) -> Grid:
    """One measurement of all nodes of an attempt (by default the newest) over time, a node's cards or ranks as one."""
    chosen = _attempt(asker, job, attempt)
    return asker.platform.readings.grid(chosen.id, name, points=points) if chosen else Grid(name, (), ())


@router.post("/jobs/{job}/stop")
def stop_job(job: str, body: StopJob, asker: AskerHere) -> Job:
    """Ask a job to stop: it may save, and is killed after its grace."""
    with asker.platform.database.write() as c:
        found = find(c, asker, job, Verb.STOP)
        stopped = stop(c, found, at=asker.platform.clock.now(), by=asker.name, said=body.reason)
    asker.platform.wake("schedule", "observe")
    return stopped


@router.post("/jobs/{job}/release")
def release_job(job: str, asker: AskerHere) -> Job:
    """Let a job go on that was held until what stopped it was put right."""
    with asker.platform.database.write() as c:
        found = find(c, asker, job, Verb.STOP)
        released = release(c, found, at=asker.platform.clock.now(), by=asker.name)
    asker.platform.wake("recover")
    return released


def find(c: Connection, asker: Asker, text: str, verb: Verb = Verb.READ) -> Job:
    """A job by id, unique prefix or name, if the asker may do this to it.

    Names are looked for where the asker may read: no other project's job is found instead, or told of.
    """
    known = jobs.get(c, JobId(text))
    job = known if known is not None else jobs.find(c, text, project=asker.projects)
    asker.check(verb, "job", job.spec.project)
    return job


def _attempt(asker: Asker, job: str, number: int | None) -> Attempt | None:
    """The attempt of that number, else the newest."""
    with asker.platform.database.read() as c:
        tries = attempts.of_job(c, find(c, asker, job).id)
    return next((one for one in reversed(tries) if number in (None, one.number)), None)


def submission_of(asker: Asker, body: NewJob) -> Submission:
    """What was sent, if the asker may submit jobs of that class and read those it is to wait for, told by id."""
    asker.check(Verb.CREATE, f"{body.priority or Priority.NORMAL} priority", body.project)
    whole = {f.name: getattr(body, f.name) for f in fields(Submission)}
    if body.after or body.after_ok:
        with asker.platform.database.read() as c:
            whole |= {name: [find(c, asker, job).id for job in whole[name]] for name in ("after", "after_ok")}
    return Submission(**whole)
