"""The ledger beside a batch system's own accounting, attempt by attempt. Lists differences, corrects nothing."""

from datetime import datetime, timedelta

from headway.domain.ids import AttemptId
from headway.engines.protocol import Books
from headway.metering.entries import Entry
from headway.metering.reconcile import Apart, compare
from headway.store import attempts, ledger
from headway.store.database import Database

TOLERANCE = timedelta(seconds=2)
# Its accounting is asked from a little earlier on: clocks differ, and a job may begin before its attempt is counted.
EARLIER = timedelta(hours=1)


async def reconcile(database: Database, engine: str, books: Books, since: datetime) -> tuple[int, list[Apart]]:
    """How many of the engine's attempts begun since then were compared, and those apart. Raises `engine-unreachable`.

    What still runs in the batch system's eyes but is over in ours is listed too: that is how a forgotten job looks.
    """
    charged = {charge.attempt: charge.device_seconds for charge in await books.charged(since - EARLIER)}
    entries = _entries(database, engine, since)
    return len({entry.attempt for entry in entries}), compare(entries, charged, TOLERANCE)


def _entries(database: Database, engine: str, since: datetime) -> list[Entry]:
    with database.read() as c:
        posted = [entry for entry in ledger.entries(c) if entry.start >= since]
        ours: dict[AttemptId, bool] = {}
        for entry in posted:
            if entry.attempt not in ours:
                attempt = attempts.get(c, entry.attempt)
                ours[entry.attempt] = attempt is not None and attempt.engine == engine
    return [entry for entry in posted if ours[entry.attempt]]
