"""Drills of storage: a file in a rank's directory makes the rank's next save fail, once, as if its mount were gone.

Nothing of the storage itself is touched. A save that meets the file takes it away, by which it is known to have met it;
the directory is one attempt's, so nothing is left for the next.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

FILE = "storage-gone.json"
"""What the in-job SDK looks for when a save begins."""


class Outages:
    """Which drills were begun here and not met by a save yet."""

    def __init__(self) -> None:
        self._files: dict[str, Sequence[str]] = {}

    def begin(self, drill: str, paths: Sequence[str]) -> None:
        """The file stands at these paths, one for each rank."""
        self._files[drill] = paths

    def met(self) -> list[str]:
        """The drills that a save has met since this was asked last."""
        met = [drill for drill, paths in self._files.items() if not all(map(os.path.exists, paths))]
        for drill in met:
            del self._files[drill]
        return met
