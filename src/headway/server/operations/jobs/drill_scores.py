"""How a drill came out, once nothing of it is left to wait for. Only reads."""

from dataclasses import asdict

from sqlalchemy import Connection

from headway.domain.attempt import Attempt, Outcome
from headway.domain.drill import Drill, Kill, Result, Score
from headway.domain.job import Job
from headway.domain.lifecycle import AttemptState
from headway.server.operations.jobs.losses import Passing, Recovery, recoveries
from headway.store import attempts, checkpoints, verdicts

MISSED = Score(Result.MISSED, False, None, None, None, {}, None, False)
ENDURED = Score(Result.ENDURED, False, None, 0, None, {}, None, True, kept=True)


def score_of(c: Connection, drill: Drill, job: Job) -> Score | None:
    """The score; None: something is still to come."""
    attempt = attempts.get(c, drill.attempt) if drill.attempt else None
    if attempt is None:
        return MISSED if job.state.is_terminal else None
    if attempt.state != AttemptState.ENDED:
        return ENDURED if _has_saved_since(c, drill, attempt) else None
    if not drill.has_struck or attempt.outcome is Outcome.SUCCEEDED:
        return MISSED
    recovery = next((each for each in recoveries(c, job) if each.bill.failed == attempt.id), None)
    if recovery is None:
        return _given_up(c, drill, attempt) if job.state.is_terminal else None
    return None if recovery.passing is Passing.WATCHED else _score(c, drill, recovery)


def _has_saved_since(c: Connection, drill: Drill, attempt: Attempt) -> bool:
    """Whether storage that failed a save of this attempt has taken a later one; it is not stopped by that alone.

    One save may have been under way in the background when another met the drill: two came after it.
    """
    if drill.kill is not Kill.MOUNT or drill.done_at is None:
        return False
    later = [each for each in checkpoints.of_job(c, drill.job) if each.attempt == attempt.id]
    return sum(each.saved_at > drill.done_at for each in later) > 1


def _has_kept(c: Connection, drill: Drill, resumed_step: int) -> bool | None:
    """Whether what was saved before storage failed was there to go on from."""
    if drill.kill is not Kill.MOUNT or drill.done_at is None:
        return None
    before = [each.step for each in checkpoints.of_job(c, drill.job) if each.saved_at <= drill.done_at]
    return resumed_step >= max(before, default=0)


def _given_up(c: Connection, drill: Drill, attempt: Attempt) -> Score:
    """It was broken and did not go on."""
    detected = verdicts.get(c, attempt.id) is not None
    return Score(Result.NOT_RECOVERED, detected, None, None, None, {}, drill.verdict_right, False)


def _score(c: Connection, drill: Drill, recovery: Recovery) -> Score:
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
        kept=_has_kept(c, drill, bill.resumed_step),
    )
