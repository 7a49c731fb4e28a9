"""What people can count on over time: guarantees come back at once, age always wins, errors teach the ranges."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from headway.domain.ids import JobId
from headway.domain.quota import Branch, Entry, QuotaTree
from headway.scheduler.calibrate import Calibration
from headway.scheduler.cycle import schedule
from headway.scheduler.desk.desk import Desk
from headway.scheduler.desk.turn import Turn
from headway.scheduler.plan import Plan
from headway.scheduler.policy import Policy
from headway.scheduler.predict import History
from headway.scheduler.replay import Past, Replay
from headway.scheduler.snapshot import RunningJob, Runtimes, Snapshot
from tests.builders import HOUR, MINUTE, NOW, a_node, a_queued, a_running, a_snapshot

PROJECTS = ("vision", "speech", "music")
POLICY = Policy()
MOST_LATE = max(POLICY.short_first, POLICY.gang_first) + 2 * POLICY.fair_bound


def under(guarantees: dict[str, int]) -> QuotaTree:
    """Every project may borrow everything."""
    entries = {name: {"h200": Entry(devices, None)} for name, devices in guarantees.items()}
    return QuotaTree({name: Branch(name, None, True, own) for name, own in entries.items()})


@st.composite
def lent_out(draw: st.DrawFn) -> Snapshot:
    """Nodes filled by projects at random, all of them beyond the minimum run time; one device is wanted by each."""
    nodes = [a_node(f"n{n}", devices=4) for n in range(draw(st.integers(1, 4)))]
    cuts = sorted(draw(st.integers(0, 4 * len(nodes))) for _ in PROJECTS)
    shares = [after - before for before, after in zip([0, *cuts], cuts, strict=False)]
    running: list[RunningJob] = []
    for node in nodes:
        at = 0
        while at < 4:
            devices = min(4 - at, draw(st.integers(1, 3)))
            if draw(st.integers(0, 5)):
                ran = draw(st.integers(1, 9)) * HOUR
                fields = {"project": draw(st.sampled_from(PROJECTS))}
                running.append(a_running(f"r{len(running)}", {node.name: range(at, at + devices)}, ran=ran, **fields))
            at += devices
    queued = [a_queued(f"of-{name}", 1, project=name) for name in PROJECTS]
    tree = under(dict(zip(PROJECTS, shares, strict=True)))
    return replace(a_snapshot(nodes, queued, running), tree=tree)


def carried_out(snapshot: Snapshot, plan: Plan) -> Snapshot:
    """Victims have gone, whom they were taken for runs, and so does what started."""
    gone = {victim.job for preemption in plan.preemptions for victim in preemption.victims}
    projects = {job.id: job.project for job in snapshot.queued}
    given = [(start.job, start.placements) for start in plan.starts]
    given += [(preemption.job, preemption.placements) for preemption in plan.preemptions]
    seats = [replace(a_running(job, {}), placements=where, project=projects[job]) for job, where in given]
    left = [job for job in snapshot.running if job.id not in gone]
    waiting = [job for job in snapshot.queued if job.id not in {seat.id for seat in seats}]
    return replace(snapshot, running=(*left, *seats), queued=tuple(waiting))


@settings(max_examples=150, deadline=None)
@given(lent_out())
def test_a_guarantee_is_served_within_one_reclaim_once_no_borrower_is_young(snapshot: Snapshot) -> None:
    """At once, or on what its neighbour's reclaim has freed as well."""
    used = Counter[str]()
    for job in snapshot.running:
        used[job.project] += sum(len(placement.devices) for placement in job.placements)
    plan = schedule(snapshot)
    served = {start.job for start in plan.starts} | {preemption.job for preemption in plan.preemptions}
    served |= {start.job for start in schedule(carried_out(snapshot, plan)).starts}
    assert snapshot.tree is not None
    for asked in snapshot.queued:
        entry = snapshot.tree.entry(asked.project, "h200")
        assert entry is not None
        assert asked.id in served or used[asked.project] + 1 > entry.guaranteed


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_job_stands_before_all_that_come_a_bounded_time_after_it(data: st.DataObject) -> None:
    """Whatever their lengths are believed to be, and whatever their projects have used."""
    seconds = st.floats(1, 1e7)
    lengths = {f"t{n}": (data.draw(seconds),) for n in range(4)}
    queue = [
        a_queued(
            f"j{n}",
            data.draw(st.integers(1, 4)),
            data.draw(st.integers(1, 3)),
            age=data.draw(st.integers(0, 20000)) * MINUTE,
            project=data.draw(st.sampled_from(PROJECTS)),
            template=data.draw(st.sampled_from(sorted(lengths))),
        )
        for n in range(data.draw(st.integers(2, 9)))
    ]
    usage = {(name, "h200"): data.draw(st.floats(0, 1e6)) for name in PROJECTS}
    nodes = [a_node(f"n{n}", devices=4) for n in range(3)]
    snapshot = replace(a_snapshot(nodes, queue), usage=usage, runtimes=Runtimes(lengths))
    snapshot = replace(snapshot, tree=under(dict.fromkeys(PROJECTS, 0)))
    desk = Desk(snapshot)
    order = [ask.job for _, ask in Turn(desk).queue()]
    for place, job in enumerate(order):
        for later in order[place + 1 :]:
            assert job.submitted_at - later.submitted_at <= MOST_LATE


@settings(max_examples=8, deadline=None)
@given(st.integers(1, 4), st.integers(20, 60), st.integers(10, 60))
def test_an_endless_stream_of_shorter_jobs_holds_nobody_up_for_ever(devices: int, every: int, lasts: int) -> None:
    """One job that needs everything and is believed to be long, and small ones that keep coming for ten days."""
    tree = under({"vision": 0})
    snapshot = replace(a_snapshot([a_node()]), tree=tree)
    whole = a_queued("whole", 8, submitted_at=NOW, template="long", limit=timedelta(days=30))
    past = [Past(whole, 0.0, 3600.0)]
    first = a_queued("s", devices, submitted_at=NOW, template="short", limit=timedelta(hours=2))
    past = [Past(replace(first, id=JobId("first")), 0.0, 60.0 * lasts), *past]
    for n in range(10 * 1440 // every):
        job = replace(first, id=JobId(f"s{n}"), submitted_at=NOW + n * every * MINUTE)
        past.append(Past(job, 60.0 * n * every, 60.0 * lasts))
    history = History()
    Replay(Desk(replace(snapshot, runtimes=history.runtimes)), history).run(past)
    bound = MOST_LATE + timedelta(hours=2)
    assert past[1].wait <= bound.total_seconds()


@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)), min_size=1, max_size=60), st.floats(0, 1e6))
def test_a_range_is_never_upside_down(outcomes: list[tuple[float, float]], asked: float) -> None:
    known = Calibration()
    for foretold, actual in outcomes:
        known.learn("8", foretold, known.range("8", foretold, 2 * foretold)[1], actual)
    middle, late = known.range("8", asked, 2 * asked)
    assert 0 <= middle <= late


def test_where_errors_keep_their_size_nine_of_ten_starts_come_within_the_bound() -> None:
    known, held = Calibration(), 0
    for n in range(2000):
        actual = 3600.0 + 600.0 * ((n * 7919) % 101 - 50) / 50
        _, late = known.range("8", 3600.0, 3600.0)
        held += actual <= late
        known.learn("8", 3600.0, late, actual)
    assert 0.88 <= held / 2000 <= 0.95
