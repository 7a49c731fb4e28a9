"""What every engine must pass, whatever it runs on: one list of tests, and what a test needs of the engine under test.

An engine's test module subclasses `Contract` and gives a `subject` fixture.
"""

import asyncio
import dataclasses
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from datetime import timedelta
from enum import StrEnum

import pytest

from headway.domain.errors import PlatformError
from headway.domain.ids import attempt_id
from headway.domain.job import Launcher
from headway.engines.protocol import Engine, Handle, LaunchOrder, NodeOrder, Observation, Sight
from tests.engines.ids import new_job

DEADLINE_S = 120


class Plan(StrEnum):
    """How the ranks of an attempt behave."""

    RUNS = "runs"
    SUCCEEDS = "succeeds"
    FAILS = "fails"
    IGNORES_SIGTERM = "ignores-sigterm"
    STRAYS = "strays"


class Subject(ABC):
    """An engine under test, and the hands that reach round it. `nodes`: two names with at least two devices each."""

    engine: Engine
    nodes: tuple[str, str]
    device_type: str

    @abstractmethod
    def command(self, plan: Plan, attempt: str) -> tuple[str, ...]:
        """The words that make ranks behave like this."""

    @abstractmethod
    def wait(self) -> None:
        """Let a little time pass."""

    @abstractmethod
    def reopen(self) -> None:
        """Replace the engine object by a new one, as a restart of the server does."""

    @abstractmethod
    def kill_agents(self, attempt: str) -> None:
        """Kill the attempt's agents without warning."""

    @abstractmethod
    def starts(self, attempt: str) -> int:
        """How many ranks were ever started."""

    @abstractmethod
    def alive(self, attempt: str) -> Sequence[object]:
        """What runs of the attempt now."""

    server_url = "http://127.0.0.1:9"
    patience_s = 5.0
    """How long an engine that says it was not reached is asked again: one with a controller of its own may be slow."""

    def order(self, plan: Plan, nodes: int = 1, *, service: bool = False, grace_s: float = 2) -> LaunchOrder:
        """A new attempt with one rank and one device on each of the first nodes."""
        job = new_job()
        attempt = attempt_id(job, 1)
        return LaunchOrder(
            attempt=attempt,
            job=job,
            number=1,
            nodes=tuple(NodeOrder(name, (0,), (rank,)) for rank, name in enumerate(self.nodes[:nodes])),
            device_type=self.device_type,
            launcher=Launcher.RANKS,
            command=self.command(plan, attempt),
            env={},
            workdir=None,
            server_url=self.server_url,
            token="t-" + attempt,
            grace=timedelta(seconds=grace_s),
            wants_port=service,
        )

    def launch(self, order: LaunchOrder) -> Handle:
        return asyncio.run(self.launch_patiently(order))

    async def launch_patiently(self, order: LaunchOrder) -> Handle:
        """Launch as the server does: again, as long as the engine says that it was not reached."""
        deadline = time.monotonic() + self.patience_s
        while True:
            try:
                return await self.engine.launch(order)
            except PlatformError as error:
                if error.code != "engine-unreachable" or time.monotonic() > deadline:
                    raise

    def stop(self, handle: Handle, grace_s: float = 2) -> None:
        asyncio.run(self.engine.stop(handle, timedelta(seconds=grace_s)))

    def observe(self, *handles: Handle) -> Sequence[Observation]:
        return asyncio.run(self.engine.observe(handles))

    def sights(self, *handles: Handle) -> list[Sight]:
        return [observation.sight for observation in self.observe(*handles)]

    def until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait for a condition. Fails after a deadline, saying what was awaited."""
        deadline = time.monotonic() + DEADLINE_S
        while not holds():
            assert time.monotonic() < deadline, f"waited {DEADLINE_S} s for {what}"
            self.wait()

    def until_seen(self, sight: Sight, *handles: Handle) -> None:
        self.until(lambda: set(self.sights(*handles)) == {sight}, f"{sight} of {[h.attempt for h in handles]}")

    def launch_running(self, plan: Plan, nodes: int = 1) -> tuple[LaunchOrder, Handle]:
        """Launch, and wait until every rank has started."""
        order = self.order(plan, nodes)
        handle = self.launch(order)
        self.until(lambda: self.starts(order.attempt) == nodes, f"{nodes} ranks of {order.attempt} to start")
        return order, handle


class Contract:
    """The conformance suite."""

    def test_it_names_its_nodes_and_their_devices(self, subject: Subject) -> None:
        nodes = {node.name: node for node in asyncio.run(subject.engine.inventory()).nodes}
        assert all(nodes[name].devices >= 2 for name in subject.nodes)
        assert {node.engine for node in nodes.values()} == {subject.engine.name}
        assert nodes[subject.nodes[0]].device_type == subject.device_type

    def test_launched_twice_an_attempt_has_one_handle_and_starts_once(self, subject: Subject) -> None:
        order = subject.order(Plan.RUNS, nodes=2)
        first, again = subject.launch(order), subject.launch(order)
        subject.until(lambda: subject.starts(order.attempt) == 2, "both ranks to start")
        assert subject.launch(order) == again == first
        assert first.nodes == subject.nodes
        assert subject.sights(first) == [Sight.RUNNING, Sight.RUNNING]
        assert subject.starts(order.attempt) == 2

    def test_launched_again_after_its_end_it_does_not_start_again(self, subject: Subject) -> None:
        order, handle = subject.launch_running(Plan.SUCCEEDS)
        subject.until_seen(Sight.ENDED, handle)
        assert subject.launch(order) == handle
        assert subject.sights(handle) == [Sight.ENDED]
        assert subject.starts(order.attempt) == 1

    def test_it_runs_from_the_launch_to_its_end(self, subject: Subject) -> None:
        order = subject.order(Plan.RUNS)
        handle = subject.launch(order)
        assert subject.sights(handle) == [Sight.RUNNING]
        subject.until(lambda: subject.starts(order.attempt) == 1, "the rank to start")
        assert subject.sights(handle) == [Sight.RUNNING]
        subject.stop(handle)
        subject.until_seen(Sight.ENDED, handle)

    def test_ranks_that_fail_have_ended(self, subject: Subject) -> None:
        _, handle = subject.launch_running(Plan.FAILS)
        subject.until_seen(Sight.ENDED, handle)

    def test_a_service_has_an_endpoint_and_keeps_it(self, subject: Subject) -> None:
        order = subject.order(Plan.RUNS, service=True)
        handle = subject.launch(order)
        host, _, port = (handle.endpoint or "").rpartition(":")
        assert host
        assert 0 < int(port) < 65536
        subject.reopen()
        assert subject.launch(order).endpoint == handle.endpoint

    def test_an_attempt_that_was_never_launched_is_absent(self, subject: Subject) -> None:
        order = subject.order(Plan.RUNS)
        handle = Handle(order.attempt, subject.engine.name, subject.nodes)
        assert subject.sights(handle) == [Sight.ABSENT, Sight.ABSENT]

    @pytest.mark.parametrize("part", [NodeOrder("n-none", (0,), (0,)), NodeOrder("", (4096,), (0,))])
    def test_what_can_never_run_is_refused_and_stays_absent(self, subject: Subject, part: NodeOrder) -> None:
        order = subject.order(Plan.RUNS)
        wrong = NodeOrder(part.node or subject.nodes[0], part.devices, part.ranks)
        order = dataclasses.replace(order, nodes=(wrong,))
        with pytest.raises(PlatformError) as refusal:
            subject.launch(order)
        assert refusal.value.code == "launch-refused"
        assert wrong.node in str(refusal.value)
        assert subject.sights(Handle(order.attempt, subject.engine.name, (wrong.node,))) == [Sight.ABSENT]

    def test_a_stop_lets_ranks_end(self, subject: Subject) -> None:
        order, handle = subject.launch_running(Plan.RUNS, nodes=2)
        subject.stop(handle)
        subject.until_seen(Sight.ENDED, handle)
        subject.until(lambda: not subject.alive(order.attempt), "everything to be gone")

    def test_a_stop_kills_what_outlives_its_grace(self, subject: Subject) -> None:
        order, handle = subject.launch_running(Plan.IGNORES_SIGTERM)
        subject.stop(handle, grace_s=1)
        subject.until_seen(Sight.ENDED, handle)
        subject.until(lambda: not subject.alive(order.attempt), "everything to be gone")

    def test_stopping_what_is_gone_is_no_error(self, subject: Subject) -> None:
        _, handle = subject.launch_running(Plan.SUCCEEDS)
        subject.until_seen(Sight.ENDED, handle)
        subject.stop(handle)
        subject.stop(handle)
        assert subject.sights(handle) == [Sight.ENDED]

    def test_stopping_what_never_was_is_no_error(self, subject: Subject) -> None:
        handle = Handle(subject.order(Plan.RUNS).attempt, subject.engine.name, subject.nodes)
        subject.stop(handle)
        assert subject.sights(handle) == [Sight.ABSENT, Sight.ABSENT]

    @pytest.mark.parametrize("plan", [Plan.RUNS, Plan.STRAYS])
    def test_a_killed_agent_is_lost_and_leaves_nothing(self, subject: Subject, plan: Plan) -> None:
        order, handle = subject.launch_running(plan)
        subject.kill_agents(order.attempt)
        subject.until_seen(Sight.AGENT_LOST, handle)
        assert not subject.alive(order.attempt)
        assert subject.starts(order.attempt) == 1

    def test_what_was_lost_stays_lost(self, subject: Subject) -> None:
        order, handle = subject.launch_running(Plan.RUNS)
        subject.kill_agents(order.attempt)
        subject.until_seen(Sight.AGENT_LOST, handle)
        subject.reopen()
        assert subject.launch(order) == handle
        assert subject.sights(handle) == [Sight.AGENT_LOST]
        assert subject.starts(order.attempt) == 1

    def test_a_new_engine_object_finds_what_the_old_one_started(self, subject: Subject) -> None:
        order, handle = subject.launch_running(Plan.RUNS, nodes=2)
        subject.reopen()
        assert subject.sights(handle) == [Sight.RUNNING, Sight.RUNNING]
        subject.stop(handle)
        subject.until_seen(Sight.ENDED, handle)
        assert subject.starts(order.attempt) == 2

    def test_twenty_attempts_at_once_each_start_once(self, subject: Subject) -> None:
        orders = [subject.order(Plan.SUCCEEDS) for _ in range(20)]

        async def launch_all() -> list[Handle]:
            return await asyncio.gather(*(subject.launch_patiently(order) for order in orders))

        handles = asyncio.run(launch_all())
        subject.until_seen(Sight.ENDED, *handles)
        assert [subject.starts(order.attempt) for order in orders] == [1] * 20

    def test_logs_of_a_node_that_has_none_are_empty(self, subject: Subject) -> None:
        async def read() -> bytes:
            handle = Handle(subject.order(Plan.RUNS).attempt, subject.engine.name, subject.nodes)
            return b"".join([piece async for piece in subject.engine.logs(handle, subject.nodes[0])])

        assert asyncio.run(read()) == b""
