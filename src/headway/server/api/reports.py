"""The monthly report of each project: waits, use and failures as evidence, and what more nodes would have changed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Query

from headway.metering.report import Report
from headway.scheduler.rehearse import Outcome
from headway.server.access import Verb
from headway.server.apart import apart
from headway.server.api.asking import AskerHere
from headway.server.api.paging import PageHere
from headway.server.operations.ledger.reporting import jobs_of, report_of
from headway.server.operations.queue.looking import look
from headway.server.rehearsal import compare, nodes_of
from headway.store import quotas

router = APIRouter(tags=["usage"])


@dataclass(frozen=True, slots=True)
class Sides:
    """The same jobs with the nodes there are, and with those added."""

    before: Outcome
    after: Outcome


@dataclass(frozen=True, slots=True)
class WithMore:
    """A month's jobs played again under the present table. `left_out`: jobs that fit nowhere or may have nothing;
    `projects`: those that the asker may read."""

    month: str
    added: list[str]
    jobs: int
    left_out: int
    whole: Sides
    projects: Mapping[str, Sides]


@router.get("/projects/{project}/report")
def show_report(project: str, month: str, asker: AskerHere) -> Report:
    """A project's month: how long its jobs waited, what it used of its own, how many attempts failed; job by job."""
    asker.check(Verb.READ, "statement", project)
    platform = asker.platform
    with platform.database.read() as c:
        return report_of(c, project, month, platform.settings.timezone, platform.clock.now())


@router.get("/reports")
def list_reports(month: str, asker: AskerHere, page: PageHere) -> list[Report]:
    """The month of every project that the asker may read, without the jobs."""
    asker.check(Verb.READ, "statement")
    platform, mine = asker.platform, asker.projects
    with platform.database.read() as c:
        known = [project.name for project in quotas.projects(c) if mine is None or project.name in mine]
        names = page.of(known, lambda name: (name,))
        now, zone = platform.clock.now(), platform.settings.timezone
        return [replace(report_of(c, name, month, zone, now), jobs=()) for name in names]


@router.get("/reports/with-more")
def with_more(month: str, asker: AskerHere, add: Annotated[list[str], Query(min_length=1, max_length=20)]) -> WithMore:
    """What the month's waits would have been with more nodes, as in `4x8xH800`: played again by the scheduler."""
    asker.check(Verb.READ, "statement")
    platform, mine = asker.platform, asker.projects
    added = [node for text in add for node in nodes_of(text)]
    with platform.database.read() as c:
        now = platform.clock.now()
        jobs = jobs_of(c, month, platform.settings.timezone, now)
        seen = look(platform.settings, platform.memory, c, now)
    compared = apart(compare, jobs, seen, None, added)
    names = [name for name in compared.before.by_project if mine is None or name in mine]
    before, after = compared.before, compared.after
    return WithMore(
        month=month,
        added=add,
        jobs=before.whole.jobs,
        left_out=compared.left_out,
        whole=Sides(before.whole, after.whole),
        projects={name: Sides(before.by_project[name], after.by_project[name]) for name in names},
    )
