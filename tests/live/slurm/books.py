"""A site's two sets of books, Headway's ledger and Slurm's accounting, compared attempt by attempt."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from headway.store import ledger
from tests.live.jobs import Work
from tests.live.platform import wait_until
from tests.live.slurm.site import Site

TOLERANCE_S = 2


def check_books(site: Site, works: Sequence[Work], since: datetime) -> None:
    """Every attempt of these jobs, all of them over, has the card-seconds that Slurm counts, within 2 s a card."""
    attempts = {one["id"]: one for work in works for one in tries(work)}
    ours = posted(site, set(attempts))
    site.testbed.until(lambda: set(attempts) <= set(site.charged(since)), "accounting to know all ends")
    theirs = site.charged(since)
    apart = {id: (ours[id], theirs[id]) for id in attempts}
    told = sorted(apart.items(), key=lambda pair: abs(pair[1][0] - pair[1][1]))
    print(f"card-seconds of {len(told)} attempts (ledger, sacct), the furthest apart:", dict(told[-3:]))
    assert {id: pair for id, pair in apart.items() if abs(pair[0] - pair[1]) > TOLERANCE_S * _cards(attempts[id])} == {}


def posted(site: Site, wanted: set[str]) -> dict[str, int]:
    """Card-seconds by attempt, once all are in the ledger."""

    def found() -> dict[str, int]:
        with site.platform.database() as database, database.read() as c:
            entries = [entry for entry in ledger.entries(c, project="nlp") if entry.attempt in wanted]
        sums = dict.fromkeys([str(entry.attempt) for entry in entries], 0)
        for entry in entries:
            sums[entry.attempt] += entry.device_seconds
        return sums

    wait_until(lambda: wanted <= set(found()), "every attempt to be in the ledger", site.platform.log_tail)
    return found()


def tries(work: Work) -> list[dict[str, Any]]:
    """A job's attempts."""
    return [row["attempt"] for row in work.api.attempts(work.id)]


def _cards(attempt: dict[str, Any]) -> int:
    return sum(len(part["devices"]) for part in attempt["placements"])
