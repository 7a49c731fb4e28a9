"""kill -9 of the server at random moments while gangs run: nothing is lost, doubled or misbilled.

A seed is a story of kills: while a submission is under way, while a job is being launched, while everything runs,
while the server comes up, and while the jobs end; or all through a recovery. The ranks go on through all of them.
"""

import random
import threading
import time
from collections import Counter
from zoneinfo import ZoneInfo

import pytest

from headway.metering.intervals import intervals
from headway.metering.ledger import post
from headway.metering.reconcile import check
from headway.server.operations.ledger.usage import intervals_of, statement_of
from headway.store import facts, ledger
from tests.live.jobs import GANG, Work
from tests.live.platform import Platform, wait_until
from tests.live.seeds import seeds

pytestmark = pytest.mark.live
KILLS = 5
RANKS = (0, 1)
ZONE = "Asia/Shanghai"
SOME_STEPS = 25
LINES_A_STEP = 60
ONCE_A_RECOVERY = ("drill-ordered", "verdict-reached", "recovery-decided", "job-ended")


class Killer:
    """Kills the server and starts it again, as its seed says."""

    def __init__(self, platform: Platform, seed: int) -> None:
        self.platform, self.chance = platform, random.Random(seed)
        self.told: list[str] = []

    def kill_within(self, seconds: float, when: str) -> None:
        """Kill the server at a random moment within so many seconds, and start it again."""
        moment = self.chance.uniform(0.0, seconds)
        time.sleep(moment)
        self.platform.kill()
        self.platform.start()
        self.told.append(f"{moment:.3f} s {when}")

    def kill_any_time(self) -> None:
        """Kill it while it runs or while it comes up."""
        if self.chance.random() < 0.5:
            self.kill_within(2.5, "after its start")
        else:
            self.platform.wait_until_up()
            self.kill_within(1.5, "after it answered")


@pytest.mark.parametrize("seed", seeds(few=2, all=5))
def test_a_killed_server_loses_doubles_and_misbills_nothing(platform: Platform, seed: int) -> None:
    killer = Killer(platform, seed)
    good = Work(platform, "ticking", resources=GANG)
    bad = Work(platform, "ticking", resources=GANG, env={"LIVE_END": "error"})
    submitting = threading.Thread(target=good.submit)
    submitting.start()
    killer.kill_within(0.03, "into a submission")
    submitting.join()
    bad.submit()
    killer.kill_within(0.5, "into a launch")
    for _ in range(KILLS - 3):
        killer.kill_any_time()
    for work in (good, bad):
        work.wait_for_step(SOME_STEPS)
    is_stopped = bool(seed % 2)
    _bring_to_an_end(good, bad, is_stopped)
    killer.kill_within(1.0, "into the end")

    print(f"seed {seed}: killed {'; '.join(killer.told)}")
    assert good.end() == "succeeded", good.story()
    assert bad.end() == ("stopped" if is_stopped else "failed"), bad.story()
    for work in (good, bad):
        _check_attempts(work)
        _check_logs(work)
        _check_facts(work)
    _check_ledger(platform)


@pytest.mark.parametrize("seed", seeds(few=1, all=5))
def test_a_server_killed_during_a_recovery_resumes_the_job_once(platform: Platform, seed: int) -> None:
    killer = Killer(platform, seed)
    work = Work(platform, "ticking", resources=GANG).submit()
    work.wait_for_step(SOME_STEPS)
    work.api.call("POST", f"jobs/{work.id}/drills", json={"rank": 1})
    for when in ("into a drill", "into a verdict", "into a resume"):
        killer.kill_within(0.4, when)
        platform.wait_until_up()
    work.wait_for_step(SOME_STEPS, attempt=2)
    work.finish()

    print(f"seed {seed}: killed {'; '.join(killer.told)}")
    assert work.end() == "succeeded", work.story()
    assert [one["attempt"]["number"] for one in work.api.attempts(work.id)] == [1, 2], work.story()
    starts = [len(work.lines("starts", rank, attempt)) for attempt in (1, 2) for rank in RANKS]
    assert starts == [1, 1, 1, 1], work.story()
    kinds = Counter(fact["kind"] for fact in work.api.facts(work.id))
    assert {kinds[kind] for kind in ONCE_A_RECOVERY} == {1}, work.story()
    assert {kinds[kind] for kind in ("attempt-placed", "attempt-launched", "attempt-started", "attempt-ended")} == {2}
    assert (kinds["rank-exited"], kinds["restored"], kinds["agent-lost"]) == (4, 4, 0), work.story()
    _check_logs_of_both(work)
    _check_ledger(platform)


def _check_logs_of_both(work: Work) -> None:
    """All bytes once; the rank that was killed may have printed one block more than it could note down."""
    for rank, attempt in ((0, 1), (0, 2), (1, 2)):
        _check_log(work, rank, attempt)
    killed, noted = work.api.log(work.id, 1, 1), work.mirror(1, 1)
    assert killed.startswith(noted), _first_difference(killed, noted)
    assert killed[len(noted) :].count(b"\n") <= LINES_A_STEP


def _bring_to_an_end(good: Work, bad: Work, is_stopped: bool) -> None:
    good.finish()
    if is_stopped:
        bad.api.call("POST", f"jobs/{bad.id}/stop", json={})
    else:
        bad.finish()


def _check_attempts(work: Work) -> None:
    """One attempt, each of whose ranks was started once."""
    tries = work.api.attempts(work.id)
    assert [one["attempt"]["number"] for one in tries] == [1], work.story()
    for rank in RANKS:
        assert len(work.lines("starts", rank)) == 1, work.story()
    assert sorted(exit["rank"] for exit in tries[0]["exits"]) == list(RANKS)


def _check_logs(work: Work) -> None:
    """Every byte once."""
    for rank in RANKS:
        _check_log(work, rank)


def _check_log(work: Work, rank: int, attempt: int = 1) -> None:
    written = work.mirror(rank, attempt)
    wait_until(lambda: len(work.api.log(work.id, rank, attempt)) >= len(written), "the whole log", work.story)
    stored = work.api.log(work.id, rank, attempt)
    assert stored == written, f"rank {rank} of attempt {attempt}: {_first_difference(stored, written)}"


def _first_difference(stored: bytes, written: bytes) -> str:
    at = next((i for i, (a, b) in enumerate(zip(stored, written, strict=False)) if a != b), -1)
    return f"{len(stored)} bytes stored, {len(written)} written, first difference at {at}"


def _check_facts(work: Work) -> None:
    """What happened once is recorded once, and what the ranks said is all there."""
    found = work.api.facts(work.id)
    kinds = Counter(fact["kind"] for fact in found)
    for kind in (
        "job-submitted",
        "attempt-placed",
        "attempt-launched",
        "attempt-started",
        "attempt-ended",
        "job-ended",
    ):
        assert kinds[kind] == 1, (kind, work.story())
    assert kinds["agent-lost"] == 0, work.story()
    exited = [fact["data"]["rank"] for fact in found if fact["kind"] == "rank-exited"]
    assert sorted(exited) == list(RANKS), work.story()
    saved = [str(fact["data"]["step"]) for fact in found if fact["kind"] == "checkpoint-saved"]
    assert saved == work.lines("saves"), work.story()
    restored = [fact["data"]["rank"] for fact in found if fact["kind"] == "restored"]
    assert sorted(restored) == list(RANKS), work.story()
    last = max(int(work.lines("steps", rank)[-1]) for rank in RANKS)
    assert work.api.job(work.id)["job"]["step"] == last
    assert [fact["seq"] for fact in found] == sorted({fact["seq"] for fact in found})


def _check_ledger(platform: Platform) -> None:
    """Entries are what the intervals give, and these are the attempts' own times, to the microsecond."""
    with platform.database() as database:

        def is_posted() -> bool:
            with database.read() as c:
                return len({entry.attempt for entry in ledger.entries(c)}) == 2

        wait_until(is_posted, "both attempts are in the ledger", platform.log_tail)
        with database.read() as c:
            recorded = [record.fact for record in facts.since(c, 0, kinds={"attempt-placed", "attempt-ended"})]
            entries = ledger.entries(c)
            ended = max(fact.at for fact in recorded)
            month = ended.astimezone(ZoneInfo(ZONE)).strftime("%Y-%m")
            told = statement_of(c, "nlp", month, ZONE, ended)
            measured = intervals_of(c, "nlp")
    assert sorted(entries, key=_key) == sorted(post(intervals(recorded), ZoneInfo(ZONE)), key=_key)
    assert check(told, measured) == []
    held = {interval.attempt: (interval.start, interval.end, interval.devices) for interval in measured}
    assert held == _own_times(platform)


def _key(entry: object) -> str:
    return str(getattr(entry, "key"))  # noqa: B009


def _own_times(platform: Platform) -> dict[str, tuple[object, object, int]]:
    """When each attempt says it had its devices, and how many."""
    from headway.store import attempts, jobs

    with platform.database() as database, database.read() as c:
        tries = [one for job in jobs.page(c, limit=100) for one in attempts.of_job(c, job.id)]
    return {one.id: (one.placed_at, one.ended_at, one.devices) for one in tries}
