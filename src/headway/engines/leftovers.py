"""Removes what is left of ended attempts below a folder of run directories; whether it may is the engine's to say.

An attempt's folder is first renamed out of sight, so that one removed in part is never taken for an attempt. Nothing is
followed out of it: the submitter may have put links inside.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from headway.domain.ids import AttemptId

HIDDEN = ".removed-"
FOREIGN = "."
"""What begins so is not an attempt's folder."""


def kept(folder: Path) -> list[AttemptId]:
    """Attempts of which there are files, those whose removal was cut short included. Raises OSError."""
    names = [entry.name.removeprefix(HIDDEN) for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
    return sorted({AttemptId(name) for name in names if not name.startswith(FOREIGN)})


def is_told(place: Path) -> bool:
    """Whether no piece of a rank's output is left in a node directory's spool."""
    return not any(place.glob("spool/rank-*/*.log"))


def remove(folder: Path, attempt: AttemptId) -> int:
    """Remove an attempt's folder; the bytes of the files in it. Raises OSError."""
    place, hidden = folder / attempt, folder / (HIDDEN + attempt)
    if place.is_dir() and not hidden.exists():
        os.rename(place, hidden)
    found = sum(_sizes(hidden))
    shutil.rmtree(hidden)
    return found


def _sizes(folder: Path) -> Iterator[int]:
    for where, _, names in os.walk(folder):
        for name in names:
            yield os.lstat(os.path.join(where, name)).st_size
