"""Whoever goes first on the word to be over by then, and is not, makes room or is told of."""

from dataclasses import replace
from datetime import timedelta

from headway.domain.attempt import Overtaken
from headway.domain.ids import JobId
from headway.domain.job import Priority
from headway.scheduler.cycle import schedule
from headway.scheduler.overdue import overdue, overtaken
from headway.scheduler.policy import Policy
from headway.scheduler.snapshot import RunningJob, Snapshot
from tests.builders import HOUR, MINUTE, NOW, a_node, a_queued, a_running, a_snapshot

NODES = [a_node("n1"), a_node("n2")]
WIDE = JobId("wide")


def _promised(**backfill: object) -> tuple[Snapshot, dict[JobId, tuple[Overtaken, ...]]]:
    """n1 is busy for two hours; `wide` wants both nodes; `small` came later and goes first on n2."""
    running = [a_running("r", {"n1": range(8)}, limit=3 * HOUR)]
    small = a_queued("small", 8, **({"limit": HOUR, "age": MINUTE} | backfill))  # type: ignore[arg-type]
    snapshot = a_snapshot(NODES, [a_queued("wide", 8, 2, limit=HOUR), small], running)
    plan = schedule(snapshot)
    assert [start.job for start in plan.starts] == ["small"]
    return snapshot, dict(overtaken(plan, snapshot.queued))


def _late(since: timedelta = MINUTE, policy: Policy | None = None, **fields: object) -> Snapshot:
    """`small` runs on though the start that `wide` was promised is over; nothing else holds it up."""
    word = (Overtaken(WIDE, NOW - since),)
    small = a_running("small", {"n2": range(8)}, ran=3 * HOUR, overtook=word, **fields)
    snapshot = a_snapshot(NODES, [a_queued("wide", 8, 2)], [small])
    return replace(snapshot, policy=policy or snapshot.policy)


def test_a_start_on_promised_nodes_keeps_its_word_with_it() -> None:
    _, overtook = _promised()
    assert overtook == {"small": (Overtaken(WIDE, NOW + 2 * HOUR),)}


def test_who_stands_before_the_promised_job_gave_no_word() -> None:
    for ahead in ({"priority": Priority.HIGH}, {"age": 2 * HOUR}, {"resuming": True}):
        assert _promised(**ahead)[1] == {}


def test_an_overdue_job_is_taken_for_the_promised_start() -> None:
    snapshot = _late(saved_at=NOW - 10 * MINUTE)
    (taken,) = overdue(snapshot, schedule(snapshot)).preemptions
    assert (taken.job, taken.why, [victim.job for victim in taken.victims]) == ("wide", "overdue", ["small"])
    assert taken.price == 8 * 10 * MINUTE
    assert {(p.node, p.devices) for p in taken.placements} == {("n1", tuple(range(8))), ("n2", tuple(range(8)))}


def test_one_that_may_not_be_taken_is_told_of() -> None:
    for kept in (
        _late(protected=True),
        _late(preemptible=False),
        _late(policy=Policy(reclaim=False)),
        _late(policy=Policy(min_run=4 * HOUR)),
    ):
        found = overdue(kept, schedule(kept))
        assert found.preemptions == ()
        assert [(delay.job, delay.by, delay.promised_at) for delay in found.delays] == [("wide", "small", NOW - MINUTE)]


def test_nothing_is_done_before_the_time_or_where_it_would_not_help() -> None:
    early = _late(since=-MINUTE)
    other = a_running("r", {"n1": range(8)}, limit=9 * HOUR)
    blocked = _late()
    blocked = replace(blocked, running=(*blocked.running, other))
    stopping = _late(stopping=True)
    gone = replace(_late(), queued=())
    for snapshot in (early, blocked, stopping, gone):
        found = overdue(snapshot, schedule(snapshot))
        assert (found.preemptions, found.delays) == ((), ())


def test_only_as_much_is_taken_as_is_needed() -> None:
    def on_half(name: str, devices: range) -> RunningJob:
        return a_running(name, {"n2": devices}, ran=3 * HOUR, overtook=(Overtaken(WIDE, NOW - MINUTE),))

    running = [on_half("a", range(4)), on_half("b", range(4, 8))]
    snapshot = a_snapshot(NODES[1:], [a_queued("wide", 4)], running)
    (taken,) = overdue(snapshot, schedule(snapshot)).preemptions
    assert len(taken.victims) == 1
