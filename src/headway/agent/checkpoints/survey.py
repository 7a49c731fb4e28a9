"""Looks through a job's checkpoint folder for what frameworks saved there: which step, complete or why not, how old.

What the in-job SDK saves has a manifest and is verified by the server: it is passed over here.
"""

from __future__ import annotations

from headway.agent.checkpoints import formats
from headway.agent.checkpoints.folder import Damaged, Folder, mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

DEEPEST = 4
MOST = 1000
_OWN = "manifest.json"
FILES = (".ckpt", ".pt", ".pth")
_OFF = (".", "tmp", "wandb", "runs")


def survey(root: str, known: Collection[str] = ()) -> list[dict[str, Any]]:
    """Everything found below `root`, newest first, at most 1,000. Raises OSError where the root cannot be read.

    `known`: `path:saved_at` of those that were told and are not looked at again.
    """
    with Folder.root(root) as top:
        found = list(_below(top, DEEPEST, frozenset(known)))
    found.sort(key=lambda each: (-each["saved_at"], each["path"]))
    return found[:MOST]


def _below(folder: Folder, depth: int, known: frozenset[str]) -> Iterator[dict[str, Any]]:
    for name in sorted(folder.files):
        if name.endswith(FILES):
            seen = of_file(folder, name, known)
            if seen is not None:
                yield seen
    for name in folder.folders if depth else ():
        if name.startswith(_OFF):
            continue
        try:
            with folder.below(name) as inner:
                if _OWN in inner.files:
                    continue
                seen = of_folder(inner, known)
                if seen is None:
                    yield from _below(inner, depth - 1, known)
                elif "format" in seen:
                    yield seen
        except (Damaged, OSError):
            continue


def of_folder(folder: Folder, known: frozenset[str]) -> dict[str, Any] | None:
    """What the first rule that knows the folder says of it; {} for one that was told; None: nobody's."""
    statuses = list(folder.every_file())
    if not statuses:
        return None
    saved_at = max(status.st_mtime for status in statuses)
    size = sum(status.st_size for status in statuses)
    if mark(folder.path, saved_at) in known:
        return {}
    for name, rule in formats.RULES:
        try:
            step = rule(folder)
        except Damaged as damaged:
            named = formats.named_step(folder.name)
            return _entry(name, folder.path, named, size, saved_at, damaged)
        if step is not None:
            return _entry(name, folder.path, step, size, saved_at)
    return None


def of_file(folder: Folder, name: str, known: frozenset[str]) -> dict[str, Any] | None:
    """A file of a series; None: one without a step, or one that was told."""
    path = f"{folder.path}/{name}" if folder.path else name
    status = folder.files[name]
    if mark(path, status.st_mtime) in known:
        return None
    kind = "lightning" if name.endswith(".ckpt") else "plain"
    try:
        step = formats.single(folder, name)
    except Damaged as damaged:
        named = formats.named_step(name.rpartition(".")[0])
        return None if named is None else _entry(kind, path, named, status.st_size, status.st_mtime, damaged)
    return None if step == formats.UNKNOWN else _entry(kind, path, step, status.st_size, status.st_mtime)


def _entry(
    kind: str, path: str, step: int | None, size: int, saved_at: float, damaged: Damaged | None = None
) -> dict[str, Any]:
    return {
        "format": kind,
        "path": path,
        "step": None if step == formats.UNKNOWN else step,
        "bytes": size,
        "saved_at": saved_at,
        "reason": damaged.reason if damaged else None,
        "detail": damaged.detail if damaged else None,
    }
