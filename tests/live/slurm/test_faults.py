"""Twenty jobs on a real Slurm while its controller, or the server, is killed: nothing is lost, doubled or misbilled."""

import random
import time
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from headway.store import ledger
from tests.live.jobs import Work
from tests.live.platform import wait_until
from tests.live.seeds import exhaustive, seeds
from tests.live.slurm.site import Site

pytestmark = [pytest.mark.live, exhaustive, pytest.mark.timeout(280)]
JOBS = 20
MANY = 500
TOLERANCE_S = 2


def wait_until_all_run(site: Site, works: Sequence[Work]) -> None:
    folder = works[0].folder
    wait_until(lambda: len(list(folder.glob("*.starts"))) == len(works), "all jobs to run", site.platform.log_tail)


def check(site: Site, works: Sequence[Work], since: datetime) -> None:
    """Every job ran once and succeeded, and the ledger has what Slurm's accounting has, job by job."""
    for work in works:
        assert work.end() == "succeeded", work.story()
        assert len(work.api.attempts(work.id)) == 1, work.story()
    starts = [path.read_text() for path in works[0].folder.glob("*.starts")]
    assert starts == ["0\n"] * len(works)
    ours = posted(site, works)
    site.testbed.until(lambda: set(ours) <= set(site.seconds_by_slurm(since)), "accounting to know all jobs")
    theirs = site.seconds_by_slurm(since)
    apart = {attempt: (seconds, theirs[attempt]) for attempt, seconds in ours.items()}
    print(
        "card-seconds (ledger, sacct):", sorted(apart.values(), key=lambda pair: pair[0] - pair[1])[:: len(works) // 4]
    )
    assert {a: pair for a, pair in apart.items() if abs(pair[0] - pair[1]) > TOLERANCE_S} == {}


def posted(site: Site, works: Sequence[Work]) -> dict[str, int]:
    """Card-seconds by attempt, once all are in the ledger."""
    wanted = {f"{work.id}.1" for work in works}

    def found() -> dict[str, int]:
        with site.platform.database() as database, database.read() as c:
            entries = ledger.entries(c, project="nlp")
        return {
            attempt: sum(entry.device_seconds for entry in entries if entry.attempt == attempt)
            for attempt in {entry.attempt for entry in entries}
        }

    wait_until(lambda: wanted <= set(found()), "every attempt to be in the ledger", site.platform.log_tail)
    return {attempt: seconds for attempt, seconds in found().items() if attempt in wanted}


def test_a_controller_killed_under_twenty_jobs_loses_and_doubles_none(site: Site) -> None:
    since = datetime.now(UTC)
    works = site.waiting(JOBS)
    wait_until_all_run(site, works)
    site.testbed.save()
    site.testbed.tool("kill", "slurmctld")
    time.sleep(3)
    site.testbed.tool("up", "slurmctld")
    works[0].finish()
    check(site, works, since)


@pytest.mark.parametrize("seed", seeds(few=1, all=20))
def test_a_server_killed_under_twenty_jobs_loses_and_doubles_none(site: Site, seed: int) -> None:
    chance = random.Random(seed)
    since = datetime.now(UTC)
    works = site.waiting(JOBS)
    told = []
    for when in ("into the launches", "while they run", "into the ends"):
        moment = chance.uniform(0.0, 3.0)
        told.append(f"{moment:.2f} s {when}")
        if when == "into the ends":
            wait_until_all_run(site, works)
            works[0].finish()
        time.sleep(moment)
        site.platform.kill()
        site.platform.start()
        site.platform.wait_until_up()
    print(f"seed {seed}: killed {', '.join(told)}")
    check(site, works, since)


@exhaustive
@pytest.mark.timeout(900)
def test_five_hundred_short_jobs_all_run_once(site: Site) -> None:
    since = datetime.now(UTC)
    works = site.waiting(1)
    works[0].finish()
    check(site, [*works, *(site.like(works[0], number).submit() for number in range(1, MANY))], since)
