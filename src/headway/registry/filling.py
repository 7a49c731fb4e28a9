"""How fast a file system fills beside a job's own checkpoints: what its use grew by, less what the job put there.

That others clear up is no promise that they will do so again: a file system that empties is taken to stand still.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

SHORTEST = timedelta(minutes=10)
"""From readings closer together than this nothing is foretold."""


def others_rate(used: Sequence[tuple[datetime, float]], own: Iterable[tuple[datetime, int]]) -> float:
    """Bytes a second that others add. `used`: bytes in use, oldest first; `own`: when the job's own bytes changed."""
    if len(used) < 2 or used[-1][0] - used[0][0] < SHORTEST:
        return 0.0
    (begins, before), (ends, after) = used[0], used[-1]
    ours = sum(change for at, change in own if begins < at <= ends)
    return max(0.0, (after - before - ours) / (ends - begins).total_seconds())
