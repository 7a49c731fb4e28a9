"""How a drill came out, once nothing of it is left to wait for. Only reads."""

from dataclasses import asdict

from sqlalchemy import Connection

from headway.domain.attempt import Attempt, Outcome
from headway.domain.drill import Drill, Result, Score
from headway.domain.job import Job
from headway.domain.lifecycle import AttemptState
from headway.server.operations.jobs.losses import Passing, Recovery, recoveries
from headway.store import attempts, verdicts

MISSED = Score(Result.MISSED, False, None, None, None, {}, None, False)


def score_of(c: Connection, drill: Drill, job: Job) -> Score | None:
    """The score; None: something is still to come."""
    attempt = attempts.get(c, drill.attempt) if drill.attempt else None
    if attempt is None:
        return MISSED if job.state.is_terminal else None
    if attempt.state != AttemptState.ENDED:
        return None
    if drill.sent_at is None or attempt.outcome is Outcome.SUCCEEDED:
        return MISSED
    recovery = next((each for each in recoveries(c, job) if each.bill.failed == attempt.id), None)
    if recovery is None:
        return _given_up(c, drill, attempt) if job.state.is_terminal else None
    return None if recovery.passing is Passing.WATCHED else _score(drill, recovery)


def _given_up(c: Connection, drill: Drill, attempt: Attempt) -> Score:
    """It was broken and did not go on."""
    detected = verdicts.get(c, attempt.id) is not None
    return Score(Result.NOT_RECOVERED, detected, None, None, None, {}, drill.verdict_right, False)


def _score(drill: Drill, recovery: Recovery) -> Score:
    bill, passed = recovery.bill, recovery.passing is Passing.PASSED
    return Score(
        result=Result.RECOVERED if passed else Result.NOT_RECOVERED,
        detected=True,
        resumed_step=bill.resumed_step,
        lost_steps=bill.lost_steps,
        seconds=bill.kill_to_first_step_s,
        phases={name: seconds for name, seconds in asdict(recovery.phases).items() if seconds is not None},
        verdict_right=drill.verdict_right,
        passed=passed,
    )
