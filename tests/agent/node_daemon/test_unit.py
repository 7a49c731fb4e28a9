"""The systemd unit that comes with the project starts the daemon with words it takes."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from headway.agent.node.options import parse

UNIT = Path(__file__).resolve().parents[3] / "deploy" / "headway-node.service"


def test_the_unit_starts_the_daemon_with_words_it_takes(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("hwn_1\n")
    given = {
        "${HEADWAY_SERVER}": "https://h:8470",
        "${CREDENTIALS_DIRECTORY}/token": str(token),
        "${STATE_DIRECTORY}": str(tmp_path),
        "$HEADWAY_NODE_OPTIONS": "--node n1 --engine slurm --mount /data",
    }
    found = re.search(r"^ExecStart=\S+ \S+headway-agent.pyz node (.*)$", UNIT.read_text(), re.MULTILINE)
    assert found is not None
    words = found.group(1)
    for name, value in given.items():
        words = words.replace(name, value)
    assert "$" not in words
    options = parse(words.split())
    assert (options.node, options.engine, options.mounts, options.state) == ("n1", "slurm", ("/data",), str(tmp_path))


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    checker = shutil.which("systemd-analyze")
    if checker is None:
        pytest.skip("absent: systemd-analyze: no systemd on PATH")
    done = subprocess.run([checker, "verify", str(UNIT)], capture_output=True, text=True, timeout=60, check=False)
    complaints = [line for line in done.stderr.splitlines() if UNIT.name in line]
    assert complaints == []
