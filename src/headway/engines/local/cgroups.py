"""Control groups of attempts, v1 (hybrid too) and v2: made before the agent starts, removed after the end.

The agent puts itself into them and so everything it starts; nobody gets out of them by `setsid` or a clean environment.
Where none can be written there are none, which is an answer and not an error. Sets no limits.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

FOLDER = "headway"
# v1: pids to find and kill what is left; memory because the agent reads usage and out-of-memory kills there.
V1_CONTROLLERS = ("pids", "memory")
V2_CONTROLLERS = "+pids +memory"


def create(root: Path | None, attempt: str, node: str) -> list[str]:
    """Make the groups of one attempt on one node and return their paths; [] where none is writable."""
    if root is None:
        return []
    if (root / "cgroup.controllers").exists():
        return _make([root], attempt, node, V2_CONTROLLERS)
    return _make([root / name for name in V1_CONTROLLERS if (root / name).is_dir()], attempt, node, None)


def _make(hierarchies: Iterable[Path], attempt: str, node: str, controllers: str | None) -> list[str]:
    made = []
    for hierarchy in hierarchies:
        above = [hierarchy, hierarchy / FOLDER, hierarchy / FOLDER / attempt]
        try:
            (above[-1] / node).mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        made.append(str(above[-1] / node))
        for folder in above if controllers else ():
            # Refused where somebody else decides over controllers: finding and killing work without them.
            with suppress(OSError):
                (folder / "cgroup.subtree_control").write_text(controllers or "")
    return made


def pids(paths: Iterable[str]) -> set[int]:
    """Everybody in the groups and in groups made below them."""
    found: set[int] = set()
    for path in paths:
        for folder, _, _ in os.walk(path):
            with suppress(OSError):
                found.update(int(line) for line in Path(folder, "cgroup.procs").read_text().split())
    return found


def kill(paths: Iterable[str]) -> None:
    """Kill everybody in the groups at once where the kernel can (v2, `cgroup.kill`); elsewhere nothing happens."""
    for path in paths:
        switch = Path(path, "cgroup.kill")
        if switch.exists():
            with suppress(OSError):
                switch.write_text("1")


def remove(paths: Iterable[str]) -> None:
    """Remove empty groups, those made below them, and their attempt's when it was the last."""
    for path in paths:
        for folder, _, _ in os.walk(path, topdown=False):
            with suppress(OSError):
                os.rmdir(folder)
        with suppress(OSError):
            os.rmdir(os.path.dirname(path))
