"""Who should hold a drill again: projects that train with a template undrilled for a quarter. Only reads."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from headway.domain.job import JobKind
from headway.domain.lifecycle import JobState
from headway.store import drills, jobs

LONGEST = timedelta(days=90)
LIVE = tuple(state for state in JobState if not state.is_terminal)


@dataclass(frozen=True, slots=True)
class Overdue:
    """`since`: its last drill; where there was none, the first job of that template in that project."""

    project: str
    template: str
    since: datetime
    days: int


def ages(c: Connection, now: datetime) -> list[Overdue]:
    """Every template that a project trains with now, and how long ago it was drilled; the longest first."""
    training = {
        (job.spec.project, job.spec.template.partition("@")[0])
        for job in jobs.in_states(c, *LIVE)
        if job.spec.kind is JobKind.TRAINING
    }
    last = drills.last_by_template(c) if training else {}
    found = [Overdue(*each, last[each], (now - last[each]).days) for each in training if each in last]
    return sorted(found, key=lambda each: (each.since, each.project, each.template))


def overdue(c: Connection, now: datetime) -> list[Overdue]:
    """Those over the longest time."""
    return [each for each in ages(c, now) if now - each.since > LONGEST]
