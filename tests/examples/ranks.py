"""Start an example's ranks as the agent does: plain processes with the environment contract, no platform."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TINY_GPT = Path(__file__).parents[2] / "examples" / "tiny_gpt"
DEADLINE_S = 120


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HEADWAY_")}
    return {**kept, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1", **more}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not come within {DEADLINE_S} s"
        time.sleep(0.02)


class Attempt:
    """The two ranks of one attempt at training in `home`."""

    def __init__(self, home: Path, number: int, arguments: list[str], resume_from: Path | None = None) -> None:
        self._folder = home / f"attempt-{number}"
        contract = {
            "HEADWAY_JOB": "j-tiny",
            "HEADWAY_ATTEMPT": f"j-tiny.{number}",
            "HEADWAY_ATTEMPT_NUMBER": str(number),
            "HEADWAY_CHECKPOINT_DIR": str(home / "checkpoints"),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(free_port()),
            "WORLD_SIZE": "2",
        }
        if resume_from is not None:
            contract["HEADWAY_RESUME_FROM"] = str(resume_from)
        self.ranks = [self._start(rank, contract, arguments) for rank in (0, 1)]

    def _start(self, rank: int, contract: dict[str, str], arguments: list[str]) -> subprocess.Popen[bytes]:
        folder = self._folder / f"rank-{rank}"
        folder.mkdir(parents=True)
        own = {"RANK": str(rank), "LOCAL_RANK": "0", "HEADWAY_RANK_DIR": str(folder)}
        with open(folder / "log", "wb") as log:
            return subprocess.Popen(
                [sys.executable, str(TINY_GPT / "train.py"), *arguments],
                env=environment(**contract, **own),
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def events(self, rank: int, kind: str) -> list[dict[str, Any]]:
        path = self._folder / f"rank-{rank}" / "events.jsonl"
        lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
        return [event for event in map(json.loads, lines) if event["kind"] == kind]

    def step(self, rank: int) -> int:
        """The last step a rank said it has done."""
        seen = self.events(rank, "progress")
        return int(seen[-1]["step"]) if seen else 0

    def log(self, rank: int) -> str:
        return (self._folder / f"rank-{rank}" / "log").read_text(encoding="utf-8")

    def ask_to_stop(self, rank: int) -> None:
        folder = self._folder / f"rank-{rank}"
        (folder / ".control").write_text(json.dumps({"stop": True, "reason": "user"}))
        os.replace(folder / ".control", folder / "control.json")

    def wait(self) -> list[int]:
        """The exit codes of both ranks."""
        return [rank.wait(DEADLINE_S) for rank in self.ranks]

    def wait_for_step(self, step: int) -> None:
        def is_there() -> bool:
            assert all(rank.poll() is None for rank in self.ranks), self.log(0) + self.log(1)
            return all(self.step(rank) >= step for rank in (0, 1))

        wait_until(is_there, f"step {step}")

    def kill(self, rank: int) -> None:
        self.ranks[rank].send_signal(signal.SIGKILL)

    def end(self) -> None:
        """Kill what still runs."""
        for rank in self.ranks:
            rank.kill()
            rank.wait()
