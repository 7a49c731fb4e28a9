"""Whether everything the ranks of an attempt printed has arrived: the last words may come after the end is told."""

from datetime import timedelta

from headway.domain.ids import AttemptId
from headway.server.platform import Platform
from headway.store import agents

PATIENCE = timedelta(seconds=30)


def are_here(platform: Platform, attempt: AttemptId, rank: int | None = None) -> bool:
    """Whether every byte its agents told of is here, of one rank or of all; true where none has told."""
    with platform.database.read() as c:
        told = [part.streams or {} for part in agents.of_attempt(c, attempt)]
    sizes = {int(of): size for streams in told for of, size in streams.items() if rank in (None, int(of))}
    return all(platform.logs.size(attempt, of) >= size for of, size in sizes.items())
