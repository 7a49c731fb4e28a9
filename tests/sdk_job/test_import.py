"""What `import headway` costs and needs: nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import headway

SRC = Path(headway.__file__).parents[1]
IN_JOB = (
    "headway/__init__.py",
    "headway/sdk/__init__.py",
    *sorted(f"headway/sdk/job/{path.name}" for path in (SRC / "headway/sdk/job").glob("*.py")),
)
HEAVY = ("torch", "numpy", "click", "httpx", "rich", "transformers", "sqlalchemy", "pydantic")


def run_alone(code: str, path: Path, python: str = sys.executable) -> subprocess.CompletedProcess[str]:
    """Run code in an interpreter with the standard library and `path`, nothing else and no environment."""
    code = f"import sys; sys.path.insert(0, {str(path)!r})\n{code}"
    command = [python, "-I", "-S", "-W", "error", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env={"PATH": os.defpath}, check=False)


def old_python() -> str | None:
    """A Python 3.9 on this machine."""
    found = [shutil.which("python3.9"), *map(str, Path.home().glob(".pyenv/versions/3.9.*/bin/python3.9"))]
    for python in filter(None, found):
        if subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0:
            return python
    return None


def test_importing_headway_loads_nothing_heavy() -> None:
    code = "import json, sys, headway; headway.attach; print(json.dumps(sorted(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert not set(HEAVY).intersection(json.loads(result.stdout))


def test_importing_headway_alone_loads_no_other_part_of_it() -> None:
    code = "import sys, headway; print(sorted(n for n in sys.modules if n.startswith('headway.')))"
    assert run_alone(code, SRC).stdout.strip() == "[]"


LIFE = """
import headway
run = headway.attach()
assert headway.attach() is run
own = {"cursor": 7}
checkpoints = run.checkpoints(extra=own, directory=PLACE)
assert checkpoints.restore() == 0
run.progress(1, 2, loss=0.5)
with run.phase("save"):
    checkpoints.save(1)
own["cursor"] = 0
assert run.checkpoints(extra=own, directory=PLACE).restore() == 1 and own == {"cursor": 7}
assert not run.should_stop()
print("fine")
"""


def test_the_in_job_part_works_on_the_standard_library_alone(tmp_path: Path) -> None:
    result = run_alone(f"PLACE = {str(tmp_path / 'c')!r}\n{LIFE}", SRC)
    assert (result.stdout, result.returncode) == ("fine\n", 0), result.stderr
    assert "step 1/2 loss=0.5" in result.stderr


def test_the_in_job_part_works_on_python_3_9(tmp_path: Path) -> None:
    python = old_python()
    if python is None:
        pytest.skip("absent: Python 3.9")
    result = run_alone(f"PLACE = {str(tmp_path / 'c')!r}\n{LIFE}", SRC, python)
    assert (result.stdout, result.returncode) == ("fine\n", 0), result.stderr


def test_the_in_job_part_works_from_inside_a_zip(tmp_path: Path) -> None:
    archive = tmp_path / "agent.pyz"
    with zipfile.ZipFile(archive, "w") as file:
        for name in IN_JOB:
            file.write(SRC / name, name)
    result = run_alone(f"PLACE = {str(tmp_path / 'c')!r}\n{LIFE}", archive)
    assert (result.stdout, result.returncode) == ("fine\n", 0), result.stderr


def test_the_version_is_the_projects() -> None:
    project = tomllib.loads((SRC.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert headway.__version__ == project["version"]


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_such"):
        headway.nothing_such  # noqa: B018
