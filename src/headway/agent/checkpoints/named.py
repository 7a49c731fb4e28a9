"""One path, looked at for who asks before a job goes on from it: which framework's checkpoint it is, whether it is
whole, how it is laid out, and what file system it lies on. Decides nothing and changes nothing.
"""

from __future__ import annotations

import os

from headway.agent import files
from headway.agent.checkpoints import shape, survey
from headway.agent.checkpoints.folder import Damaged, Folder
from headway.agent.scene import mounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_EVERYTHING: frozenset[str] = frozenset()


def inspect(path: str) -> dict[str, Any]:
    """`found`: as a survey tells it, with its `shape` and the absolute path; null where nothing is known there. `real`,
    `boot` and `mount`: where the path lies. A folder that is no checkpoint stands for the newest whole one in it.
    """
    path = os.path.normpath(path)
    real = os.path.realpath(path)
    return {"found": _found(path), "real": real, "boot": mounts.boot(), "mount": _mount(real)}


def _found(path: str) -> dict[str, Any] | None:
    parent, name = os.path.split(path)
    try:
        with Folder.root(parent) as top:
            seen = _at(top, name)
            if seen is not None or name not in top.folders:
                return None if seen is None else {**seen, "path": path}
        inside = [each for each in survey.survey(path) if each["step"] is not None]
    except (Damaged, OSError):
        return None
    best = next((each for each in inside if each["reason"] is None), inside[0] if inside else None)
    return _found(os.path.join(path, best["path"])) if best else None


def _at(top: Folder, name: str) -> dict[str, Any] | None:
    if name in top.files:
        seen = survey.of_file(top, name, _EVERYTHING) if name.endswith(survey.FILES) else None
        return seen and {**seen, "shape": shape.of_file(seen["format"])}
    if name not in top.folders:
        return None
    with top.below(name) as folder:
        seen = survey.of_folder(folder, _EVERYTHING)
        return seen and {**seen, "shape": shape.of_folder(seen["format"], folder)}


def _mount(path: str) -> dict[str, Any] | None:
    table = files.read_text("/proc/self/mountinfo") or ""
    held = mounts.holding(path, mounts.read(table))
    return held.place() if held is not None else None
