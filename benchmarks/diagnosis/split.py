"""Which labelled cases are held out, and into which folds the others fall: by source, from a committed seed.

Cases that share a repository (or are put together from several) always fall on the same side. Nothing but the field
`source` of a case is looked at. `python -m benchmarks.diagnosis.split FOLDER` prints the held-out cases.
"""

import json
import random
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

SEED = 20261201
HELD_OUT = 16
FOLDS = 5

_REPOSITORY = re.compile(r"([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?=[#/ ]|$)")


def held_out(folder: Path) -> frozenset[str]:
    """The cases nobody looks at before the last run: whole groups in shuffled order, as long as they fit."""
    chosen: set[str] = set()
    for group in _shuffled(_groups(folder)):
        if len(chosen) + len(group) <= HELD_OUT:
            chosen |= set(group)
    return frozenset(chosen)


def folds(folder: Path) -> list[frozenset[str]]:
    """The other cases in `FOLDS` parts of about the same size, whole groups each, the largest groups dealt first."""
    out = held_out(folder)
    groups = [group for group in _shuffled(_groups(folder)) if not out & set(group)]
    parts: list[set[str]] = [set() for _ in range(FOLDS)]
    for group in sorted(groups, key=len, reverse=True):
        min(parts, key=len).update(group)
    return [frozenset(part) for part in parts]


def _shuffled(groups: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    order = sorted(groups)
    random.Random(SEED).shuffle(order)
    return order


def _groups(folder: Path) -> list[tuple[str, ...]]:
    """Cases joined by the repositories they name: connected components, each sorted."""
    named = {path.parent.name: _repositories(json.loads(path.read_text())) for path in folder.glob("*/case.json")}
    root = {name: name for name in named}

    def find(name: str) -> str:
        while root[name] != name:
            name = root[name]
        return name

    first: dict[str, str] = {}
    for name in sorted(named):
        for repository in sorted(named[name]):
            root[find(name)] = find(first.setdefault(repository, name))
    groups: dict[str, list[str]] = {}
    for name in sorted(named):
        groups.setdefault(find(name), []).append(name)
    return [tuple(group) for group in groups.values()]


def _repositories(case: Mapping[str, str]) -> set[str]:
    return {found.lower() for found in _REPOSITORY.findall(case["source"])} or {case["source"].lower()}


if __name__ == "__main__":
    print(" ".join(sorted(held_out(Path(sys.argv[1])))))
