"""What lies at a path, asked of a child that looks as the account that will load it: a framework's checkpoint, whether
it is whole, and on which file system. The server itself reads none of it.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import headway
from headway.domain.carrying import Form
from headway.domain.seeing import Lies, Mount
from headway.engines.become import KILL_AFTER_S, PATH, acting_as
from headway.engines.protocol import UnixUser
from headway.server.platform import AGENT, Platform

SECONDS = 600.0
"""So long a checkpoint's checksums may take."""
MODULE = "headway.agent.checkpoints"


@dataclass(frozen=True, slots=True)
class Written:
    """A framework's checkpoint as it is now; `reason`: why not to go on from it, empty: it is whole."""

    format: str
    path: str
    step: int | None
    bytes: int
    reason: str
    detail: str
    form: Form
    ranks: int | None
    copy: int


@dataclass(frozen=True, slots=True)
class Look:
    """What is at a path and what the path lies on; `written` None: nothing of a framework that is known."""

    lies: Lies
    written: Written | None = None


def inspect(platform: Platform, path: str, account: UnixUser | None) -> Look | None:
    """Look at it as `account` (None: the server's own). None: no Python of that account's could, or not in time."""
    for python in dict.fromkeys((sys.executable, "python3")):
        told = _told(platform, [python, "-m", MODULE, "inspect", path], account)
        if told is not None:
            mount = told["mount"] and Mount(**told["mount"])
            return Look(Lies(path, told["real"], told["boot"], mount), _written(told["found"]))
    return None


def _told(platform: Platform, words: list[str], account: UnixUser | None) -> Any:
    acting = acting_as(account, words, {"PATH": PATH, "PYTHONPATH": _package(platform)}, SECONDS)
    limit_s = SECONDS + 2 * KILL_AFTER_S
    try:
        ran = subprocess.run(
            acting.argv, env=acting.env, cwd="/", capture_output=True, timeout=limit_s, check=True, **acting.account
        )
        return json.loads(ran.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


def _package(platform: Platform) -> str:
    """What the agent can be imported from: the file the engines start, else the sources this server runs from."""
    built = platform.home / AGENT
    return str(built if built.is_file() else Path(headway.__file__).parents[1])


def _written(found: Mapping[str, Any] | None) -> Written | None:
    if found is None:
        return None
    shape = found["shape"]
    return Written(
        format=found["format"],
        path=found["path"],
        step=found["step"],
        bytes=found["bytes"],
        reason=found["reason"] or "",
        detail=found["detail"] or "",
        form=Form(shape["form"]),
        ranks=shape["ranks"],
        copy=shape["copy"],
    )
