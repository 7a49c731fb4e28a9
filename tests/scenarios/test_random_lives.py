"""Random lives: whatever people, programs, machines, clocks and restarts do in whatever order, the books are right."""

import os
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from headway.domain.attempt import Attempt
from headway.domain.errors import PlatformError
from headway.domain.events import AttemptEnded, AttemptPlaced
from headway.domain.ids import attempt_id
from headway.domain.job import Job, Priority
from headway.domain.lifecycle import AttemptState, JobState
from headway.engines.fake.world import Life
from headway.metering.entries import Entry
from headway.metering.reconcile import check
from headway.server.operations.jobs.drill import Order, drill
from headway.store import attempts, holds, jobs, ledger
from tests.scenarios.work import Work
from tests.scenarios.world import PROJECTS, World

QUOTA = 12
EVALUATE = os.environ.get("HEADWAY_SEEDS") == "all"
MONTHS = ("2026-11", "2026-12")
MOMENTS = (0.4, 1, 6, 11, 31, 61, 299, 3600, 86400)
LOOPS = ("schedule", "dispatch", "observe", "diagnose", "recover", "meter", "forecast", "verify")
Devices = set[tuple[str, int]]


class Lives(RuleBasedStateMachine):
    """One world in which anything may happen next."""

    open_world: Callable[[], World]

    def __init__(self) -> None:
        super().__init__()
        self.world = type(self).open_world()
        self.works: list[Work] = []
        self.audited: tuple[int, int] | None = None

    @initialize(keeps=st.booleans())
    def promise(self, keeps: bool) -> None:
        self.world.machines.keeps = keeps
        for project in PROJECTS:
            self.world.quota(project, QUOTA)

    @rule(
        project=st.sampled_from(PROJECTS),
        nodes=st.integers(1, 2),
        devices=st.integers(1, 8),
        priority=st.sampled_from(Priority),
    )
    def submits(self, project: str, nodes: int, devices: int, priority: Priority) -> None:
        wanted = {"project": project, "nodes": nodes, "devices": devices, "priority": priority}
        self.works.append(self.world.submit(f"job-{len(self.works)}", **wanted))

    @rule(names=st.lists(st.sampled_from(LOOPS), min_size=1, max_size=4))
    def turns(self, names: list[str]) -> None:
        for name in names:
            self.world.turn(name)
        if names[-1] == "schedule":
            assert all(self.reason(job) for job in self.jobs() if job.state == JobState.QUEUED)

    @rule()
    def settles(self) -> None:
        self.world.settle()

    @rule(seconds=st.sampled_from(MOMENTS))
    def time_passes(self, seconds: float) -> None:
        self.world.later_unseen(seconds)

    @rule()
    def restarts(self) -> None:
        self.world.restart()

    @rule(seconds=st.sampled_from(MOMENTS))
    def is_cut_off(self, seconds: float) -> None:
        self.world.cut_off(seconds)

    @precondition(lambda self: self.works)
    @rule(data=st.data())
    def is_stopped(self, data: st.DataObject) -> None:
        work = data.draw(st.sampled_from(self.works))
        if not work.job.state.is_terminal:
            work.stop()

    @precondition(lambda self: self.works)
    @rule(data=st.data())
    def will_be_refused(self, data: st.DataObject) -> None:
        job = data.draw(st.sampled_from(self.works)).job
        self.world.machines.write(attempt_id(job.id, job.attempts + 1), Life(refuses="no room"))

    @precondition(lambda self: self.launched())
    @rule(data=st.data(), step=st.integers(1, 40))
    def agents_work(self, data: st.DataObject, step: int) -> None:
        work = data.draw(st.sampled_from(self.launched()))
        work.starts().reaches(step)

    @precondition(lambda self: self.launched())
    @rule(data=st.data(), how=st.sampled_from(["finishes", "obeys", "is killed", "fails", "loses", "half"]))
    def comes_to_an_end(self, data: st.DataObject, how: str) -> None:
        work = data.draw(st.sampled_from(self.launched()))
        if how == "finishes":
            work.finishes()
        elif how == "obeys":
            work.obeys()
        elif how == "is killed":
            work.breaks(signal=9)
        elif how == "fails":
            work.breaks(code=1)
        elif how == "loses":
            work.loses_its_agents()
        else:
            work.agents[0].all_exit(0)

    @precondition(lambda self: self.launched())
    @rule(data=st.data())
    def is_drilled(self, data: st.DataObject) -> None:
        work = data.draw(st.sampled_from(self.launched()))
        with self.world.platform.database.write() as c, suppress(PlatformError):  # it may not run (yet)
            drill(c, work.job, Order(rank=0), at=self.world.now, by="ann")

    @precondition(lambda self: any(work.spoken for work in self.works))
    @rule(data=st.data())
    def says_it_again(self, data: st.DataObject) -> None:
        work = data.draw(st.sampled_from([work for work in self.works if work.spoken]))
        agent = data.draw(st.sampled_from(work.spoken))
        before = self.world.facts()
        agent.sends(agent.last)
        assert self.world.facts() == before

    @invariant()
    def no_device_is_given_twice(self) -> None:
        taken: Counter[tuple[str, int]] = Counter()
        for attempt in self.live():
            taken.update(_devices(attempt))
        assert all(times == 1 for times in taken.values())
        held = self.held()
        for attempt in self.live():
            assert all(not _devices(attempt) & devices for job, devices in held.items() if job != attempt.job)

    @invariant()
    def no_gang_is_placed_in_part(self) -> None:
        wanted = {job.id: job.spec.request for job in self.jobs()}
        for attempt in self.live():
            request = wanted[attempt.job]
            assert [len(p.devices) for p in attempt.placements] == [request.devices_per_node] * request.nodes
            assert len({p.node for p in attempt.placements}) == request.nodes

    @invariant()
    def no_quota_is_exceeded(self) -> None:
        projects = {job.id: job.spec.project for job in self.jobs()}
        used: Counter[str] = Counter()
        for attempt in self.live():
            used[projects[attempt.job]] += attempt.devices
        assert all(devices <= QUOTA for devices in used.values())

    @invariant()
    def jobs_and_attempts_agree(self) -> None:
        alive = Counter(attempt.job for attempt in self.live())
        for job in self.jobs():
            assert alive[job.id] == int(job.state.holds_devices), job
            tries = self.attempts_of(job)
            assert [attempt.number for attempt in tries] == list(range(1, job.attempts + 1))
            assert (job.ended_at is not None) == job.state.is_terminal
            assert job.state != JobState.SUCCEEDED or tries[-1].outcome == "succeeded"
            assert job.state != JobState.RECOVERING or tries[-1].outcome in ("failed", "lost")

    @invariant()
    def facts_tell_each_life_once(self) -> None:
        placed = Counter(f.attempt for f in self.world.facts("attempt-placed") if isinstance(f, AttemptPlaced))
        ended = {f.attempt: f for f in self.world.facts("attempt-ended") if isinstance(f, AttemptEnded)}
        assert len(self.world.facts("attempt-ended")) == len(ended)
        for job in self.jobs():
            for attempt in self.attempts_of(job):
                assert placed[attempt.id] == 1
                assert (attempt.id in ended) == (attempt.state == AttemptState.ENDED)
                assert attempt.ended_at is None or attempt.ended_at == ended[attempt.id].at >= attempt.placed_at

    @invariant()
    def the_books_are_right(self) -> None:
        if self.audited == self.world.mark():
            return
        self.audited = self.world.mark()
        for project in PROJECTS:
            intervals = {interval.attempt: interval for interval in self.world.intervals(project)}
            for attempt, entries in self.posted(project).items():
                interval = intervals[attempt]
                assert interval.end is not None
                whole = (interval.end.replace(microsecond=0) - interval.start.replace(microsecond=0)).total_seconds()
                assert sum(entry.device_seconds for entry in entries) == interval.devices * whole
            for month in MONTHS:
                statement = self.world.statement(project, month)
                assert check(statement, intervals.values()) == []

    def teardown(self) -> None:
        """Everything that lives can be brought to its end, and then nothing is taken and all is posted."""
        try:
            self.world.later(days=2)
            for work in self.works:
                if not work.job.state.is_terminal:
                    work.stop()
            self.world.settle()
            for work in self.launched():
                work.obeys()
            self.world.later(minutes=2)
            self.world.later(minutes=2)
            assert all(job.state.is_terminal for job in self.jobs()), self.jobs()
            assert (self.live(), self.held()) == ([], {})
            for project in PROJECTS:
                assert set(self.posted(project)) == {interval.attempt for interval in self.world.intervals(project)}
            self.audited = None
            self.the_books_are_right()
        finally:
            self.world.close()

    def jobs(self) -> list[Job]:
        with self.world.platform.database.read() as c:
            return jobs.in_states(c, *JobState)

    def live(self) -> list[Attempt]:
        with self.world.platform.database.read() as c:
            return attempts.live(c)

    def attempts_of(self, job: Job) -> list[Attempt]:
        with self.world.platform.database.read() as c:
            return attempts.of_job(c, job.id)

    def launched(self) -> list[Work]:
        """Jobs whose newest attempt was launched and has not ended."""
        return [w for w in self.works if w.job.state.holds_devices and w.attempt.id in self.world.machines.parts]

    def held(self) -> dict[str, Devices]:
        with self.world.platform.database.read() as c:
            kept = holds.all(c, self.world.now)
        return {hold.job: {(p.node, device) for p in hold.placements for device in p.devices} for hold in kept}

    def posted(self, project: str) -> dict[str, list[Entry]]:
        found: dict[str, list[Entry]] = defaultdict(list)
        with self.world.platform.database.read() as c:
            for entry in ledger.entries(c, project=project):
                found[entry.attempt].append(entry)
        return found

    def reason(self, job: Job) -> str:
        waits = Work(self.world, job.id).waits
        assert waits is not None, job
        return waits.reason.code


def _devices(attempt: Attempt) -> Devices:
    return {(p.node, device) for p in attempt.placements for device in p.devices}


@pytest.mark.slow
def test_random_lives(sqlite_template: Path, tmp_path: Path) -> None:
    """A few hundred steps, the same each time; thousands, and others each time, with HEADWAY_SEEDS=all."""
    numbers: Iterator[int] = count(1)

    def open_world() -> World:
        home = tmp_path / str(next(numbers))
        home.mkdir()
        shutil.copyfile(sqlite_template, home / "headway.db")
        return World(f"sqlite:///{home / 'headway.db'}", home)

    machine = type("TheseLives", (Lives,), {"open_world": staticmethod(open_world)})
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        machine,
        settings=settings(
            max_examples=200 if EVALUATE else 18,
            derandomize=not EVALUATE,
            stateful_step_count=25,
            deadline=None,
            database=None,
            # A failing life is short enough to be read, and shrinking one takes minutes.
            phases=[Phase.generate],
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
