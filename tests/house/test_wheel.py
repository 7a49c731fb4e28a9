"""What people install: few dependencies, and one wheel that carries its templates, texts and migrations."""

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.house.repository import PACKAGE, REPOSITORY

LIGHT = 4
ABSENT = ("No matching distribution found", "Could not find a version", "Connection", "connection")


def test_users_install_few_dependencies() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert len(project["dependencies"]) <= LIGHT


@pytest.mark.slow
def test_the_wheel_carries_everything_that_is_not_python(tmp_path: Path) -> None:
    """Slow: builds it as pip does, in an environment of its own."""
    wanted = {path for suffix in ("toml", "py") for path in PACKAGE.rglob(f"*.{suffix}")}
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(tmp_path),
        str(REPOSITORY),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
    if done.returncode and any(words in done.stderr for words in ABSENT):
        pytest.skip("absent: hatchling: no package index to get it from")
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("headway-*.whl")
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
    assert {str(path.relative_to(PACKAGE.parent)) for path in wanted} - names == set()
    assert {name for name in names if name.startswith(("tests/", "examples/"))} == set()
