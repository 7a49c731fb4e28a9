"""A save cut off at any byte: what is restored was complete at some step, never older than the newest complete one."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headway.sdk.job.checkpoint import checkpoint_folders, verify
from headway.sdk.job.checkpoints import Checkpoints, Policy
from headway.sdk.job.environment import read_environment
from headway.sdk.job.events import PrintedEvents
from headway.sdk.job.state import Parts
from tests.sdk_job.dying_disk import Cut, DyingDisk
from tests.sdk_job.test_checkpoints import Counter

pytestmark = pytest.mark.usefixtures("no_torch")
POINTS = 2400 if os.environ.get("HEADWAY_SEEDS") == "all" else 150
KEEP = 2
STEPS = (1, 2, 3, 4)


class Silent(PrintedEvents):
    def __init__(self) -> None:
        super().__init__(0, 1)

    def write(self, kind: str, **fields: object) -> None:
        return


class Training:
    """Two halves that are equal whenever both are of the same step."""

    def __init__(self, directory: Path, disk: DyingDisk) -> None:
        self.model, self.optimizer, self.extra = Counter(), Counter(), {"pad": b""}
        environment = read_environment({"HEADWAY_JOB": "j-test", "HEADWAY_ATTEMPT_NUMBER": "1"})
        parts = Parts(self.model, self.optimizer, None, self.extra)
        self.checkpoints = Checkpoints(environment, Silent(), parts, directory, Policy(KEEP), lambda: None, disk)

    def save(self, step: int) -> None:
        self.model.value = self.optimizer.value = step
        self.extra["pad"] = bytes([step % 256]) * (step * 37 % 900)
        self.checkpoints.save(step, files=lambda folder: (folder / "export.json").write_text(str(step)))

    def restored(self) -> int:
        step = self.checkpoints.restore()
        values = (self.model.value, self.optimizer.value, self.extra["pad"])
        assert values == (step, step, bytes([step % 256]) * (step * 37 % 900)), "a mixture"
        return step


@pytest.fixture(scope="module")
def whole_cost(tmp_path_factory: pytest.TempPathFactory, no_torch: None) -> int:
    """What saving the same steps costs when nothing is cut."""
    disk = DyingDisk()
    save_steps(tmp_path_factory.mktemp("whole"), disk)
    return disk.spent


def save_steps(directory: Path, disk: DyingDisk) -> int:
    """Save until the disk dies; the newest step whose save returned."""
    complete = 0
    try:
        training = Training(directory, disk)
        assert training.restored() == 0
        for step in STEPS:
            training.save(step)
            complete = step
    except Cut:
        return complete
    return complete


@given(part=st.floats(0, 1, exclude_max=True), seed=st.integers(0, 2**32), is_power_cut=st.booleans())
@settings(max_examples=POINTS, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_save_cut_at_any_byte_restores_a_whole_state_and_loses_no_complete_one(
    tmp_path_factory: pytest.TempPathFactory, whole_cost: int, part: float, seed: int, is_power_cut: bool
) -> None:
    directory = tmp_path_factory.mktemp("cut")
    disk = DyingDisk(int(part * whole_cost))
    complete = save_steps(directory, disk)
    assert disk.is_dead or complete == STEPS[-1]
    if is_power_cut:
        disk.medium.cut_power(random.Random(seed))
    again = Training(directory, DyingDisk())
    step = again.restored()
    assert step >= complete
    again.save(step + 1)
    assert again.restored() == step + 1
    assert all(verify(folder).ok for folder in checkpoint_folders(directory) if not is_power_cut)
