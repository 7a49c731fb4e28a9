"""A project's month: posted entries, what still runs, and waiting beside it at zero."""

from datetime import datetime
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from headway.metering.entries import Interval, Statement
from headway.metering.intervals import intervals, waits
from headway.metering.months import parse_month
from headway.metering.statement import Scope, statement
from headway.server.operations.people.directory import require_project
from headway.store import facts, ledger

KINDS = {"attempt-placed", "attempt-waited", "attempt-ended"}
WAIT_KINDS = {"job-submitted", "recovery-decided", "attempt-placed", "job-ended"}


def intervals_of(c: Connection, project: str) -> list[Interval]:
    """Every interval in which the project had devices, from the facts. Raises `not-found`."""
    require_project(c, project)
    return intervals(facts.all(c, project=project, kinds=KINDS))


def statement_of(c: Connection, project: str, month: str, timezone: str, as_of: datetime) -> Statement:
    """The project's statement up to `as_of`; intervals that are not posted yet are counted from the facts."""
    require_project(c, project)
    scope = Scope(project, parse_month(month), ZoneInfo(timezone), as_of)
    posted = ledger.entries(c, project=project)
    waited = waits(facts.all(c, project=project, kinds=WAIT_KINDS))
    return statement(posted, intervals_of(c, project), waited, scope)
