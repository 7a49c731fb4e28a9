"""What people install: few dependencies, and one wheel that carries its templates, texts and migrations."""

import json
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.house.repository import PACKAGE, REPOSITORY

LIGHT = 4
USERS = ("domain", "sdk", "cli", "agent")
WITH_TORCH = frozenset({"headway.sdk.job.sharded", "headway.sdk.job.refill"})
"""Loaded only where a program saves a sharded model, which needs torch itself."""
EXTRAS = [
    *(
        "alembic",
        "argon2",
        "envoy",
        "fastapi",
        "psycopg",
        "pydantic",
        "pydantic_core",
        "pydantic_settings",
        "sqlalchemy",
    ),
    *("starlette", "structlog", "uvicorn", "zstandard", "torch", "transformers", "safetensors", "numpy"),
]
WITHOUT = """
import importlib, json, sys
modules, absent = json.loads(sys.argv[1])
sys.modules.update(dict.fromkeys(absent))
for module in modules:
    importlib.import_module(module)
"""
ABSENT = ("No matching distribution found", "Could not find a version", "Connection", "connection")


def test_users_install_few_dependencies() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert len(project["dependencies"]) <= LIGHT


def test_what_users_install_works_without_the_servers_and_the_trainers_libraries() -> None:
    paths = [path for room in USERS for path in (PACKAGE / room).rglob("*.py")]
    named = sorted(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in paths)
    modules = [name.removesuffix(".__init__") for name in named if name not in WITH_TORCH]
    command = [sys.executable, "-W", "error", "-c", WITHOUT, json.dumps([modules, EXTRAS])]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert len(modules) > 50
    assert done.returncode == 0, done.stderr


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
    assert "headway/server/web/index.html" in names
