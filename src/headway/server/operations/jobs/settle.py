"""Settle an attempt: once every node's part has ended, say how the attempt ended and free its devices.

Called wherever an end may have become known (an agent's report, the engine's sight); it does nothing before the last
part has ended and nothing twice.
"""

import signal
from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection

from headway.domain.attempt import BY_ENGINE, LATE, PREEMPTED, STALLED, TAKEN, Attempt, Outcome, RankExit
from headway.domain.events import AttemptEnded
from headway.domain.job import Job
from headway.domain.lifecycle import AttemptState, JobState
from headway.domain.resources import Occupied
from headway.engines.protocol import Cause
from headway.scheduler.snapshot import Hold
from headway.server.operations.jobs.stopping import end
from headway.store import agents, attempts, facts, holds, jobs, nodes
from headway.store.agents import NodeReport

LOST = "agent-lost"
LEFT_AT = "left_at"
GOES_ON = BY_ENGINE | {STALLED}
ASKED_FOR = BY_ENGINE | {"user", PREEMPTED}


def settle(c: Connection, attempt: Attempt, *, at: datetime, hold: timedelta) -> Outcome | None:
    """The outcome if the attempt has just ended, else None. Its devices are held for a job that may go on."""
    if attempt.state == AttemptState.ENDED:
        return None
    parts = agents.of_attempt(c, attempt.id)
    ended = {part.node for part in parts if part.ended_at is not None}
    if ended < {placement.node for placement in attempt.placements}:
        return None
    exits = agents.exits(c, attempt.id)
    if attempt.stop_reason is None and was_taken(parts, exits):
        attempt = replace(attempt, stop_reason=TAKEN)
        _leave_to_others(c, attempt)
    outcome = outcome_of(attempt, parts, exits)
    return finish(c, attempt, outcome, at=at, hold=hold, freed_at=freed_at(parts, at))


def was_taken(parts: Collection[NodeReport], exits: Collection[RankExit]) -> bool:
    """Whether a batch system ended it unasked (a preemption, a cancel): its agents were told to stop, and not by us.

    It tells the ranks too, which may die of that before their agent has passed it on.
    """
    if any(part.cause == Cause.PREEMPTED for part in parts):
        return True
    told = any((part.ended_reason, part.detail) == ("stopped", "engine") for part in parts)
    unharmed = all(exit.is_clean or exit.stopped_by_us or exit.signal == signal.SIGTERM for exit in exits)
    return told and unharmed and _is_given(parts)


def freed_at(parts: Collection[NodeReport], at: datetime) -> datetime:
    """A batch system takes devices back when the last agent has left, however much later that is heard of."""
    return min(at, max(_left_at(part) for part in parts)) if _is_given(parts) else at


def _left_at(part: NodeReport) -> datetime:
    """An agent that could tell its end was there to tell it; another has noted when it went."""
    left_at = part.given.get(LEFT_AT)
    if left_at is not None:
        return datetime.fromtimestamp(left_at, UTC)
    return part.ended_at if part.ended_reason == LOST and part.ended_at is not None else part.last_at


def _is_given(parts: Collection[NodeReport]) -> bool:
    """Whether a batch system gave the devices."""
    return any("taken_at" in part.given for part in parts)


def outcome_of(attempt: Attempt, parts: list[NodeReport], exits: list[RankExit]) -> Outcome:
    """How an attempt ended whose every part has ended. What was stopped has not succeeded, however well it went."""
    if any(part.ended_reason == LOST for part in parts):
        return Outcome.STOPPED if attempt.stop_reason in ASKED_FOR else Outcome.LOST
    by_itself = all(part.ended_reason == "exited" for part in parts)
    if exits and by_itself and all(exit.is_clean and not exit.stopped_by_us for exit in exits):
        return Outcome.SUCCEEDED
    return Outcome.STOPPED if attempt.stop_reason is not None else Outcome.FAILED


def finish(
    c: Connection,
    attempt: Attempt,
    outcome: Outcome,
    *,
    at: datetime,
    hold: timedelta,
    freed_at: datetime | None = None,
) -> Outcome:
    """Write the end of an attempt and move its job on. `freed_at` None: its devices are free only now."""
    ended = freed_at or at
    attempts.move(c, attempt.id, AttemptState.ENDED, at=ended, outcome=outcome, stop_reason=attempt.stop_reason)
    facts.append(c, AttemptEnded(at=ended, by="server", job=attempt.job, attempt=attempt.id, outcome=outcome))
    job = jobs.get(c, attempt.job)
    assert job is not None
    _move_job(c, job, attempt, outcome, at, hold)
    return outcome


def _move_job(c: Connection, job: Job, attempt: Attempt, outcome: Outcome, at: datetime, hold: timedelta) -> None:
    if outcome == Outcome.SUCCEEDED:
        end(c, job, JobState.SUCCEEDED, at=at, by="server", reason=None)
    elif attempt.stop_reason == PREEMPTED and job.reason == PREEMPTED:
        jobs.count_preemption(c, job.id)
        jobs.move(c, job.id, JobState.RECOVERING, at=at, reason=PREEMPTED)
    elif (outcome == Outcome.STOPPED and attempt.stop_reason not in GOES_ON) or job.state == JobState.STOPPING:
        reason = job.reason if attempt.stop_reason == PREEMPTED else attempt.stop_reason
        end(c, job, JobState.STOPPED, at=at, by="server", reason=reason)
    else:
        jobs.move(c, job.id, JobState.RECOVERING, at=at, reason=outcome)
        if attempt.stop_reason not in (LATE, TAKEN):  # where it was, a batch system has others first
            holds.put(c, hold_for(job, attempt, at + hold))


def _leave_to_others(c: Connection, attempt: Attempt) -> None:
    """Somebody else has the devices now; who, and for how long, the engine says when it is asked next."""
    others = [one for on_node in nodes.occupied(c).values() for one in on_node]
    taken = [Occupied(part.node, len(part.devices), attempt.engine) for part in attempt.placements]
    nodes.occupy(c, attempt.engine, [*others, *taken])


def hold_for(job: Job, attempt: Attempt, until: datetime, without: Collection[str] = ()) -> Hold:
    """The attempt's devices, kept for its job; not those `without` nodes that are better avoided."""
    kept = tuple(placement for placement in attempt.placements if placement.node not in without)
    return Hold(job.id, attempt.device_type, kept, until, project=job.spec.project)
