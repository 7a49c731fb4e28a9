"""Where this process stands, read from the environment the agent gave it (docs/protocol.md, section 2).

Without HEADWAY_ATTEMPT nobody is watching: the same values are filled in for a run by hand. Reads variables only.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Mapping, Optional

OFFLINE = "offline"


@dataclass(frozen=True)
class Environment:
    """One rank's place in its attempt; `rank_dir` is None offline, `port` is for services."""

    job: str
    attempt: str
    attempt_number: int
    rank: int
    world_size: int
    rank_dir: Optional[Path]
    events_name: str
    checkpoint_dir: Path
    resume_from: Optional[Path]
    checkpoint_every: Optional[int]
    checkpoint_seconds: Optional[float]
    checkpoint_keep: Optional[int]
    checkpoint_store: Optional[str]
    port: Optional[int]

    @property
    def is_offline(self) -> bool:
        return self.attempt == OFFLINE


def read_environment(variables: Mapping[str, str]) -> Environment:
    """The environment contract as a value; a variable that is not a number raises ValueError naming it."""
    rank = _integer(variables, "RANK") or 0
    attempt = variables.get("HEADWAY_ATTEMPT") or OFFLINE
    rank_dir = _path(variables, "HEADWAY_RANK_DIR") if attempt != OFFLINE else None
    own = rank_dir is not None and rank_dir.name == f"rank-{rank}" and "TORCHELASTIC_RUN_ID" not in variables
    # A restart by torchrun itself keeps the environment of the first start: what was saved since is newer.
    restarted = variables.get("TORCHELASTIC_RESTART_COUNT", "0") != "0"
    return Environment(
        job=variables.get("HEADWAY_JOB") or OFFLINE,
        attempt=attempt,
        attempt_number=_integer(variables, "HEADWAY_ATTEMPT_NUMBER") or 0,
        rank=rank,
        world_size=_integer(variables, "WORLD_SIZE") or 1,
        rank_dir=rank_dir,
        events_name="events.jsonl" if own else f"events-{rank}.jsonl",
        checkpoint_dir=_path(variables, "HEADWAY_CHECKPOINT_DIR") or Path("checkpoints"),
        resume_from=None if restarted else _path(variables, "HEADWAY_RESUME_FROM"),
        checkpoint_every=_integer(variables, "HEADWAY_CHECKPOINT_EVERY"),
        checkpoint_seconds=_seconds(variables, "HEADWAY_CHECKPOINT_SECONDS"),
        checkpoint_keep=_integer(variables, "HEADWAY_CHECKPOINT_KEEP"),
        checkpoint_store=variables.get("HEADWAY_CHECKPOINT_STORE") or None,
        port=_integer(variables, "HEADWAY_PORT"),
    )


def _integer(variables: Mapping[str, str], name: str) -> Optional[int]:
    text = variables.get(name, "")
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{name}={text!r} is not a whole number") from None


def _seconds(variables: Mapping[str, str], name: str) -> Optional[float]:
    text = variables.get(name, "")
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ValueError(f"{name}={text!r} is not a number of seconds above 0")
    return seconds


def _path(variables: Mapping[str, str], name: str) -> Optional[Path]:
    text = variables.get(name, "")
    return Path(text) if text else None
