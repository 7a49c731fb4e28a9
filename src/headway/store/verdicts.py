"""The verdict on each attempt that ended."""

from sqlalchemy import Connection, bindparam, select

from headway.diagnosis.verdict import Verdict
from headway.domain.ids import AttemptId
from headway.store import schema
from headway.store.upsert import Upsert

_verdicts = schema.verdicts
_PUT = Upsert(_verdicts)
_GET = select(_verdicts.c.content).where(_verdicts.c.attempt == bindparam("attempt"))


def put(c: Connection, verdict: Verdict) -> None:
    """Keep the verdict on an attempt, in place of an earlier one."""
    row = {"attempt": verdict.attempt, "fault": verdict.fault, "owner": verdict.owner, "content": verdict}
    _PUT(c, row)


def get(c: Connection, attempt: AttemptId) -> Verdict | None:
    """The verdict on an attempt."""
    verdict: Verdict | None = c.execute(_GET, {"attempt": attempt}).scalar()
    return verdict
