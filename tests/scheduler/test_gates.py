"""Windows, dependencies, arrays, topology, exclusions, and the snapshot that can be carried away."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings

from headway.domain.errors import PlatformError
from headway.domain.job import Priority
from headway.scheduler.cycle import schedule
from headway.scheduler.dump import dumps, loads
from headway.scheduler.plan import (
    AHEAD,
    ApprovalPending,
    ArrayFull,
    BehindOthers,
    DependencyFailed,
    DependencyPending,
    NotBefore,
    Plan,
    Reason,
    WindowAhead,
)
from headway.scheduler.policy import Policy
from headway.scheduler.snapshot import Runtimes, Snapshot, Window
from headway.scheduler.sooner import sooner
from tests.builders import HOUR, MINUTE, NOW, a_node, a_queued, a_running, a_snapshot
from tests.scheduler.test_lending import lent


def started(plan: Plan) -> list[str]:
    return [start.job for start in plan.starts]


def reason(snapshot: Snapshot, job: str = "j") -> Reason:
    return next(wait.reason for wait in schedule(snapshot).waits if wait.job == job)


def test_nothing_starts_that_may_still_run_when_a_window_begins() -> None:
    window = Window("cooling", NOW + 2 * HOUR, NOW + 4 * HOUR)
    long, short = a_queued("j", limit=3 * HOUR), a_queued("k", limit=2 * HOUR)
    snapshot = replace(a_snapshot([a_node()], [long, short]), windows=(window,))
    assert started(schedule(snapshot)) == ["k"]
    assert reason(snapshot) == WindowAhead("cooling", window.begins, window.ends)
    assert set(started(schedule(replace(snapshot, now=NOW + 4 * HOUR)))) == {"j", "k"}


def test_a_window_over_some_nodes_leaves_the_others() -> None:
    window = Window("swap", NOW, NOW + HOUR, nodes=frozenset({"n1"}))
    snapshot = replace(a_snapshot([a_node("n1"), a_node("n2")], [a_queued("j", 8)]), windows=(window,))
    assert schedule(snapshot).starts[0].placements[0].node == "n2"


def test_an_advance_reservation_is_for_its_project() -> None:
    window = Window("course", NOW, NOW + HOUR, project="vision")
    queue = [a_queued("j"), a_queued("k", project="speech")]
    snapshot = replace(a_snapshot([a_node()], queue), windows=(window,))
    assert started(schedule(snapshot)) == ["j"]


def test_gates_are_told_apart_and_open_in_turn() -> None:
    queue = [
        a_queued("after", after=("r",)),
        a_queued("after-ok", after_ok=("r",)),
        a_queued("waits-failed", after_ok=("f",)),
        a_queued("approval", awaits="a grant"),
        a_queued("later", not_before=NOW + HOUR),
    ]
    snapshot = a_snapshot([a_node()], queue, [a_running("r", {"n1": (0,)})])
    snapshot = replace(snapshot, finished={"f": False})  # type: ignore[dict-item]
    told = {wait.job: wait.reason for wait in schedule(snapshot).waits}
    assert told == {
        "after": DependencyPending("r", "ended"),  # type: ignore[arg-type]
        "after-ok": DependencyPending("r", "succeeded"),  # type: ignore[arg-type]
        "waits-failed": DependencyFailed("f"),  # type: ignore[arg-type]
        "approval": ApprovalPending("a grant"),
        "later": NotBefore(NOW + HOUR),
    }
    ended = replace(snapshot, running=(), finished={"r": True, "f": False}, now=NOW + HOUR)  # type: ignore[dict-item]
    assert set(started(schedule(ended))) == {"after", "after-ok", "later"}


def test_an_array_runs_no_more_than_its_cap_at_once() -> None:
    queue = [a_queued(f"j{n}", array="sweep", array_cap=2, age=(9 - n) * MINUTE) for n in range(4)]
    snapshot = a_snapshot([a_node()], queue, [a_running("r", {"n1": (0,)}, array="sweep")])
    assert started(schedule(snapshot)) == ["j0"]
    assert reason(snapshot, "j1") == ArrayFull("sweep", cap=2, running=2)


def test_a_gang_stays_within_one_switch_where_one_has_room() -> None:
    nodes = [a_node(f"n{n}", labels={"switch": "a" if n < 3 else "b"}) for n in range(5)]
    plan = schedule(a_snapshot(nodes, [a_queued("j", 8, 2)], [a_running("r", {"n0": range(8)})]))
    assert {placement.node for placement in plan.starts[0].placements} in ({"n1", "n2"}, {"n3", "n4"})


def test_excluded_nodes_are_left_alone_and_engines_preferred_in_order() -> None:
    nodes = [a_node("n1"), a_node("n2", engine="slurm")]
    queue = [a_queued("j", 8, engines=("slurm", "local"))]
    assert schedule(a_snapshot(nodes, queue)).starts[0].engine == "slurm"
    queue = [replace(queue[0], excluded=frozenset({"n2"}))]
    assert schedule(a_snapshot(nodes, queue)).starts[0].engine == "local"


def test_the_first_few_blocked_jobs_are_promised_starts_one_after_the_other() -> None:
    running = [a_running("r", {"n1": range(8)}, ran=timedelta(0), limit=HOUR)]
    queue = [a_queued(f"j{n}", 8, age=(9 - n) * MINUTE, limit=HOUR) for n in range(4)]
    snapshot = replace(a_snapshot([a_node()], queue, running), policy=Policy(reservations=3))
    promised = [wait.reserved_at for wait in schedule(snapshot).waits]
    assert promised == [NOW + HOUR, NOW + 2 * HOUR, NOW + 3 * HOUR, None]


def test_what_is_predicted_short_goes_first_but_only_so_much() -> None:
    runtimes = Runtimes({"quick": (60.0,) * 30, "slow": (86400.0,) * 30})
    slow, quick = a_queued("slow", 8, template="slow"), a_queued("quick", 8, template="quick", age=timedelta(0))
    snapshot = replace(a_snapshot([a_node()], [slow, quick]), runtimes=runtimes)
    assert started(schedule(snapshot)) == ["quick"]
    patient = replace(slow, submitted_at=NOW - snapshot.policy.short_first - HOUR)
    assert started(schedule(replace(snapshot, queued=(patient, quick)))) == ["slow"]


def test_those_ahead_are_counted_in_full_and_named_in_part() -> None:
    queue = [a_queued(f"j{n:03}", 8) for n in range(AHEAD + 9)]
    last = schedule(a_snapshot([a_node()], queue, [a_running("r", {"n1": range(8)})])).waits[-1]
    assert (len(last.ahead), last.ahead_count) == (AHEAD, AHEAD + 8)


def test_what_would_start_it_sooner_has_really_been_tried() -> None:
    running = [a_running("r", {"n1": range(8)}, limit=9 * HOUR)]
    first = a_queued("first", 8, 2, priority=Priority.HIGH)
    snapshot = a_snapshot([a_node("n1"), a_node("n2")], [first, a_queued("j", 8, 2, limit=4 * HOUR)], running)
    told = {(variant.change, variant.value) for variant in sooner(snapshot, snapshot.queued[1].id, Runtimes(), 4)}
    assert told == {("fewer-nodes", "1"), ("start-small", "1 → 2")}
    narrow = replace(snapshot, queued=(first, a_queued("j", 8, limit=16 * HOUR)))
    assert isinstance(reason(narrow), BehindOthers)
    told = {(variant.change, variant.value) for variant in sooner(narrow, snapshot.queued[1].id, Runtimes(), 4)}
    assert ("shorter-limit", "8:00:00") in told


def test_fewer_nodes_now_and_the_others_later_tells_both_times() -> None:
    running = [a_running("r", {"n1": range(8)}, limit=9 * HOUR, ran=HOUR)]
    snapshot = a_snapshot([a_node("n1"), a_node("n2")], [a_queued("j", 8, 2, limit=24 * HOUR)], running)
    by_change = {variant.change: variant for variant in sooner(snapshot, snapshot.queued[0].id, Runtimes(), 4)}
    small = by_change["start-small"]
    assert (small.value, small.forecast.p90) == ("1 → 2", NOW)
    assert small.then is not None
    assert small.then.p90 is not None
    assert NOW + 2 * HOUR < small.then.p90 <= NOW + 9 * HOUR
    assert small.forecast == by_change["fewer-nodes"].forecast


def test_another_engine_a_limit_and_less_protection_are_tried_too() -> None:
    nodes = [a_node("n1"), a_node("n2", engine="slurm")]
    running = [a_running("r", {"n1": range(8)}, limit=9 * HOUR)]
    first = a_queued("first", 8, priority=Priority.HIGH, engines=("local",), limit=HOUR)
    picky = a_queued("picky", 8, engines=("local",), protected=True)
    told = {v.change for v in sooner(a_snapshot(nodes, [first, picky], running), picky.id, Runtimes(), 4)}
    assert told == {"other-engine"}
    wide = a_queued("wide", 8, 2, priority=Priority.HIGH, limit=HOUR)
    endless = a_queued("endless", 8)
    pair = a_snapshot([a_node("n1"), a_node("n2")], [wide, endless], running)
    told = {(v.change, v.value) for v in sooner(pair, endless.id, Runtimes(), 4)}
    assert ("shorter-limit", "4:00:00") in told


@settings(max_examples=60, deadline=None)
@given(lent())
def test_a_dumped_snapshot_gives_the_same_plan_elsewhere(snapshot: Snapshot) -> None:
    window = Window("w", NOW + HOUR, NOW + 2 * HOUR, frozenset({"n0"}))
    runtimes = Runtimes({"tiny-gpt": (1.5, 2.0)}, {("all",): (1.0,)})
    snapshot = replace(snapshot, windows=(window,), runtimes=runtimes, usage={("vision", "h200"): 2.5})
    again = loads(dumps(snapshot))
    assert again == snapshot
    assert schedule(again) == schedule(snapshot)


@pytest.mark.parametrize("text", ["", "{}", '{"format": 9, "snapshot": {}}', '{"format": 1, "snapshot": {"now": 3}}'])
def test_a_damaged_dump_is_refused(text: str) -> None:
    with pytest.raises(PlatformError, match="snapshot-unreadable"):
        loads(text)


def test_a_promise_goes_by_the_limits_of_what_runs_not_by_what_such_jobs_took_before() -> None:
    running = [a_running("r", {"n1": range(8)}, ran=HOUR, limit=9 * HOUR)]
    queue = [a_queued("first", 8, limit=HOUR)]
    snapshot = replace(a_snapshot([a_node()], queue, running), runtimes=Runtimes({"tiny-gpt": (7200.0,) * 30}))
    assert schedule(snapshot).waits[0].reserved_at == NOW + 8 * HOUR


def test_a_young_promise_leaves_free_nodes_to_others_and_one_of_a_day_keeps_them() -> None:
    nodes = [a_node(f"n{number}") for number in range(1, 5)]
    gives_back = {f"n{number}": range(8) for number in range(2, 5)}
    running = [a_running("r", gives_back, ran=timedelta(0), limit=HOUR)]
    long = a_queued("long", 8, age=MINUTE, limit=99 * HOUR)
    young, patient = (a_queued("gang", 8, 3, age=age, limit=HOUR) for age in (HOUR, timedelta(days=2)))
    plans = [schedule(a_snapshot(nodes, [gang, long], running)) for gang in (young, patient)]
    assert [started(plan) for plan in plans] == [["long"], []]
    assert [next(w for w in plan.waits if w.job == "gang").reserved_at for plan in plans] == [NOW + HOUR] * 2
