"""Each framework saves here, now, and the agent knows what it wrote: part of `make evaluate`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headway.agent.checkpoints.survey import survey
from tests.live.seeds import exhaustive

WRITERS = str(Path(__file__).parent.parent / "agent/checkpoints/writers.py")
NEWEST = {"trainer": 4, "accelerate": 1, "lightning": 4, "deepspeed": 4, "dcp": 2, "plain": 4}
NEWEST |= {"megatron": 4, "torchtitan": 4}
NEEDS = {
    "lightning": "lightning",
    "deepspeed": "deepspeed ninja",
    "megatron": "--no-deps megatron-core",
    "torchtitan": "--no-deps torchtitan torchdata tyro docstring-parser typeguard",
}
FORMATS = {"torchtitan": "dcp"}


@exhaustive
@pytest.mark.live
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("framework", NEWEST)
def test_a_framework_writes_here_what_is_known(tmp_path: Path, framework: str) -> None:
    """What is not installed here goes into a virtual environment of its own beside this one's packages."""
    python = _with_packages(tmp_path / "venv", NEEDS.get(framework, ""))
    command = [python, WRITERS, framework, str(tmp_path / "out")]
    subprocess.run(command, check=True, capture_output=True, timeout=1200)
    found = survey(str(tmp_path / "out"))
    assert {each["format"] for each in found} == {FORMATS.get(framework, framework)}
    assert {each["reason"] for each in found} == {None}
    assert max(each["step"] for each in found) == NEWEST[framework]


def _with_packages(venv: Path, packages: str) -> str:
    if not packages:
        return sys.executable
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    python = venv / "bin/python"
    lib = next((venv / "lib").glob("python3*")) / "site-packages"
    beside = [path for path in sys.path if path.endswith("site-packages")]
    (lib / "beside.pth").write_text("\n".join(beside))
    install = [python, "-m", "pip", "install", "--quiet", "--no-build-isolation", *packages.split()]
    subprocess.run(install, check=True, env={**os.environ, "DS_BUILD_OPS": "0"}, timeout=600)
    return str(python)
