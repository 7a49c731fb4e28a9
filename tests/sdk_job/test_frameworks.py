"""Through a framework's own callback: what it saved is published and verified, and going on from it changes nothing.

Lightning is no dependency of ours: its case runs where it is installed, `make evaluate` makes it so.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from headway.sdk.job.checkpoint import newest_verified
from tests.sdk_job.test_checkpoints import names

pytestmark = [pytest.mark.live, pytest.mark.skipif(not find_spec("torch"), reason="torch is not installed")]
KINDS = {"hf": "transformers", "accelerate": "accelerate", "lightning": "lightning"}


def trained(kind: str, directory: Path, output: Path, steps: int) -> list[list[float]]:
    command = [sys.executable, "-m", "tests.sdk_job.programs.frameworks", kind, str(directory), str(output), str(steps)]
    env = {name: value for name, value in os.environ.items() if not name.startswith("HEADWAY_")}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=200, env={**env, "OMP_NUM_THREADS": "1"}, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    weights: list[list[float]] = json.loads(done.stdout.splitlines()[-1])
    return weights


@pytest.mark.parametrize("kind", KINDS)
def test_going_on_from_what_was_published_comes_to_the_same_bit_for_bit(kind: str, tmp_path: Path) -> None:
    if not find_spec(KINDS[kind]):
        pytest.skip(f"absent: {KINDS[kind]}")
    whole = trained(kind, tmp_path / "whole", tmp_path / "whole-out", 12)
    trained(kind, tmp_path / "cut", tmp_path / "cut-out", 6)
    assert names(tmp_path / "cut")[-1] == "step-00000004"
    assert trained(kind, tmp_path / "cut", tmp_path / "again-out", 12) == whole
    chosen, rejected = newest_verified(tmp_path / "cut")
    assert (chosen.step if chosen else None, rejected) == (12, [])


def test_a_damaged_file_of_the_framework_is_not_gone_on_from(tmp_path: Path) -> None:
    trained("accelerate", tmp_path, tmp_path / "out", 8)
    weights = tmp_path / "step-00000008" / "framework" / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    trained("accelerate", tmp_path, tmp_path / "out", 8)
    assert names(tmp_path) == ["step-00000008.1", "step-00000008", "step-00000004"]
