"""Start-time ranges: right where run times are known, honest where they are not."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.domain.ids import JobId, attempt_id
from headway.domain.resources import NodeState
from headway.scheduler.cycle import schedule
from headway.scheduler.desk.desk import Desk
from headway.scheduler.draws import Draws
from headway.scheduler.forecast import coming, forecast
from headway.scheduler.lane import Reach
from headway.scheduler.plan import Forecast
from headway.scheduler.policy import Policy
from headway.scheduler.predict import kinds_of, traits_of
from headway.scheduler.share import decayed
from headway.scheduler.snapshot import RunningJob, Runtimes, Snapshot
from tests.builders import HOUR, MINUTE, NOW, a_hold, a_node, a_queued, a_running, a_snapshot
from tests.scheduler.clusters import snapshots

NO_HISTORY = Runtimes()


def hours(*lengths: float) -> tuple[float, ...]:
    return tuple(length * 3600.0 for length in lengths)


def stepped_by_hand(snapshot: Snapshot, exact: dict[JobId, timedelta]) -> dict[JobId, datetime]:
    """What really happens when jobs run exactly that long: a cycle every half hour and after every start, straight from
    `schedule`, until nothing changes any more."""
    began: dict[JobId, datetime] = {}
    seated = {job.id: job for job in snapshot.running}
    for _ in range(400):
        queue = {job.id: job for job in snapshot.queued}
        running = [job for job in snapshot.running if job.placed_at + exact[job.id] > snapshot.now]
        for start in schedule(replace(snapshot, running=tuple(running))).starts:
            job = queue.pop(start.job)
            began[job.id] = snapshot.now
            seated[job.id] = RunningJob(
                id=job.id,
                attempt=attempt_id(job.id, 1),
                name=job.name,
                project=job.project,
                owner=job.owner,
                priority=job.priority,
                device_type=start.device_type,
                placements=start.placements,
                placed_at=snapshot.now,
                template=job.template,
                limit=job.limit,
            )
            running.append(seated[job.id])
        holds = tuple(hold for hold in snapshot.holds if hold.job not in began and hold.until > snapshot.now)
        if not queue or not (running or holds):
            break
        again = len(queue) < len(snapshot.queued)
        now = snapshot.now if again else snapshot.now + HOUR / 2
        used = usage_since(NOW, seated.values(), exact, now)
        snapshot = replace(
            snapshot, now=now, running=tuple(running), queued=tuple(queue.values()), holds=holds, usage=used
        )
    return began


def usage_since(
    first: datetime, seated: Iterable[RunningJob], exact: dict[JobId, timedelta], now: datetime
) -> dict[tuple[str, str], float]:
    """What the store would say of everybody's use from `first` on."""
    runs = [
        (
            job.project,
            job.device_type,
            max(first, job.placed_at),
            min(now, job.placed_at + exact[job.id]),
            sum(len(placement.devices) for placement in job.placements),
        )
        for job in seated
    ]
    return decayed(runs, now, Policy().half_life)


@settings(max_examples=60, deadline=None)
@given(snapshots(), st.data())
def test_with_exact_run_times_p50_is_the_real_start(snapshot: Snapshot, data: st.DataObject) -> None:
    """Every job has a template of its own that always took the same time; ends fall on whole half hours."""
    lengths = st.integers(1, 8).map(lambda halves: halves * HOUR / 2)
    exact = {job.id: data.draw(lengths) for job in snapshot.queued}
    exact |= {job.id: snapshot.now - job.placed_at + data.draw(lengths) for job in snapshot.running}
    running = [replace(job, template=job.id, expected_end=None, limit=exact[job.id] + HOUR) for job in snapshot.running]
    queued = [replace(job, template=job.id, limit=exact[job.id] + HOUR) for job in snapshot.queued]
    runtimes = Runtimes({job: (length.total_seconds(),) for job, length in exact.items()})
    snapshot = replace(snapshot, running=tuple(running), queued=tuple(queued), runtimes=runtimes)
    began = stepped_by_hand(snapshot, exact)
    for job, told in forecast(snapshot, runtimes, draws=5).items():
        assert (told.p50, told.p90) == (began.get(job), began.get(job))
        assert (told.unknown is None) == (job in began)


def test_a_job_that_fits_starts_now() -> None:
    told = forecast(a_snapshot([a_node()], [a_queued("j", 8)]), NO_HISTORY)
    assert told == {"j": Forecast(JobId("j"), NOW, NOW, NOW, passable=timedelta(days=4) - HOUR)}


def test_a_queue_is_stepped_through_in_order() -> None:
    running = [a_running("r", {"n1": range(8)}, expected_end=NOW + HOUR)]
    queue = [a_queued(name, 8, limit=2 * HOUR) for name in "abc"]
    told = forecast(a_snapshot([a_node()], queue, running), NO_HISTORY, draws=21)
    assert {job: range_.p50 for job, range_ in told.items()} == {
        "a": NOW + HOUR,
        "b": NOW + 3 * HOUR,
        "c": NOW + 5 * HOUR,
    }


def test_a_pace_foretells_a_range_and_not_a_point() -> None:
    running = [a_running("r", {"n1": range(8)}, expected_end=NOW + HOUR)]
    told = forecast(a_snapshot([a_node()], [a_queued("j", 8)], running), NO_HISTORY)["j"]
    assert told.p50 is not None
    assert told.p90 is not None
    assert timedelta(minutes=10) < told.p90 - told.p50 < HOUR


def test_history_gives_a_range() -> None:
    running = [a_running("r", {"n1": range(8)}, ran=timedelta(0))]
    runtimes = Runtimes({"tiny-gpt": hours(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)})
    told = forecast(a_snapshot([a_node()], [a_queued("j", 8)], running), runtimes)["j"]
    assert (told.p50, told.p90) == (NOW + 5 * HOUR, NOW + 9 * HOUR)


def test_a_running_job_is_known_to_have_run_already() -> None:
    running = [a_running("r", {"n1": range(8)}, ran=8 * HOUR)]
    runtimes = Runtimes({"tiny-gpt": hours(1, 2, 3, 4, 5, 6, 7, 9, 10)})
    told = forecast(a_snapshot([a_node()], [a_queued("j", 8)], running), runtimes)["j"]
    assert (told.p50, told.p90) == (NOW + HOUR, NOW + 2 * HOUR)


def test_a_job_that_outran_its_history_runs_as_long_again_at_most_its_limit() -> None:
    running = [a_running("r", {"n1": range(8)}, ran=8 * HOUR, limit=18 * HOUR)]
    told = forecast(a_snapshot([a_node()], [a_queued("j", 8)], running), Runtimes({"tiny-gpt": hours(1, 2)}))["j"]
    assert told.p50 is not None
    assert NOW + 7 * HOUR < told.p50 <= NOW + 8 * HOUR
    assert told.p90 == NOW + 10 * HOUR


def test_the_one_longest_run_of_a_kind_does_not_tell_when_a_job_that_outlived_the_others_ends() -> None:
    running = [a_running("r", {"n1": range(8)}, ran=8 * HOUR)]
    traits = traits_of(running[0])
    narrow, wide = next(kinds_of(traits)), ("all",)
    alike, all_jobs = hours(*[1] * 8, 8.5), hours(*[1] * 8, 8.5, *[20] * 9)
    runtimes = Runtimes(by_kind={narrow: alike, wide: all_jobs})
    told = forecast(a_snapshot([a_node()], [a_queued("j", 8)], running), runtimes)["j"]
    assert told.p50 == NOW + 12 * HOUR
    told = forecast(a_snapshot([a_node()], [a_queued("j", 8)], running), Runtimes(by_kind={narrow: alike}))["j"]
    assert told.p50 is not None
    assert NOW + 7 * HOUR < told.p50 <= NOW + 8 * HOUR, "where nothing tells, as long again"


def test_a_job_that_has_just_started_and_has_only_a_limit_is_not_foretold_to_end_at_once() -> None:
    running = [a_running("r", {"n1": range(8)}, ran=MINUTE, limit=10 * HOUR)]
    told = forecast(a_snapshot([a_node()], [a_queued("j", 8)], running), NO_HISTORY)["j"]
    assert told.p50 is not None
    assert NOW + HOUR < told.p50 < NOW + 3 * HOUR
    assert told.p90 is not None
    assert NOW + 7 * HOUR < told.p90 <= NOW + 10 * HOUR


def test_no_run_is_taken_beyond_its_limit() -> None:
    running = [a_running("r", {"n1": range(8)}, ran=timedelta(0), limit=3 * HOUR)]
    told = forecast(a_snapshot([a_node()], [a_queued("j", 8)], running), Runtimes({"tiny-gpt": hours(1, 9)}))["j"]
    assert (told.p50, told.p90) == (NOW + HOUR, NOW + 3 * HOUR)


def test_a_job_behind_one_with_no_known_run_time_is_unknown() -> None:
    queue = [a_queued("a", 8), a_queued("b", 8)]
    told = forecast(a_snapshot([a_node()], queue), NO_HISTORY)
    assert told["a"].p50 == NOW
    assert told["b"] == Forecast(JobId("b"), NOW, unknown="no-history")


@pytest.mark.parametrize(
    ("snapshot", "why"),
    [
        (a_snapshot([a_node()], [a_queued("j", 4)], quotas={("vision", "h200"): 2}), "quota"),
        (a_snapshot([a_node(state=NodeState.DOWN)], [a_queued("j")]), "node-health"),
        (a_snapshot([a_node()], [a_queued("j", 9)]), "capacity"),
    ],
)
def test_what_cannot_start_as_things_are_is_unknown_for_that_reason(snapshot: Snapshot, why: str) -> None:
    assert forecast(snapshot, NO_HISTORY)["j"].unknown == why


def test_a_hold_that_expires_lets_the_next_one_in() -> None:
    holds = [a_hold("broke", {"n1": range(8)}, until=NOW + 10 * MINUTE)]
    told = forecast(a_snapshot([a_node()], [a_queued("j", 8)], holds=holds), NO_HISTORY)
    assert told["j"].p50 == NOW + 10 * MINUTE


def test_a_hold_that_expires_is_a_moment_of_its_own_also_where_something_ends_later() -> None:
    running = [a_running("r", {"n2": range(8)}, expected_end=NOW + 3 * HOUR)]
    holds = [a_hold("broke", {"n1": range(8)}, until=NOW + 10 * MINUTE)]
    told = forecast(a_snapshot([a_node("n1"), a_node("n2")], [a_queued("j", 8)], running, holds=holds), NO_HISTORY)
    assert told["j"].p50 == NOW + 10 * MINUTE


def test_what_a_job_used_until_its_end_counts_against_its_project_then() -> None:
    running = [
        a_running("r", {"n1": range(8)}, expected_end=NOW + HOUR),
        a_running("s", {"n2": range(1)}, expected_end=NOW + 9 * HOUR, project="speech"),
    ]
    queue = [
        a_queued("mine", 8, age=HOUR, limit=4 * HOUR),
        a_queued("theirs", 8, age=HOUR, limit=4 * HOUR, project="speech"),
    ]
    nodes = [a_node("n1"), a_node("n2", devices=1)]
    told = forecast(a_snapshot(nodes, queue, running), NO_HISTORY, draws=1)
    assert told["theirs"].p50 == NOW + HOUR
    assert told["mine"].p50 == NOW + 5 * HOUR


def test_room_that_a_hold_leaves_in_a_turn_is_seen_by_the_jobs_behind_it() -> None:
    queue = [a_queued("first", 2, resuming=True, limit=HOUR), a_queued("wide", 8, limit=HOUR)]
    holds = [a_hold("first", {"n1": range(3)})]
    told = forecast(a_snapshot([a_node("n1"), a_node("n2", devices=2)], queue, holds=holds), NO_HISTORY, draws=1)
    assert {told["first"].p50, told["wide"].p50} == {NOW}


def test_a_start_beyond_the_reach_is_too_far_and_not_before_what_was_looked_at() -> None:
    queue = [a_queued(f"j{i}", 8, limit=HOUR) for i in range(9)]
    told = forecast(a_snapshot([a_node()], queue), NO_HISTORY, reach=Reach(first=3, seconds=0))
    assert told["j0"].p50 == NOW
    assert told["j2"].p50 == NOW + 2 * HOUR
    assert told["j8"] == Forecast(JobId("j8"), NOW, unknown="too-far", not_before=NOW + 2 * HOUR)


def test_ends_taken_together_are_never_looked_at_past_the_reach() -> None:
    running = [a_running(f"r{n}", {f"n{n}": range(8)}, expected_end=NOW + n * HOUR) for n in range(1, 9)]
    queue = [a_queued(f"j{n}", 8, age=(9 - n) * HOUR, limit=100 * HOUR) for n in range(1, 9)]
    snapshot = a_snapshot([a_node(f"n{n}") for n in range(1, 9)], queue, running)
    told = forecast(snapshot, NO_HISTORY, draws=1, reach=Reach(first=1, seconds=3.5 * 3600, batch=1.0))
    assert [told[f"j{n}"].p90 for n in (1, 2, 3)] == [NOW + n * HOUR for n in (1, 2, 3)]
    assert told["j4"] == Forecast(JobId("j4"), NOW, unknown="too-far", not_before=NOW + 3.5 * HOUR)


def test_what_comes_later_does_not_end_a_forecast_before_who_waits_has_started() -> None:
    nodes, running = [a_node("n1"), a_node("n2")], [a_running("r", {"n1": range(8)}, expected_end=NOW + 10 * HOUR)]
    short = [a_queued(f"s{n}", age=(24 - n) * HOUR, limit=5 * MINUTE) for n in range(24)]
    snapshot = replace(a_snapshot(nodes, [a_queued("gang", 8, nodes=2)], running), arrivals=tuple(short))
    told = forecast(snapshot, NO_HISTORY, draws=21, reach=Reach(first=1, seconds=0))["gang"]
    assert told.p50 is not None
    assert NOW + 10 * HOUR <= told.p50 < NOW + 11 * HOUR


def test_for_how_long_a_job_can_be_passed_is_told_with_its_range() -> None:
    running = [a_running("r", {"n1": range(8)}, expected_end=NOW + HOUR)]
    queue = [a_queued("short", 8), a_queued("long", 8, limit=9 * HOUR, template="slow")]
    runtimes = Runtimes({"tiny-gpt": (2048.0,), "slow": (16384.0,)})
    snapshot = replace(a_snapshot([a_node()], queue, running), runtimes=runtimes)
    told = forecast(snapshot, snapshot.runtimes)
    assert told["short"].passable == timedelta(seconds=4 * 2048) - HOUR, "both wait for an hour already"
    assert told["long"].passable == timedelta(seconds=4 * 16384) - HOUR


def test_what_came_in_the_morning_comes_again_in_the_morning() -> None:
    came = [NOW - timedelta(days=days) + hour * HOUR for days in (3, 2, 1) for hour in (1, 2)]
    arrivals = [a_queued(f"a{n}", submitted_at=at) for n, at in enumerate(came)]
    desk = Desk(a_snapshot([a_node()]))
    for draw in range(20):
        assert [at for at, _ in coming(arrivals, desk, draw, 20)] == [3600.0, 7200.0, 90000.0, 93600.0]


def test_the_same_snapshot_gives_the_same_forecast() -> None:
    queue = [a_queued(f"j{i}", 8) for i in range(5)]
    runtimes = Runtimes({"tiny-gpt": hours(1, 2, 5, 9)})
    snapshot = a_snapshot([a_node()], queue)
    assert forecast(snapshot, runtimes) == forecast(snapshot, runtimes)


def test_over_all_draws_each_job_meets_every_quantile_once() -> None:
    runtimes = Runtimes({"tiny-gpt": tuple(float(second) for second in range(1, 21))})
    queue = [a_queued(f"j{n}") for n in range(9)]
    draws = Draws(Desk(a_snapshot([a_node()], queue)), runtimes, 20)
    drawn = [[draws.of_queued(job.id, traits_of(job), draw) for draw in range(20)] for job in queue]
    assert all(sorted(lengths) == list(range(1, 21)) for lengths in drawn)
    assert len({tuple(lengths) for lengths in drawn}) > 1
