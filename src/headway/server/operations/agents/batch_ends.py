"""What a batch system ended an attempt for, where the agents have told the end themselves: its word comes later.

It becomes a fact beside the agent's, and changes neither the exits nor the outcome.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import Connection

from headway.domain.attempt import Attempt
from headway.domain.events import EndExplained
from headway.engines.protocol import Cause, Observation, Sight
from headway.store import agents, attempts, facts

# A cancel is how Headway's own stops end.
TOLD = frozenset(set(Cause) - {Cause.CANCELLED})
PATIENCE = timedelta(minutes=1)


def unexplained(c: Connection, now: datetime) -> list[Attempt]:
    """Attempts that have broken lately and of which the batch system has not yet said why."""
    broken = attempts.broken_since(c, now - PATIENCE)
    return [one for one in broken if all(part.cause is None for part in agents.of_attempt(c, one.id))]


def explain(c: Connection, seen: Sequence[Observation], now: datetime) -> None:
    """Note, once for each part that has ended, what its batch system ended it for."""
    for one in seen:
        if one.sight is not Sight.ENDED or one.cause not in TOLD:
            continue
        attempt = attempts.get(c, one.attempt)
        parts = {part.node: part for part in agents.of_attempt(c, one.attempt)}
        part = parts.get(one.node)
        if attempt is None or part is None or part.ended_at is None or part.cause is not None:
            continue
        agents.upsert(c, replace(part, cause=one.cause))
        by = f"engine:{attempt.engine}"
        facts.append(
            c, EndExplained(at=now, by=by, job=attempt.job, attempt=one.attempt, node=one.node, cause=one.cause)
        )
