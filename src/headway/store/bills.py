"""Loss bills: what each failure cost, open until the job has passed the step at which it broke."""

from sqlalchemy import Connection, bindparam, select

from headway.domain.checkpoint import LossBill
from headway.domain.ids import JobId
from headway.domain.lifecycle import JobState
from headway.store import schema
from headway.store.upsert import Upsert

_bills, _jobs = schema.bills, schema.jobs
_PUT = Upsert(_bills)
_OF_JOB = select(_bills.c.content).where(_bills.c.job == bindparam("job")).order_by(_bills.c.fault_at)
_OPEN = (
    select(_bills.c.content)
    .join(_jobs, _jobs.c.id == _bills.c.job)
    .where(_bills.c.is_open, _jobs.c.state.not_in([state for state in JobState if state.is_terminal]))
    .order_by(_bills.c.fault_at)
)


def put(c: Connection, bill: LossBill) -> None:
    """Keep the bill of one failed attempt, in place of an earlier one."""
    is_open = bill.first_step_at is None or bill.passed_fault_step_at is None
    row = {"failed": bill.failed, "job": bill.job, "is_open": is_open, "fault_at": bill.fault_at, "content": bill}
    _PUT(c, row)


def of_job(c: Connection, job: JobId) -> list[LossBill]:
    """A job's bills, oldest fault first."""
    return list(c.execute(_OF_JOB, {"job": job}).scalars())


def open(c: Connection) -> list[LossBill]:
    """Bills still to be completed: the job goes on, and its first step or the step it broke at was not seen again."""
    return list(c.execute(_OPEN).scalars())
