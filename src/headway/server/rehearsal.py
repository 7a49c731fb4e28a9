"""What past jobs would have met: under a proposed quota table, or with more nodes, beside what they meet as it is.

Both sides are replayed by the scheduler itself, so that they differ in nothing but the table and the nodes.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from rich.cells import cell_len

from headway.domain.errors import Language, PlatformError, message
from headway.domain.quota import QuotaTree, check_tree
from headway.domain.resources import Node
from headway.scheduler.rehearse import Outcome, Rehearsal, rehearse
from headway.scheduler.replay import Past
from headway.scheduler.snapshot import Snapshot

NODES = re.compile(r"([1-9][0-9]{0,4})x([1-9][0-9]{0,2})x([A-Za-z0-9._-]+)")
COLUMNS = ("project", "jobs", "mean-wait", "p90-wait", "evictions", "utilisation")


@dataclass(frozen=True, slots=True)
class Compared:
    """The same jobs as things are, and as they would be; `left_out`: jobs that fit on neither side."""

    before: Rehearsal
    after: Rehearsal
    left_out: int


def compare(past: Sequence[Past], present: Snapshot, tree: QuotaTree | None, added: Sequence[Node]) -> Compared:
    """Replay the jobs twice. Raises `rehearse-nothing` where nothing can be replayed, and what `check_tree` raises."""
    proposed = replace(present, nodes=(*present.nodes, *added), tree=tree or present.tree)
    if tree is not None:
        check_tree(tree, {node.device_type for node in proposed.nodes})
    fitting = [job for job in past if _fits(job, present) and _fits(job, proposed)]
    if not fitting:
        raise PlatformError("rehearse-nothing", jobs=len(past))
    before, _ = rehearse([copy(job) for job in fitting], present)
    after, _ = rehearse([copy(job) for job in fitting], proposed)
    return Compared(before, after, len(past) - len(fitting))


def nodes_of(text: str, engine: str = "rehearsal") -> list[Node]:
    """`4x8xH800`: four nodes of eight devices. Raises `invalid-field`."""
    found = NODES.fullmatch(text)
    if not found:
        raise PlatformError("invalid-field", field="nodes", value=text[:80], rule="NODESxDEVICESxTYPE")
    count, devices, kind = int(found.group(1)), int(found.group(2)), found.group(3)
    return [Node(f"added-{kind}-{number:05}", engine, kind, devices) for number in range(count)]


def as_table(compared: Compared) -> dict[str, Any]:
    """Everything that is told, by project."""
    names = sorted(compared.before.by_project)
    sides = {"before": compared.before, "after": compared.after}
    return {
        "jobs": compared.before.whole.jobs,
        "left_out": compared.left_out,
        "whole": {name: _told(side.whole) for name, side in sides.items()},
        "projects": {
            project: {name: _told(side.by_project[project]) for name, side in sides.items()} for project in names
        },
    }


def lines(compared: Compared, language: Language) -> Iterable[str]:
    """The same as people read it: a row a project, in each cell before → after."""
    told = as_table(compared)
    titles = [message(f"rehearse-column-{name}", {}, language) for name in COLUMNS]
    whole = (message("rehearse-whole", {}, language), told["whole"])
    rows = [_cells(project, sides) for project, sides in [*told["projects"].items(), whole]]
    yield from _aligned([titles, *rows])
    yield message("rehearse-said", {}, language)
    if compared.left_out:
        yield message("rehearse-left-out", {"jobs": compared.left_out}, language)


def _cells(project: str, sides: Mapping[str, Mapping[str, Any]]) -> list[str]:
    before, after = sides["before"], sides["after"]
    waits = [f"{before[key]:,.0f} → {after[key]:,.0f}" for key in ("mean_wait_s", "p90_wait_s", "evictions")]
    used = f"{_percent(before['utilisation'])} → {_percent(after['utilisation'])}"
    return [project, str(before["jobs"]), *waits, used]


def _aligned(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    """Columns, the first flush left; wide characters are counted as two."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        spaces = [" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
        yield "  ".join([row[0] + spaces[0], *map(str.__add__, spaces[1:], row[1:])])


def _percent(share: float | None) -> str:
    return "—" if share is None else f"{share:.1%}"


def _told(outcome: Outcome) -> dict[str, float | None]:
    return {
        "jobs": outcome.jobs,
        "mean_wait_s": round(outcome.mean_wait, 1),
        "p50_wait_s": round(outcome.p50_wait, 1),
        "p90_wait_s": round(outcome.p90_wait, 1),
        "max_wait_s": round(outcome.max_wait, 1),
        "evictions": outcome.evictions,
        "utilisation": None if outcome.utilisation is None else round(outcome.utilisation, 4),
    }


def _fits(past: Past, snapshot: Snapshot) -> bool:
    """Whether the job could ever start there: nodes enough of one type, and a ceiling that allows it."""
    request = past.job.request
    for kind in {node.device_type for node in snapshot.nodes if request.accepts(node.device_type)}:
        wide = sum(node.device_type == kind and node.devices >= request.devices_per_node for node in snapshot.nodes)
        entry = snapshot.tree.entry(past.job.project, kind) if snapshot.tree else None
        allowed = entry is not None and (entry.ceiling is None or request.devices <= entry.ceiling)
        if allowed and wide >= request.nodes:
            return True
    return False
