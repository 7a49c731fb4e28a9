"""The desk's fast structures against plain ones that are slow and obvious."""

from dataclasses import dataclass, field
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from headway.domain.ids import JobId
from headway.scheduler.cycle import schedule
from headway.scheduler.desk.desk import Desk
from headway.scheduler.desk.endings import Endings
from headway.scheduler.desk.pool import Pool
from headway.scheduler.desk.room import Room
from headway.scheduler.desk.turn import Turn
from headway.scheduler.snapshot import Snapshot
from tests.scheduler.clusters import snapshots

SIZES = (4, 4, 2, 4, 8, 4)
UP = (True, True, True, False, True, True)
thorough = settings(max_examples=200, deadline=None)


@dataclass
class PlainPool:
    """Free devices in a list, sorted whenever somebody asks."""

    free: list[int] = field(default_factory=lambda: [size if up else 0 for size, up in zip(SIZES, UP, strict=True)])

    def fit(self, nodes: int, wanted: int, limits: dict[int, int]) -> list[int] | None:
        """Fewest free devices first, of those a node that nobody uses first, then by name."""
        able = [n for n, free in enumerate(self.free) if free >= wanted and limits.get(n, wanted) >= wanted]
        able.sort(key=lambda n: (self.free[n], self.free[n] != SIZES[n], n))
        return able[:nodes] if len(able) >= nodes else None


@thorough
@given(st.data())
def test_a_pool_fits_gangs_as_a_plain_list_would(data: st.DataObject) -> None:
    pool, plain = Pool("h200", "local", SIZES, UP), PlainPool()
    taken: list[tuple[tuple[int, int], ...]] = []
    for _ in range(data.draw(st.integers(1, 12))):
        if taken and data.draw(st.booleans()):
            spots = taken.pop(data.draw(st.integers(0, len(taken) - 1)))
            pool.give(spots)
            for node, devices in spots:
                plain.free[node] += devices
        nodes, wanted = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 5))
        limits = data.draw(st.dictionaries(st.integers(0, 5), st.integers(0, 4), max_size=3))
        found = pool.fit(nodes, wanted, limits or None)
        assert found == plain.fit(nodes, wanted, limits)
        if found:
            spots = tuple((node, wanted) for node in found)
            pool.take(spots)
            taken.append(spots)
            for node, devices in spots:
                plain.free[node] -= devices
        assert pool.free == plain.free
        assert pool.free_devices == sum(plain.free)
        assert [pool.able(count) for count in range(1, 9)] == [sum(f >= c for f in plain.free) for c in range(1, 9)]


@thorough
@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 5), st.booleans()), max_size=40))
def test_endings_are_those_that_a_sorted_dictionary_has(changes: list[tuple[str, int, bool]]) -> None:
    endings, plain = Endings(), dict[str, float]()
    for job, at, look in changes:
        if job in plain:
            endings.drop(plain.pop(job), JobId(job))
        else:
            plain[job] = float(at)
            endings.add(float(at), JobId(job), ())
        if look:
            assert list(endings) == sorted((end, job, ()) for job, end in plain.items())
    overdue = {job: end for job, end in plain.items() if end < 3}
    assert endings.overdue(3.0) == sorted((end, job, ()) for job, end in overdue.items())
    assert list(endings) == sorted((end, job, ()) for job, end in plain.items() if job not in overdue)
    assert list(endings.copy()) == list(endings)


@thorough
@given(snapshots())
def test_a_desk_that_jobs_came_to_one_by_one_plans_as_one_laid_out_at_once(snapshot: Snapshot) -> None:
    desk = Desk(snapshot)
    for job in snapshot.queued:
        desk.withdraw(job.id)
    held = {hold.job for hold in snapshot.holds}
    for job in snapshot.queued:
        desk.submit(job)
    desk.advance(0.0)
    turn = Turn(desk).run(promise_all=True)
    if not held & {job.id for job in snapshot.queued}:  # Withdrawing a job gives up what was held for it.
        plan = schedule(snapshot)
        assert [began.ask.id for began in turn.began] == [start.job for start in plan.starts]
        assert [ask.id for _, ask in turn.queue()] == [wait.job for wait in plan.waits if wait.place is not None]


@thorough
@given(snapshots())
def test_what_is_passed_over_as_full_would_not_have_started(snapshot: Snapshot) -> None:
    plan = schedule(snapshot)
    with patch.object(Room, "is_full", return_value=False):
        assert schedule(snapshot) == plan
