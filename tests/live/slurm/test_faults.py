"""Twenty jobs on a real Slurm while its controller, or the server, is killed: nothing is lost, doubled or misbilled."""

import random
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from tests.live.jobs import Work
from tests.live.platform import wait_until
from tests.live.seeds import exhaustive, seeds
from tests.live.slurm.books import check_books, tries
from tests.live.slurm.site import Site

pytestmark = [pytest.mark.live, pytest.mark.timeout(280)]
JOBS = 20
MANY = 500


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
    check_books(site, works, since)


@exhaustive
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


# Twenty jobs, three kills.
@pytest.mark.slow
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
@pytest.mark.slow
def test_munge_stopped_under_twenty_jobs_loses_and_doubles_none(site: Site) -> None:
    outage(site, "munged", seconds=15)


@exhaustive
@pytest.mark.slow
def test_accounting_away_under_twenty_jobs_loses_and_doubles_none(site: Site) -> None:
    outage(site, "slurmdbd", seconds=15, ends_within=True)


def outage(site: Site, daemon: str, seconds: float, *, ends_within: bool = False) -> None:
    """Twenty jobs over which a daemon is away; `ends_within`: they end before it is back."""
    since = datetime.now(UTC)
    works = site.waiting(JOBS)
    wait_until_all_run(site, works)
    with site.testbed.without(daemon):
        if ends_within:
            works[0].finish()
        time.sleep(seconds)
    works[0].finish()
    check(site, works, since)


@exhaustive
@pytest.mark.slow
def test_a_controller_killed_within_a_second_of_submits_starts_every_job_once(site: Site) -> None:
    since = datetime.now(UTC)
    running = site.waiting(JOBS // 2, template="persistent")
    wait_until_all_run(site, running)
    with site.testbed.forgetting():
        fresh = [site.like(running[0], number).submit() for number in range(JOBS // 2, JOBS)]
        time.sleep(1)
    running[0].finish()
    for work in [*running, *fresh]:
        assert work.end() == "succeeded", work.story()
    starts = [path.read_text() for path in running[0].folder.glob("*.starts")]
    assert starts == ["0\n"] * len(starts), "one start for each attempt"
    assert {len(work.api.attempts(work.id)) for work in running} == {1}
    listed = reconciled(site)
    assert {line.split()[1].strip(":") for line in listed} <= {one["id"] for work in fresh for one in tries(work)}
    print("listed:", *listed, sep="\n  ")
    check_books(site, running, since)


@exhaustive
@pytest.mark.slow
def test_an_attempt_that_a_killed_controller_forgot_is_listed_to_the_operator(site: Site) -> None:
    with site.testbed.forgetting():
        (work,) = site.waiting(1, template="persistent")
        wait_until_all_run(site, [work])
        time.sleep(5)  # more than may be apart
    wait_until(lambda: len(list(work.folder.glob("*.starts"))) == 2, "another attempt", work.story)
    work.finish()
    assert work.end() == "succeeded", work.story()
    forgotten = tries(work)[0]["id"]
    wait_until(lambda: any(forgotten in line for line in reconciled(site)), "it to be listed", work.story)
    print("listed:", *reconciled(site), sep="\n  ")
    starts = [path.read_text() for path in work.folder.glob("*.starts")]
    assert starts == ["0\n"] * len(starts), "one start for each attempt"


def reconciled(site: Site) -> list[str]:
    """The attempts that the operator's command lists as apart."""
    words = [sys.executable, "-m", "headway.server.main", "engine", "reconcile", "slurm", "--home"]
    done = subprocess.run([*words, str(site.platform.home)], capture_output=True, text=True, check=False, timeout=60)
    *listed, compared = done.stdout.splitlines()
    assert "attempts compared with slurm's accounting" in compared, done.stderr
    return listed


@exhaustive
@pytest.mark.timeout(900)
def test_five_hundred_short_jobs_all_run_once(site: Site) -> None:
    since = datetime.now(UTC)
    works = site.waiting(1)
    works[0].finish()
    check(site, [*works, *(site.like(works[0], number).submit() for number in range(1, MANY))], since)
