"""The zipapp: what it carries, that it is the same each time, and that starting it loads little."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from headway.agent.build import build_zipapp
from tests.agent.node import Node
from tests.agent.witness_server import WitnessServer

HEAVY = {
    "subprocess",
    "http.client",
    "typing",
    "dataclasses",
    "argparse",
    "logging",
    "zlib",
    "ssl",
    "urllib.parse",
    "email",
}


def test_two_builds_are_byte_for_byte_the_same(zipapp: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.pyz"
    env = {**os.environ, "PYTHONHASHSEED": "7"}
    subprocess.run(
        [sys.executable, "-m", "headway.agent.build", str(again)], check=True, env=env, stdout=subprocess.PIPE
    )
    assert again.read_bytes() == zipapp.read_bytes()


def test_building_over_a_zipapp_in_use_leaves_no_half_file(zipapp: Path, tmp_path: Path) -> None:
    target = tmp_path / "deep" / "headway-agent.pyz"
    assert build_zipapp(target) == target
    before = target.stat().st_ino
    build_zipapp(target)
    assert target.stat().st_ino != before
    assert [path.name for path in target.parent.iterdir()] == ["headway-agent.pyz"]


def test_it_carries_the_agent_and_the_in_job_sdk_and_nothing_else(zipapp: Path) -> None:
    names = zipfile.ZipFile(zipapp).namelist()
    rooms = {name.split("/")[1] for name in names if name.count("/") > 1}
    assert rooms == {"agent", "sdk"}
    assert {"headway/__init__.py", "headway/sdk/__init__.py", "headway/sdk/job/__init__.py"} <= set(names)
    assert not any(name.startswith("headway/sdk/client") for name in names)
    assert all(f"{name}c" in names for name in names if name.endswith(".py"))


def test_a_start_loads_none_of_the_heavy_modules(node: Node, server: WitnessServer) -> None:
    node.write_order("true")
    command = [sys.executable, "-I", "-S", "-X", "importtime", str(node.zipapp), "run", str(node.directory)]
    told = subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True).stderr
    loaded = {line.rpartition("|")[2].strip() for line in told.splitlines() if line.startswith("import time:")}
    assert "headway.agent.witness" in loaded
    assert loaded & HEAVY == set()
    assert not any(name.startswith("headway.agent.probes") for name in loaded)


@pytest.mark.parametrize("python", ["python3.9", "python3.12", "python3.13"])
def test_it_runs_on_another_python(node: Node, server: WitnessServer, python: str) -> None:
    installed = sorted(Path.home().glob(f".pyenv/versions/*/bin/{python}"))
    found = str(installed[0]) if installed else shutil.which(python)
    if found is None:
        pytest.skip(f"absent: {python}: neither on PATH nor in ~/.pyenv")
    node.write_order(found, "-c", "import headway; print(headway.attach.__module__)", readings_s=0.05)
    agent = node.start(found)
    assert agent.wait(60) == 0
    assert server.logs[0].decode() == "headway.sdk.job.run\n"
    assert server.reports[0]["agent"]["python"].startswith(python.removeprefix("python"))


def test_wrong_words_are_answered_with_the_usage(zipapp: Path) -> None:
    ran = subprocess.run([sys.executable, str(zipapp), "start"], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert ran.stderr.startswith("usage: headway-agent run")


def test_a_bad_order_is_said_and_is_an_end_that_the_engine_can_see(node: Node) -> None:
    node.write_order("true", launcher="mpirun")
    ran = subprocess.run(
        [sys.executable, str(node.zipapp), "run", str(node.directory)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert "launcher is 'mpirun': expected 'ranks' or 'torchrun'" in ran.stderr
    assert node.read("final.json")["reason"] == "start-failed"
    check = subprocess.run(
        [sys.executable, str(node.zipapp), "check", str(node.directory)], capture_output=True, text=True, check=False
    )
    assert (check.returncode, check.stderr) == (2, ran.stderr)


def test_check_says_what_an_order_would_run(node: Node) -> None:
    node.write_order("true", ranks=2, world_size=4)
    check = subprocess.run(
        [sys.executable, str(node.zipapp), "check", str(node.directory)], capture_output=True, text=True, check=True
    )
    assert check.stdout == f"{node.order['attempt']} on n1: 2 of 4 ranks\n"
