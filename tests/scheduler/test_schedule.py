"""Stories of one cycle: who starts, who waits, and what each is told."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from headway.domain.job import Priority
from headway.domain.resources import NodeState
from headway.scheduler.cycle import schedule
from headway.scheduler.plan import BehindOthers, CapacityShort, NodesUnfit, Plan, QuotaReached, Waits
from headway.scheduler.snapshot import QueuedJob
from tests.builders import HOUR, MINUTE, NOW, a_hold, a_node, a_queued, a_running, a_snapshot, placements


def started(plan: Plan) -> Mapping[str, Mapping[str, tuple[int, ...]]]:
    return {start.job: {p.node: p.devices for p in start.placements} for start in plan.starts}


def waits(plan: Plan, job: str) -> Waits:
    return next(wait for wait in plan.waits if wait.job == job)


def test_an_empty_queue_gives_an_empty_plan() -> None:
    assert schedule(a_snapshot([a_node()])) == Plan(1, (), ())


def test_a_job_that_fits_starts_on_the_fullest_node_that_takes_it() -> None:
    running = [a_running("r", {"n1": (0, 1, 2, 3)})]
    plan = schedule(a_snapshot([a_node("n1"), a_node("n2")], [a_queued("j", 4)], running))
    assert started(plan) == {"j": {"n1": (4, 5, 6, 7)}}


def test_among_nodes_that_fit_exactly_a_whole_one_is_taken_first() -> None:
    running = [a_running("r", {"n1": (0, 1, 2, 3)})]
    plan = schedule(a_snapshot([a_node("n1"), a_node("n2", 4)], [a_queued("j", 4)], running))
    assert started(plan) == {"j": {"n2": (0, 1, 2, 3)}}


def test_a_gang_waits_whole_when_one_of_its_nodes_is_missing() -> None:
    running = [a_running("r", {"n2": (0,)})]
    plan = schedule(a_snapshot([a_node("n1"), a_node("n2")], [a_queued("gang", 8, 2)], running))
    assert started(plan) == {}
    assert waits(plan, "gang").reason == CapacityShort("h200", wanted=16, nodes=2, free=15, held=0)


def test_a_gang_never_spans_two_engines_or_two_device_types() -> None:
    nodes = [a_node("n1"), a_node("n2", engine="slurm"), a_node("n3", device_type="910b")]
    plan = schedule(a_snapshot(nodes, [a_queued("gang", 8, 2)]))
    assert started(plan) == {}


def test_a_gang_gets_distinct_nodes() -> None:
    plan = schedule(a_snapshot([a_node("n1", 2), a_node("n2", 2)], [a_queued("gang", 1, 2)]))
    assert started(plan) == {"gang": {"n1": (0,), "n2": (0,)}}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (a_queued("z", 8, resuming=True, age=MINUTE), a_queued("a", 8, priority=Priority.URGENT, age=HOUR)),
        (a_queued("z", 8, priority=Priority.HIGH, age=MINUTE), a_queued("a", 8, age=HOUR)),
        (a_queued("z", 8, age=HOUR), a_queued("a", 8, age=MINUTE)),
        (a_queued("a", 8), a_queued("z", 8)),
    ],
    ids=["a resuming job before an urgent one", "class before age", "the older first", "the id breaks ties"],
)
def test_the_queue_is_ordered(first: QueuedJob, second: QueuedJob) -> None:
    plan = schedule(a_snapshot([a_node()], [second, first]))
    assert list(started(plan)) == [first.id]
    assert (waits(plan, second.id).position, waits(plan, second.id).ahead) == (1, ())


def test_a_job_over_its_projects_quota_waits_with_the_numbers() -> None:
    running = [a_running("r", {"n1": (0, 1)})]
    plan = schedule(a_snapshot([a_node()], [a_queued("j", 3)], running, quotas={("vision", "h200"): 4}))
    assert waits(plan, "j").reason == QuotaReached("vision", "h200", quota=4, used=2, wanted=3)


def test_a_project_without_a_quota_of_a_type_starts_nothing_on_it() -> None:
    plan = schedule(a_snapshot([a_node()], [a_queued("j")], quotas={}))
    assert waits(plan, "j").reason == QuotaReached("vision", "h200", quota=0, used=0, wanted=1)


def test_a_job_that_waits_only_for_quota_holds_up_nobody() -> None:
    queue = [a_queued("over", 8), a_queued("small", 1, age=MINUTE), a_queued("other", 4, project="speech", age=MINUTE)]
    quotas = {("vision", "h200"): 2, ("speech", "h200"): 8}
    plan = schedule(a_snapshot([a_node()], queue, quotas=quotas))
    assert set(started(plan)) == {"small", "other"}


def test_starts_of_one_cycle_share_one_quota() -> None:
    plan = schedule(a_snapshot([a_node()], [a_queued("a", 2), a_queued("b", 2)], quotas={("vision", "h200"): 3}))
    assert set(started(plan)) == {"a"}
    assert waits(plan, "b").reason == QuotaReached("vision", "h200", quota=3, used=2, wanted=2)


def test_a_held_claim_counts_as_used() -> None:
    holds = [a_hold("broke", {"n1": (0, 1)}, project="vision")]
    plan = schedule(a_snapshot([a_node()], [a_queued("j", 1)], holds=holds, quotas={("vision", "h200"): 2}))
    assert waits(plan, "j").reason == QuotaReached("vision", "h200", quota=2, used=2, wanted=1)


def test_a_jobs_own_hold_counts_once() -> None:
    queue = [a_queued("back", 2, resuming=True), a_queued("mate", 1)]
    holds = [a_hold("back", {"n1": (4, 5)})]
    plan = schedule(a_snapshot([a_node()], queue, holds=holds, quotas={("vision", "h200"): 3}))
    assert started(plan) == {"back": {"n1": (4, 5)}, "mate": {"n1": (0,)}}


def test_a_hold_of_another_shape_is_no_placement_for_the_gang() -> None:
    holds = [replace(a_hold("back", {"n1": ()}), placements=(*placements({"n1": (0,)}), *placements({"n1": (1,)})))]
    plan = schedule(a_snapshot([a_node("n1", 2), a_node("n2", 2)], [a_queued("back", 1, 2)], holds=holds))
    assert started(plan) == {"back": {"n1": (0,), "n2": (0,)}}


def test_held_devices_go_to_their_job_exactly() -> None:
    queue = [a_queued("urgent", 4, priority=Priority.URGENT), a_queued("back", 2, 2, resuming=True, age=MINUTE)]
    holds = [a_hold("back", {"n2": (1, 3), "n1": (0, 2)})]
    plan = schedule(a_snapshot([a_node("n1", 4), a_node("n2", 4), a_node("n3", 4)], queue, holds=holds))
    assert started(plan) == {"back": {"n2": (1, 3), "n1": (0, 2)}, "urgent": {"n3": (0, 1, 2, 3)}}


def test_a_hold_is_closed_to_others_even_to_more_urgent_ones() -> None:
    queue = [a_queued("urgent", 4, priority=Priority.URGENT)]
    plan = schedule(a_snapshot([a_node("n1", 4)], queue, holds=[a_hold("broke", {"n1": (0, 1)})]))
    assert waits(plan, "urgent").reason == CapacityShort("h200", wanted=4, nodes=1, free=2, held=2)


def test_a_hold_that_has_expired_is_open_to_all() -> None:
    plan = schedule(a_snapshot([a_node("n1", 4)], [a_queued("j", 4)], holds=[a_hold("b", {"n1": (0, 1)}, until=NOW)]))
    assert set(started(plan)) == {"j"}


def test_a_job_whose_held_node_is_cordoned_starts_elsewhere_and_gives_the_rest_back() -> None:
    nodes = [a_node("n1", 2, state=NodeState.CORDONED), a_node("n2", 2), a_node("n3", 2), a_node("n4", 4)]
    queue = [a_queued("back", 2, 2, resuming=True), a_queued("next", 4)]
    plan = schedule(a_snapshot(nodes, queue, holds=[a_hold("back", {"n1": (0, 1), "n4": (0, 1)})]))
    assert started(plan) == {"back": {"n2": (0, 1), "n3": (0, 1)}, "next": {"n4": (0, 1, 2, 3)}}


@pytest.mark.parametrize("state", [NodeState.CORDONED, NodeState.DOWN, NodeState.UNKNOWN])
def test_a_node_that_is_not_up_takes_no_start(state: NodeState) -> None:
    plan = schedule(a_snapshot([a_node("n1", state=state)], [a_queued("j")]))
    assert waits(plan, "j").reason == NodesUnfit("h200", nodes=1)


def test_a_job_that_waits_for_nodes_to_come_up_holds_up_nobody() -> None:
    nodes = [a_node("n1"), a_node("n2", state=NodeState.DOWN)]
    plan = schedule(a_snapshot(nodes, [a_queued("wide", 8, 2), a_queued("narrow", 8, age=MINUTE)]))
    assert set(started(plan)) == {"narrow"}
    assert waits(plan, "wide").reason == NodesUnfit("h200", nodes=1)


def test_the_first_blocked_job_is_promised_the_end_of_what_it_waits_for() -> None:
    running = [a_running("r", {"n1": (0, 1, 2, 3)}, ran=HOUR, limit=3 * HOUR)]
    plan = schedule(a_snapshot([a_node()], [a_queued("wide", 8), a_queued("wider", 8, age=MINUTE)], running))
    assert waits(plan, "wide").reserved_at == NOW + 2 * HOUR
    assert waits(plan, "wider").reserved_at is None


def test_progress_is_believed_before_the_limit() -> None:
    running = [a_running("r", {"n1": (0,)}, limit=9 * HOUR, expected_end=NOW + HOUR)]
    plan = schedule(a_snapshot([a_node()], [a_queued("wide", 8)], running))
    assert waits(plan, "wide").reserved_at == NOW + HOUR


def test_an_end_that_is_overdue_may_come_at_any_moment() -> None:
    running = [a_running("r", {"n1": (0,)}, ran=2 * HOUR, limit=HOUR)]
    plan = schedule(a_snapshot([a_node()], [a_queued("wide", 8)], running))
    assert waits(plan, "wide").reserved_at == NOW


def test_a_short_job_passes_a_promised_one_and_a_long_one_does_not() -> None:
    running = [a_running("r", {"n1": (0, 1, 2, 3)}, ran=HOUR, limit=3 * HOUR)]
    queue = [
        a_queued("wide", 8, limit=HOUR),
        a_queued("long", 2, age=3 * MINUTE, limit=3 * HOUR),
        a_queued("endless", 2, age=2 * MINUTE),
        a_queued("short", 2, age=MINUTE, limit=2 * HOUR),
    ]
    plan = schedule(a_snapshot([a_node()], queue, running))
    assert set(started(plan)) == {"short"}
    assert waits(plan, "long").reason == BehindOthers("wide", NOW + 2 * HOUR)
    assert waits(plan, "endless").reason == BehindOthers("wide", NOW + 2 * HOUR)


def test_a_long_job_may_use_what_the_promised_one_does_not_need() -> None:
    running = [a_running("r", {"n1": (0, 1)}, limit=3 * HOUR)]
    queue = [a_queued("most", 7), a_queued("one", 1, age=2 * MINUTE), a_queued("two", 1, age=MINUTE)]
    plan = schedule(a_snapshot([a_node()], queue, running))
    assert set(started(plan)) == {"one"}
    assert isinstance(waits(plan, "two").reason, BehindOthers)


def test_against_a_promise_at_an_unknown_time_even_a_short_job_leaves_its_devices_alone() -> None:
    running = [a_running("r", {"n1": (0,)}), a_running("s", {"n2": (0, 1)})]
    queue = [
        a_queued("wide", 8, priority=Priority.HIGH),
        a_queued("short", 7, age=MINUTE, limit=MINUTE),
        a_queued("small", 6, age=MINUTE),
    ]
    plan = schedule(a_snapshot([a_node("n1"), a_node("n2")], queue, running))
    assert started(plan) == {"small": {"n2": (2, 3, 4, 5, 6, 7)}}
    assert waits(plan, "short").reason == BehindOthers("wide", None)


def test_a_later_job_of_the_same_project_leaves_the_promised_quota_alone() -> None:
    nodes = [a_node("n1", 4), a_node("n2", 4)]
    running = [a_running("r", {"n1": (0, 1, 2, 3), "n2": (0,)}, project="speech", limit=2 * HOUR)]
    queue = [
        a_queued("gang", 4, priority=Priority.HIGH),
        a_queued("mate", 2, age=2 * MINUTE, priority=Priority.HIGH),
        a_queued("brief", 2, age=MINUTE, limit=MINUTE),
    ]
    quotas = {("vision", "h200"): 5, ("speech", "h200"): 8}
    plan = schedule(a_snapshot(nodes, queue, running, quotas=quotas))
    assert set(started(plan)) == {"brief"}
    plan = schedule(a_snapshot(nodes, queue[:2], running, quotas=quotas))
    assert waits(plan, "mate").reason == BehindOthers("gang", NOW + HOUR)


def test_a_promise_in_one_pool_leaves_other_pools_open() -> None:
    nodes = [a_node("n1", 2), a_node("n2", 8, device_type="910b")]
    running = [a_running("r", {"n1": (0,)})]
    queue = [a_queued("a", 2, types=("h200",)), a_queued("b", 2, types=("910b",), age=MINUTE)]
    assert set(started(schedule(a_snapshot(nodes, queue, running)))) == {"b"}


def test_the_preferred_device_type_is_taken_while_it_has_room() -> None:
    nodes = [a_node("n1", 2), a_node("n2", 4, device_type="910b")]
    queue = [a_queued(name, 2, types=("910b", "h200")) for name in "abc"]
    assert started(schedule(a_snapshot(nodes, queue))) == {
        "a": {"n2": (0, 1)},
        "b": {"n2": (2, 3)},
        "c": {"n1": (0, 1)},
    }


def test_devices_held_in_a_less_wanted_pool_still_win() -> None:
    nodes = [a_node("n1", 2), a_node("n2", 2, device_type="910b")]
    queue = [a_queued("j", 2, types=("910b", "h200"), resuming=True)]
    assert started(schedule(a_snapshot(nodes, queue, holds=[a_hold("j", {"n1": (0, 1)})]))) == {"j": {"n1": (0, 1)}}


def test_the_reason_nearest_to_a_start_is_told() -> None:
    nodes = [a_node("n1", 2), a_node("n2", 2, device_type="910b")]
    running = [a_running("r", {"n1": (0,)}, project="speech")]
    queue = [a_queued("j", 2, types=("910b", "h200"))]
    plan = schedule(a_snapshot(nodes, queue, running, quotas={("vision", "h200"): 2}))
    assert waits(plan, "j").reason == CapacityShort("h200", wanted=2, nodes=1, free=1, held=0)


def test_those_ahead_are_the_earlier_ones_that_may_use_the_same_pool() -> None:
    nodes = [a_node("n1", 1), a_node("n2", 1, device_type="910b")]
    running = [a_running("r", {"n1": (0,)}), a_running("s", {"n2": (0,)}, device_type="910b")]
    types = {"a": ("h200",), "b": ("910b",), "c": (), "d": ("h200",), "e": ("910b",)}
    plan = schedule(a_snapshot(nodes, [a_queued(name, types=wanted) for name, wanted in types.items()], running))
    told = {wait.job: (wait.position, "".join(wait.ahead)) for wait in plan.waits}
    assert told == {"a": (1, ""), "b": (2, ""), "c": (3, "ab"), "d": (4, "ac"), "e": (5, "bc")}


def test_a_job_for_a_device_type_that_is_gone_waits_with_a_reason() -> None:
    plan = schedule(a_snapshot([a_node()], [a_queued("j", 2, types=("910b",))]))
    assert waits(plan, "j").reason == CapacityShort("910b", wanted=2, nodes=1, free=0, held=0)


def test_devices_of_a_running_job_on_a_vanished_node_still_count_for_its_quota() -> None:
    running = [a_running("r", {"gone": (0, 1)})]
    plan = schedule(a_snapshot([a_node()], [a_queued("j", 2)], running, quotas={("vision", "h200"): 3}))
    assert isinstance(waits(plan, "j").reason, QuotaReached)


def test_the_plan_names_engine_type_and_snapshot_version() -> None:
    start = schedule(a_snapshot([a_node("n1", 2, engine="slurm")], [a_queued("j", 2)])).starts[0]
    assert (start.engine, start.device_type, start.placements) == ("slurm", "h200", placements({"n1": (0, 1)}))
