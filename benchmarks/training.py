"""The tiny GPT as both sides of a benchmark run it: its data set, its environment, what its ranks say of themselves.

The ranks' own time stamps are what is measured, whoever started them.
"""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.server import PROJECT, Server

TINY_GPT = Path(__file__).parents[1] / "examples" / "tiny_gpt"
DATASET = "stdlib"
TEMPLATE = "tiny-gpt"
CHECKPOINT_EVERY = 20
KEEP = 5
# One thread a rank, and no words about hubs: as the template has it.
PLAIN = {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
Event = dict[str, Any]


def prepare_data(folder: Path) -> Path:
    """A data set version folder of about 1 MB, made by the example's own program."""
    out = folder / DATASET
    command = [sys.executable, str(TINY_GPT / "prepare.py"), str(out), "--max-bytes", "1000000"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=120)
    return out


def register(here: Server, data: Path, **changes: Any) -> None:
    """The example's template, with these top-level entries changed, and its data set."""
    with (TINY_GPT / "template.toml").open("rb") as file:
        here.client.add_template(tomllib.load(file) | changes)
    here.client.register_dataset(DATASET, str(data))


def submit(here: Server, steps: int, **more: Any) -> str:
    """A training of so many steps; its id."""
    body = {
        "name": TEMPLATE,
        "project": PROJECT,
        "template": TEMPLATE,
        "source": str(TINY_GPT),
        "parameters": {"dataset": f"{DATASET}@1", "steps": steps},
        **more,
    }
    return str(here.client.submit(body)["id"])


def by_hand(folder: Path, more: Mapping[str, str]) -> dict[str, str]:
    """The environment contract of docs/protocol.md without a platform: ranks say what they do in `folder`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HEADWAY_")}
    contract = {
        "HEADWAY_JOB": "j-by-hand",
        "HEADWAY_ATTEMPT": "j-by-hand.1",
        "HEADWAY_ATTEMPT_NUMBER": "1",
        "HEADWAY_NODE": "here",
        "HEADWAY_RANK_DIR": str(folder),
        "HEADWAY_CHECKPOINT_DIR": str(folder / "checkpoints"),
        "HEADWAY_CHECKPOINT_KEEP": str(KEEP),
        "HEADWAY_CHECKPOINT_EVERY": str(CHECKPOINT_EVERY),
    }
    return {**kept, **PLAIN, **contract, **more}


def events(path: Path, kind: str) -> list[Event]:
    """What one rank has said of a kind so far, oldest first."""
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return [event for event in map(json.loads, lines) if event["kind"] == kind]


def step_reached(path: Path, step: int) -> bool | None:
    """True once a rank has done this step."""
    done = events(path, "progress")
    return True if done and done[-1]["step"] >= step else None


def first_after(paths: Sequence[Path], at: float, kind: str) -> Event | None:
    """The first event of a kind by any rank that was started after a moment; what older processes still say is not."""
    found = []
    for path in paths:
        begun = [event["t"] for event in events(path, "attached") if event["t"] > at]
        found += [event for event in events(path, kind) if begun and event["t"] >= begun[0]]
    return min(found, key=lambda event: float(event["t"]), default=None)
