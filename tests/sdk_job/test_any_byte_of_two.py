"""Two ranks' saves cut off at any byte, their acts in any order: both restore one step's whole state, none older."""

from __future__ import annotations

import json
import os
import pickle
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headway.sdk.job import checkpoints as checkpoints_module
from headway.sdk.job import commit as commit_module
from headway.sdk.job import ranks as ranks_module
from headway.sdk.job.checkpoint import CheckpointError, checkpoint_folders, verify
from headway.sdk.job.checkpoints import Checkpoints, Policy
from headway.sdk.job.commit import Order
from headway.sdk.job.environment import read_environment
from headway.sdk.job.image import Image
from headway.sdk.job.state import Parts
from headway.sdk.job.writer import Performer, _answer
from tests.sdk_job.dying_disk import DyingDisk, Medium
from tests.sdk_job.test_any_byte import Silent
from tests.sdk_job.test_checkpoints import Counter
from tests.sdk_job.turns import Process, Turns

pytestmark = pytest.mark.skipif(not find_spec("torch"), reason="torch is not installed")
POINTS = 2400 if os.environ.get("HEADWAY_SEEDS") == "all" else 80
RANKS, KEEP, STEPS, PATIENCE_S = 2, 2, (1, 2, 3), 1.0
Part = st.none() | st.floats(0, 1, exclude_max=True)


@dataclass(eq=False)
class Rank(Process):
    """A rank of one attempt: its training; the helper beside it is a process of its own on the same disk."""

    number: int = 0
    attempt: int = 1
    disk: DyingDisk = field(default_factory=DyingDisk)
    talk: Talk | None = None
    helper: Process = field(default_factory=lambda: Process("helper"))
    saved: int = 0
    """The newest step it was told is durable."""


class Talk:
    """What `torch.distributed` is to the ranks of one attempt: values laid where the others find them."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._said: dict[tuple[int, int], bytes] = {}
        self._calls = dict.fromkeys(range(RANKS), 0)

    def is_available(self) -> bool:
        return True

    is_initialized = is_available

    def get_rank(self) -> int:
        return mine(self._turns).number

    def get_world_size(self) -> int:
        return RANKS

    def new_group(self, **_: object) -> object:
        return self

    def all_gather_object(self, values: list[Any], value: object, group: object) -> None:
        call, rank = self._calls[self.get_rank()], self.get_rank()
        self._calls[rank] += 1
        self._said[call, rank] = pickle.dumps(value)
        deadline = self._turns.monotonic() + PATIENCE_S
        while not all((call, other) in self._said for other in range(RANKS)):
            if self._turns.monotonic() > deadline:
                raise RuntimeError("timed out")
            self._turns.sleep(0.02)
        values[:] = [pickle.loads(self._said[call, other]) for other in range(RANKS)]

    def broadcast_object_list(self, box: list[Any], src: int, group: object) -> None:
        values: list[Any] = []
        self.all_gather_object(values, box[0], group)
        box[0] = values[src]


def mine(turns: Turns) -> Rank:
    assert isinstance(turns.process, Rank)
    return turns.process


class Helper:
    """In place of the helper process: an actor that performs orders as it does, while the training trains on."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._images = [Image(), Image()]
        self._handed: list[tuple[Order, Image, Callable[[dict[str, Any]], None]]] = []
        self._failures: list[str] = []

    def free_image(self) -> Image:
        while True:
            busy = [image for _, image, _ in self._handed]
            for image in self._images:
                if image not in busy:
                    return image
            self._turns.sleep(0.01)

    def submit(self, order: Order, image: Image, done: Callable[[dict[str, Any]], None]) -> None:
        self._handed.append((order, image, done))
        if len(self._handed) == 1:
            rank = mine(self._turns)
            self._turns.start(rank.helper, lambda: self._perform_all(rank))

    def _perform_all(self, rank: Rank) -> None:
        while self._handed:
            order, image, done = self._handed[0]
            directory = order.directory
            performers = {directory: Performer(Path(directory), rank.disk)}
            answer = _answer(json.dumps(order.to_json()).encode(), os.dup(image.fd), performers)
            if "failed" in answer:
                self._failures.append(answer["failed"])
            else:
                rank.saved = order.step
            done(answer)
            self._handed.pop(0)

    def raise_failures(self) -> None:
        failures, self._failures = self._failures, []
        if failures:
            raise CheckpointError(failures[0])

    def wait(self) -> None:
        while self._handed:
            self._turns.sleep(0.01)

    def close(self) -> None:
        for image in self._images:
            image.close()


class Training:
    """Of one rank: two halves and a padding, all of which say whose and of which step they are."""

    def __init__(self, directory: Path, rank: Rank) -> None:
        self.rank, self.scheduler, self.data = rank, Counter(), Counter()
        self.extra: dict[str, Any] = {}
        variables = {
            "HEADWAY_JOB": "j-test",
            "HEADWAY_ATTEMPT_NUMBER": str(rank.attempt),
            "RANK": str(rank.number),
            "WORLD_SIZE": str(RANKS),
        }
        parts = Parts(None, None, self.scheduler, self.extra, self.data)
        policy = Policy(KEEP, background=True, patience_s=PATIENCE_S)
        self.checkpoints = Checkpoints(
            read_environment(variables), Silent(), parts, directory, policy, lambda: None, rank.disk
        )

    def value(self, step: int) -> int:
        return step * 10 + self.rank.number

    def restored(self) -> int:
        step = self.checkpoints.restore()
        if step:
            told = (self.scheduler.value, self.data.value, self.extra["pad"])
            assert told == (self.value(step), self.value(step), self.padding(step)), "a mixture"
        return step

    def padding(self, step: int) -> bytes:
        return bytes([self.value(step) % 256]) * (self.value(step) * 37 % 900)

    def save(self, step: int) -> None:
        self.scheduler.value = self.data.value = self.value(step)
        self.extra["pad"] = self.padding(step)
        self.checkpoints.save(step)


class Site:
    """One checkpoint directory, and the attempts at it one after another."""

    def __init__(self, directory: Path, seed: int) -> None:
        self.directory = directory
        self.chance = random.Random(seed)
        self.turns = Turns(self.chance)
        self.medium = Medium()
        self.restored: list[int] = []
        self.opened: list[Helper] = []

    def attempt(self, number: int, disks: list[DyingDisk], steps: tuple[int, ...]) -> list[Rank]:
        """Two ranks that restore and save these many steps more, until all have ended or the agent has ended them."""
        talk, self.restored = Talk(self.turns), []
        ranks = [Rank(f"rank {n}", number=n, attempt=number, disk=disks[n], talk=talk) for n in range(RANKS)]
        actors = [self.turns.start(rank, lambda rank=rank: self._train(rank, steps)) for rank in ranks]

        def is_over() -> bool:
            self._watch(ranks)
            return all(actor.has_ended for actor in actors)

        self.turns.play(is_over)
        return ranks

    def disk(self, budget: int | None = None) -> DyingDisk:
        return DyingDisk(budget, self.medium, self.turns.pass_on)

    def _train(self, rank: Rank, steps: tuple[int, ...]) -> None:
        try:
            training = Training(self.directory, rank)
            begin = training.restored()
            self.restored.append(begin)
            for step in steps:
                training.save(begin + step)
                self.turns.pass_on()
            training.checkpoints.wait()
        except CheckpointError:
            return

    def _watch(self, ranks: list[Rank]) -> None:
        """With its disk's budget a rank dies whole; the agent ends the other soon, whose helper lives on."""
        dead = [rank for rank in ranks if rank.disk.is_dead]
        for rank in dead:
            rank.is_dead = rank.helper.is_dead = True
        if dead and self.chance.random() < 0.02:
            for rank in ranks:
                rank.is_dead = True


@pytest.fixture(scope="module")
def make_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[int], Site]]:
    """A site of its own, whose ranks talk, sleep and hand over to helpers in turns."""
    with pytest.MonkeyPatch.context() as patch:

        def make(seed: int) -> Site:
            site = Site(tmp_path_factory.mktemp("site"), seed)

            def helper(_local: None) -> Helper:
                site.opened.append(Helper(site.turns))
                return site.opened[-1]

            patch.setattr(checkpoints_module, "Background", helper)
            patch.setattr(commit_module, "time", site.turns)
            patch.setattr(ranks_module, "_distributed", lambda: getattr(site.turns.process, "talk", None))
            return site

        patch.setattr(checkpoints_module.atexit, "register", lambda _leave: None)
        yield make


@pytest.fixture(scope="module")
def whole_cost(make_site: Callable[[int], Site]) -> int:
    """What a rank's saves cost its disk when nothing is cut."""
    site = make_site(0)
    ranks = site.attempt(1, [site.disk(), site.disk()], STEPS)
    assert [rank.saved for rank in ranks] == [STEPS[-1]] * 2
    return max(rank.disk.spent for rank in ranks)


@given(parts=st.tuples(Part, Part), seed=st.integers(0, 2**32), is_power_cut=st.booleans())
@settings(max_examples=POINTS, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_two_ranks_cut_at_any_byte_restore_one_steps_whole_state_and_lose_no_complete_one(
    make_site: Callable[[int], Site],
    whole_cost: int,
    parts: tuple[float | None, float | None],
    seed: int,
    is_power_cut: bool,
) -> None:
    site = make_site(seed)
    disks = [site.disk(int(part * whole_cost) if part is not None else None) for part in parts]
    cut = site.attempt(1, disks, STEPS)
    complete = max(rank.saved for rank in cut)
    if is_power_cut and any(disk.is_dead for disk in disks):
        for rank in cut:
            rank.is_dead = rank.helper.is_dead = True
        site.turns.play()
        site.medium.cut_power(site.chance)
    site.attempt(2, [site.disk(), site.disk()], (1, 2))
    (step,) = set(site.restored)
    assert step >= complete
    site.turns.play()
    site.attempt(3, [site.disk(), site.disk()], ())
    assert site.restored == [step + 2] * 2
    assert all(verify(folder).ok for folder in checkpoint_folders(site.directory) if not is_power_cut)
    for helper in site.opened:
        helper.close()
