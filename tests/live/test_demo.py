"""The main job, whole: what `make demo` does and measures."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
DEADLINE_S = 600

pytestmark = [pytest.mark.live, pytest.mark.timeout(DEADLINE_S + 60)]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One run of the demo: its story under `story`, beside what it measured."""
    folder = tmp_path_factory.mktemp("demo")
    command = [
        sys.executable,
        "-m",
        "examples.demo",
        "--home",
        str(folder / "home"),
        "--json",
        str(folder / "demo.json"),
    ]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads((folder / "demo.json").read_text())
    return found | {"story": done.stdout}


def test_the_training_reaches_its_last_step_although_a_rank_was_killed(told: dict[str, Any]) -> None:
    assert told["steps"] == 120
    assert told["resumed_step"] % 20 == 0
    assert told["resumed_step"] > 0
    assert 0 < told["lost_steps"] <= 40


def test_the_verdict_names_rank_node_signal_and_whose_move_it_is(told: dict[str, Any]) -> None:
    assert told["verdict"] == {"rank": 1, "node": "n2", "class": "killed", "owner": "nobody"}
    assert "SIGKILL" in told["story"]
    assert 0 < told["kill_to_first_step_s"] < DEADLINE_S


def test_no_request_fails_while_traffic_moves(told: dict[str, Any]) -> None:
    assert told["requests"] >= 500
    assert told["failed_requests"] == 0


def test_the_bill_is_its_intervals(told: dict[str, Any]) -> None:
    assert told["statement_device_seconds"] == told["interval_device_seconds"] > 0
    for basis in ("training by occupancy", "serving by resident time", "waited"):
        assert basis in told["story"]
