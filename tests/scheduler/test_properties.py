"""What holds in every cycle, whatever the cluster, the queue and the quotas."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from hypothesis import given, settings

from headway.domain.ids import JobId
from headway.domain.resources import NodeState, Placement
from headway.scheduler.cycle import schedule
from headway.scheduler.desk.desk import Desk
from headway.scheduler.desk.turn import Turn
from headway.scheduler.explain import sentence
from headway.scheduler.plan import Reason, Waits
from headway.scheduler.snapshot import QueuedJob, Snapshot
from tests.scheduler.clusters import snapshots


def in_order(snapshot: Snapshot) -> list[QueuedJob]:
    """The queue before anybody has started."""
    desk = Desk(snapshot)
    return [ask.job for _, ask in Turn(desk).queue()]


thorough = settings(max_examples=150, deadline=None)


def devices(placements: Iterable[Placement]) -> list[tuple[str, int]]:
    return [(placement.node, device) for placement in placements for device in placement.devices]


@thorough
@given(snapshots())
def test_a_device_is_never_given_twice(snapshot: Snapshot) -> None:
    taken = [device for job in snapshot.running for device in devices(job.placements)]
    for start in schedule(snapshot).starts:
        others = [h for h in snapshot.holds if h.until > snapshot.now and h.job != start.job]
        still_waiting = [hold for hold in others if hold.job not in {s.job for s in schedule(snapshot).starts}]
        kept = {device for hold in still_waiting for device in devices(hold.placements)}
        assert not kept & set(devices(start.placements))
        taken += devices(start.placements)
    assert max(Counter(taken).values(), default=1) == 1


@thorough
@given(snapshots())
def test_every_start_has_devices_that_exist_on_nodes_that_are_up(snapshot: Snapshot) -> None:
    up = {node.name: node for node in snapshot.nodes if node.state is NodeState.UP}
    for start in schedule(snapshot).starts:
        for node, device in devices(start.placements):
            assert 0 <= device < up[node].devices
            assert (up[node].engine, up[node].device_type) == (start.engine, start.device_type)


@thorough
@given(snapshots())
def test_a_gang_never_starts_in_part(snapshot: Snapshot) -> None:
    requests = {job.id: job.request for job in snapshot.queued}
    for start in schedule(snapshot).starts:
        request = requests[start.job]
        assert [len(p.devices) for p in start.placements] == [request.devices_per_node] * request.nodes
        assert len({p.node for p in start.placements}) == request.nodes
        assert request.accepts(start.device_type)


@thorough
@given(snapshots())
def test_no_start_takes_a_project_over_its_quota(snapshot: Snapshot) -> None:
    jobs = {job.id: job for job in snapshot.queued}
    plan = schedule(snapshot)
    used: Counter[tuple[str, str]] = Counter()
    for job in snapshot.running:
        used[job.project, job.device_type] += len(devices(job.placements))
    started = {start.job for start in plan.starts}
    for hold in snapshot.holds:
        if hold.until > snapshot.now and hold.job not in started:
            project = jobs[hold.job].project if hold.job in jobs else hold.project
            used[project, hold.device_type] += len(devices(hold.placements))
    for start in plan.starts:
        used[jobs[start.job].project, start.device_type] += len(devices(start.placements))
    for start in plan.starts:
        key = (jobs[start.job].project, start.device_type)
        assert used[key] <= snapshot.quotas[key]


@thorough
@given(snapshots())
def test_every_queued_job_is_in_the_plan_exactly_once(snapshot: Snapshot) -> None:
    plan = schedule(snapshot)
    told = Counter([start.job for start in plan.starts] + [wait.job for wait in plan.waits])
    assert told == Counter(job.id for job in snapshot.queued)


@thorough
@given(snapshots())
def test_a_wait_always_has_a_reason_a_position_and_those_ahead(snapshot: Snapshot) -> None:
    waits = schedule(snapshot).waits
    assert [wait.position for wait in waits] == list(range(1, len(waits) + 1))
    for wait in waits:
        assert isinstance(wait.reason, Reason)
        assert all(sentence(wait.reason, language) for language in ("zh", "en"))
        assert set(wait.ahead) <= {earlier.job for earlier in waits[: wait.position - 1]}


@thorough
@given(snapshots())
def test_the_same_snapshot_gives_the_same_plan(snapshot: Snapshot) -> None:
    shuffled = replace(
        snapshot,
        nodes=snapshot.nodes[::-1],
        running=snapshot.running[::-1],
        queued=snapshot.queued[::-1],
        holds=snapshot.holds[::-1],
    )
    assert schedule(snapshot) == schedule(snapshot) == schedule(shuffled)


@thorough
@given(snapshots())
def test_a_held_placement_goes_to_its_job(snapshot: Snapshot) -> None:
    up = {node.name for node in snapshot.nodes if node.state is NodeState.UP}
    jobs = {job.id: job for job in snapshot.queued}
    holds = {hold.job: hold for hold in snapshot.holds if hold.until > snapshot.now}
    for start in schedule(snapshot).starts:
        hold, request = holds.get(start.job), jobs[start.job].request
        if hold and request.accepts(hold.device_type) and {p.node for p in hold.placements} <= up:
            exact = [len(p.devices) for p in hold.placements] == [request.devices_per_node] * request.nodes
            quota = snapshot.quotas[jobs[start.job].project, hold.device_type]
            assert not exact or start.placements == hold.placements or quota < request.devices


@thorough
@given(snapshots())
def test_backfill_never_moves_a_promised_start(snapshot: Snapshot) -> None:
    """The promise a job gets when nobody stands behind it is the one it gets with the whole queue behind it."""
    order = in_order(snapshot)
    for wait in schedule(snapshot).waits:
        place = [job.id for job in order].index(wait.job)
        holders = {hold.job for hold in snapshot.holds}
        alone = replace(snapshot, queued=tuple(order[: place + 1] + [j for j in order[place + 1 :] if j.id in holders]))
        assert next(w for w in schedule(alone).waits if w.job == wait.job).reserved_at == wait.reserved_at


@thorough
@given(snapshots())
def test_a_promised_gang_fits_at_its_time_given_the_run_times_the_plan_used(snapshot: Snapshot) -> None:
    jobs = {job.id: job for job in snapshot.queued}
    for wait in schedule(snapshot).waits:
        if wait.reserved_at is not None:
            assert fits_then(snapshot, jobs[wait.job], wait, jobs)


def fits_then(snapshot: Snapshot, job: QueuedJob, wait: Waits, jobs: dict[JobId, QueuedJob]) -> bool:
    """Told apart from the room under test: lay out who still has what at the promised moment, and look."""
    assert wait.reserved_at is not None
    at: datetime = wait.reserved_at
    taken: set[tuple[str, int]] = set()
    used: Counter[tuple[str, str]] = Counter()
    plan = schedule(snapshot)
    for run in snapshot.running:
        end = run.expected_end or (run.placed_at + run.limit if run.limit else None)
        if end is None or max(end, snapshot.now) > at:
            taken.update(devices(run.placements))
            used[run.project, run.device_type] += len(devices(run.placements))
    started = {start.job for start in plan.starts}
    for hold in snapshot.holds:
        open_end = hold.job in jobs
        if hold.until > snapshot.now and hold.job not in started | {job.id} and (open_end or hold.until > at):
            taken.update(devices(hold.placements))
            project = jobs[hold.job].project if open_end else hold.project
            used[project, hold.device_type] += len(devices(hold.placements))
    for start in plan.starts:
        limit = jobs[start.job].limit
        if limit is None or snapshot.now + limit > at:
            taken.update(devices(start.placements))
            used[jobs[start.job].project, start.device_type] += len(devices(start.placements))
    return any(
        used[job.project, kind] + job.request.devices <= snapshot.quotas[job.project, kind]
        and sum(
            sum((n.name, d) not in taken for d in range(n.devices)) >= job.request.devices_per_node
            for n in snapshot.nodes
            if (n.engine, n.device_type, n.state) == (engine, kind, NodeState.UP)
        )
        >= job.request.nodes
        for engine, kind in {(n.engine, n.device_type) for n in snapshot.nodes}
        if job.request.accepts(kind)
    )
