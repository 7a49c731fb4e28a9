"""Borrowing and taking back: quota trees, grants, budgets, and whose jobs are taken."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from headway.domain.ids import JobId
from headway.domain.quota import Branch, Budget, Entry, Grant, QuotaTree
from headway.domain.quota_table import read_tree
from headway.domain.resources import NodeState
from headway.scheduler.cycle import schedule
from headway.scheduler.plan import (
    BorrowCeiling,
    BudgetSpent,
    CapacityShort,
    NotLent,
    PersonCeiling,
    Plan,
    ProtectedNeedsGuarantee,
    Reclaiming,
)
from headway.scheduler.snapshot import RunningJob, Snapshot
from tests.builders import HOUR, MINUTE, NOW, a_node, a_queued, a_running, a_snapshot
from tests.scheduler.clusters import PROJECTS, TYPES, snapshots

thorough = settings(max_examples=150, deadline=None)
ceilings = st.none() | st.integers(0, 8)
entries = st.builds(Entry, st.integers(0, 6), ceilings, ceilings, st.just(1.0), ceilings)


@st.composite
def lent(draw: st.DrawFn) -> Snapshot:
    """A random cluster under a random tree, some jobs protected, some saved, some already stopping."""
    snapshot = draw(snapshots())
    branches = {
        name: Branch(name, "lab", True, {kind: draw(entries) for kind in TYPES if draw(st.booleans())})
        for name in PROJECTS
    }
    branches["lab"] = Branch("lab", None, False, {"h200": Entry(12, draw(ceilings))})
    running = tuple(
        replace(
            job,
            protected=draw(st.booleans()),
            preemptible=draw(st.integers(0, 3)) > 0,
            stopping=draw(st.integers(0, 4)) == 0,
            saved_at=draw(st.none() | st.just(NOW - MINUTE)),
        )
        for job in snapshot.running
    )
    queued = tuple(replace(job, protected=draw(st.booleans())) for job in snapshot.queued)
    return replace(snapshot, tree=QuotaTree(branches), running=running, queued=queued)


def devices(job: RunningJob) -> int:
    return sum(len(placement.devices) for placement in job.placements)


def entry(snapshot: Snapshot, project: str, kind: str) -> Entry:
    assert snapshot.tree is not None
    return snapshot.tree.entry(project, kind) or Entry()


def used_by(snapshot: Snapshot, plan: Plan) -> Counter[tuple[str, str]]:
    """Devices by project and type once the plan's starts have begun; holds of started jobs are over."""
    jobs = {job.id: job for job in snapshot.queued}
    used: Counter[tuple[str, str]] = Counter()
    for job in snapshot.running:
        used[job.project, job.device_type] += devices(job)
    for start in plan.starts:
        used[jobs[start.job].project, start.device_type] += jobs[start.job].request.devices
    return used


@thorough
@given(lent())
def test_no_start_takes_a_project_over_its_ceiling(snapshot: Snapshot) -> None:
    jobs = {job.id: job for job in snapshot.queued}
    plan = schedule(snapshot)
    used = used_by(snapshot, plan)
    for start in plan.starts:
        own = entry(snapshot, jobs[start.job].project, start.device_type)
        assert own.ceiling is None or used[jobs[start.job].project, start.device_type] <= own.ceiling


@thorough
@given(lent())
def test_a_protected_job_never_starts_on_borrowed_quota_and_is_never_taken(snapshot: Snapshot) -> None:
    jobs = {job.id: job for job in snapshot.queued}
    running = {job.id: job for job in snapshot.running}
    plan = schedule(snapshot)
    assert not [start for start in plan.starts if jobs[start.job].protected and start.borrowed]
    for preemption in plan.preemptions:
        for victim in preemption.victims:
            job = running[victim.job]
            assert job.preemptible
            assert not job.protected
            assert not job.stopping
            assert NOW - job.placed_at >= snapshot.policy.min_run


@thorough
@given(lent())
def test_only_borrowers_are_taken_and_only_for_a_gang_within_its_guarantee(snapshot: Snapshot) -> None:
    running = {job.id: job for job in snapshot.running}
    jobs = {job.id: job for job in snapshot.queued}
    plan = schedule(snapshot)
    used = used_by(snapshot, plan)
    taken = [victim.job for preemption in plan.preemptions for victim in preemption.victims]
    assert len(taken) == len(set(taken))
    for preemption in plan.preemptions:
        mine, kind = jobs[preemption.job], preemption.device_type
        assert used[mine.project, kind] + mine.request.devices <= entry(snapshot, mine.project, kind).guaranteed
        for victim in preemption.victims:
            theirs = running[victim.job]
            assert theirs.project != mine.project
            assert used[theirs.project, kind] > entry(snapshot, theirs.project, kind).guaranteed


@thorough
@given(lent())
def test_freed_room_is_the_whole_gang_and_nobody_elses(snapshot: Snapshot) -> None:
    plan = schedule(snapshot)
    jobs = {job.id: job for job in snapshot.queued}
    taken = {victim.job for preemption in plan.preemptions for victim in preemption.victims}
    busy = {(p.node, d) for job in snapshot.running if job.id not in taken for p in job.placements for d in p.devices}
    busy |= {(p.node, d) for start in plan.starts for p in start.placements for d in p.devices}
    up = {node.name: node for node in snapshot.nodes if node.state is NodeState.UP}
    for preemption in plan.preemptions:
        request = jobs[preemption.job].request
        assert [len(p.devices) for p in preemption.placements] == [request.devices_per_node] * request.nodes
        mine = {(p.node, d) for p in preemption.placements for d in p.devices}
        assert not mine & busy
        assert all(node in up and device < up[node].devices for node, device in mine)
        busy |= mine


@thorough
@given(lent())
def test_every_job_is_in_the_plan_once_with_a_reason_and_again_the_same(snapshot: Snapshot) -> None:
    plan = schedule(snapshot)
    told = Counter([start.job for start in plan.starts] + [wait.job for wait in plan.waits])
    assert told == Counter(job.id for job in snapshot.queued)
    assert plan == schedule(replace(snapshot, running=snapshot.running[::-1], queued=snapshot.queued[::-1]))


@thorough
@given(lent())
def test_no_job_that_is_within_its_guarantee_is_ever_taken_so_nobody_evicts_in_turn(snapshot: Snapshot) -> None:
    """Whoever something was taken for stays out of reach while it runs, whatever comes after."""
    jobs = {job.id: job for job in snapshot.queued}
    plan = schedule(snapshot)
    for preemption in plan.preemptions:
        mine = jobs[preemption.job]
        gone = {victim.job for victim in preemption.victims}
        seat = a_running(mine.id, {p.node: p.devices for p in preemption.placements}, ran=timedelta(0))
        seat = replace(seat, project=mine.project, device_type=preemption.device_type)
        left = tuple(job for job in snapshot.running if job.id not in gone)
        back = [a_queued(victim, 1, project=p.project) for victim in gone for p in snapshot.running if p.id == victim]
        later = replace(snapshot, now=NOW + 9 * HOUR, running=(*left, seat), queued=tuple(back), holds=())
        assert mine.id not in {v.job for again in schedule(later).preemptions for v in again.victims}


def under(snapshot: Snapshot, **projects: Entry) -> Snapshot:
    branches = {name: Branch(name, None, True, {"h200": own}) for name, own in projects.items()}
    return replace(snapshot, tree=QuotaTree(branches))


def reason(snapshot: Snapshot, job: str = "j") -> object:
    return next(wait.reason for wait in schedule(snapshot).waits if wait.job == job)


OPEN = Entry(0, None)


def test_idle_quota_is_lent_and_taken_back_by_what_loses_the_least_work() -> None:
    running = [
        a_running("long", {"n1": range(4)}, ran=9 * HOUR, project="speech"),
        a_running("saved", {"n1": range(4, 8)}, ran=9 * HOUR, project="speech", saved_at=NOW - MINUTE),
    ]
    snapshot = under(a_snapshot([a_node()], [a_queued("j", 4)], running), vision=Entry(4, None), speech=OPEN)
    plan = schedule(snapshot)
    assert [victim.job for victim in plan.preemptions[0].victims] == ["saved"]
    assert plan.preemptions[0].price == 4 * MINUTE
    assert reason(snapshot) == Reclaiming("h200", wanted=4, victims=1)


def test_a_borrower_inside_its_minimum_run_time_is_left_alone() -> None:
    running = [a_running("young", {"n1": range(8)}, ran=10 * MINUTE, project="speech")]
    snapshot = under(a_snapshot([a_node()], [a_queued("j", 4)], running), vision=Entry(4, None), speech=OPEN)
    assert not schedule(snapshot).preemptions
    assert isinstance(reason(snapshot), CapacityShort)
    assert schedule(replace(snapshot, now=NOW + HOUR)).preemptions


def test_a_borrower_takes_nothing_back() -> None:
    running = [a_running("r", {"n1": range(8)}, ran=9 * HOUR, project="speech")]
    snapshot = under(a_snapshot([a_node()], [a_queued("j", 4)], running), vision=Entry(3, None), speech=OPEN)
    assert not schedule(snapshot).preemptions


def test_each_bound_is_told_by_its_own_reason() -> None:
    nodes, queue = [a_node()], [a_queued("j", 4)]
    snapshot = a_snapshot(nodes, queue)
    assert reason(under(snapshot, vision=Entry(1, 2))) == BorrowCeiling("vision", "h200", 1, 3, 0, 4)
    assert reason(under(snapshot, vision=Entry(8, per_person=3))) == PersonCeiling("ann", "vision", "h200", 3, 0, 4)
    spent = replace(under(snapshot, vision=Entry(8, budget=Budget(1, 9))), spent={("vision", "h200"): 9.0})
    assert reason(spent) == BudgetSpent("vision", "h200", 9, 9.0)
    protected = replace(snapshot, queued=(replace(queue[0], protected=True),))
    assert reason(under(protected, vision=Entry(3, None))) == ProtectedNeedsGuarantee("vision", "h200", 3, 0, 4)


def test_what_is_not_lent_stays_free() -> None:
    snapshot = a_snapshot([a_node()], [a_queued("j", 4), a_queued("k", 1, project="speech")])
    kept = under(snapshot, vision=OPEN, speech=Entry(6, lend_ceiling=1))
    assert reason(kept) == NotLent("h200", wanted=4, free=7, kept=4)


def test_a_grant_raises_the_guarantee_while_it_lasts() -> None:
    snapshot = under(a_snapshot([a_node()], [a_queued("j", 4)]), vision=Entry(2))
    granted = replace(snapshot, grants=(Grant("vision", "h200", 2, NOW, NOW + HOUR),))
    assert [start.job for start in schedule(granted).starts] == [JobId("j")]
    assert not schedule(replace(granted, now=NOW + HOUR)).starts


def test_jobs_within_their_guarantee_stand_before_borrowers() -> None:
    queue = [a_queued("borrows", 8), a_queued("owns", 8, age=MINUTE, project="speech")]
    snapshot = under(a_snapshot([a_node()], queue), vision=OPEN, speech=Entry(8, None))
    assert [start.job for start in schedule(snapshot).starts] == [JobId("owns")]


def test_the_project_that_used_less_goes_first() -> None:
    queue = [a_queued("a", 8, age=2 * MINUTE), a_queued("b", 8, age=MINUTE, project="speech")]
    snapshot = under(a_snapshot([a_node()], queue), vision=OPEN, speech=OPEN)
    assert [start.job for start in schedule(snapshot).starts] == [JobId("a")]
    used = replace(snapshot, usage={("vision", "h200"): 900.0, ("speech", "h200"): 100.0})
    assert [start.job for start in schedule(used).starts] == [JobId("b")]


DEPARTMENT = read_tree(
    """
[departments.research]
cards.h200 = { guaranteed = 8 }

[projects.nlp]
department = "research"
cards.h200 = { guaranteed = 4, borrow_ceiling = "any" }

[projects.vision]
department = "research"
cards.h200 = { guaranteed = 4, borrow_ceiling = "any" }
"""
)


def test_what_fills_a_departments_ceiling_is_taken_back_for_a_sibling_within_its_guarantee() -> None:
    """Although nodes are free: it is the ceiling that is used up, not the cards."""
    own = a_running("own", {"n1": range(4)}, project="nlp", ran=2 * HOUR)
    extra = a_running("extra", {"n1": range(4, 8)}, project="nlp", ran=HOUR)
    mine = a_queued("mine", 4, project="vision")
    for nodes in ([a_node("n1")], [a_node("n1"), a_node("n2")]):
        plan = schedule(replace(a_snapshot(nodes, [mine], [own, extra]), tree=DEPARTMENT))
        (preemption,) = plan.preemptions
        assert (preemption.job, [victim.job for victim in preemption.victims]) == ("mine", ["extra"])


def test_a_ceiling_is_no_reason_to_take_anything_for_a_borrower() -> None:
    own = a_running("own", {"n1": range(4)}, project="nlp", ran=2 * HOUR)
    extra = a_running("extra", {"n1": range(4, 8)}, project="nlp", ran=HOUR)
    greedy = a_queued("greedy", 8, project="vision")
    plan = schedule(replace(a_snapshot([a_node("n1"), a_node("n2")], [greedy], [own, extra]), tree=DEPARTMENT))
    assert plan.preemptions == ()
    (waits,) = plan.waits
    assert waits.reason.code == "borrow-ceiling"
