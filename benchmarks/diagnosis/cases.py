"""The labelled cases: the bytes of their logs apart from their truth, so that a finding never sees the truth."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HARD = "hard"


@dataclass(frozen=True)
class Case:
    """`logs`: bytes by path. `truth`: the fields of case.json."""

    id: str
    logs: Mapping[str, bytes]
    truth: Mapping[str, Any]

    @property
    def is_hardest(self) -> bool:
        """Whether its last error is not where it began, or it is labelled hard."""
        return bool(self.truth.get("last_error_is_secondary")) or self.truth.get("difficulty") == HARD


def load(folder: Path, ids: Collection[str]) -> list[Case]:
    """The cases with these ids, in their order; no other case is opened."""
    return [_load(folder / id_) for id_ in sorted(ids)]


def _load(folder: Path) -> Case:
    truth = json.loads((folder / "case.json").read_text())
    logs = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "case.json"
    }
    return Case(folder.name, logs, truth)
