"""What every benchmark prints: when, by which command, on which machine, one table, what it means against its target.

It measures nothing. With `--json` one object is printed last, on a line of its own.
"""

import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any


@dataclass(frozen=True)
class Goal:
    """A figure and what it should be: `at least` or `at most` the target."""

    what: str
    value: float
    sense: str
    target: float

    @property
    def is_met(self) -> bool:
        return self.value >= self.target if self.sense == "at least" else self.value <= self.target

    def sentence(self) -> str:
        """The figure beside its target, and whether it is met."""
        said = "met" if self.is_met else "NOT met"
        return f"{self.what}: {self.value:.3g}, target {self.sense} {self.target:g}: {said}"


@dataclass(frozen=True)
class Result:
    """One benchmark's outcome; the first row of the table heads its columns, `figures` are for programs."""

    name: str
    title: str
    rows: Sequence[Sequence[str]]
    goals: Sequence[Goal]
    notes: Sequence[str] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)


def publish(result: Result, as_json: bool, here: Mapping[str, Any] | None = None) -> None:
    """Print it; `here` is `machine()` as it was before a benchmark made load of its own."""
    here = here or machine()
    print(f"{result.name}: {result.title}")
    print(f"date:    {here['date']}")
    print(f"command: {here['command']}")
    print(f"machine: {describe(here)}\n")
    print(markdown(result.rows))
    print()
    for line in [*result.notes, *(goal.sentence() for goal in result.goals)]:
        print(line)
    if as_json:
        goals = [{**vars(goal), "met": goal.is_met} for goal in result.goals]
        print(json.dumps({"benchmark": result.name, **here, "goals": goals, **result.figures}))


def machine() -> dict[str, Any]:
    """Now, the command that was typed, and what it runs on."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": " ".join(["python -m", _module(), *sys.argv[1:]]),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load_1m": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
    }


def describe(here: Mapping[str, Any]) -> str:
    """The machine in one line. A load above its cores makes every figure provisional, and is said."""
    busy = " (BUSY: figures are provisional)" if here["load_1m"] > here["cores"] else ""
    return f"{here['cores']} cores, load {here['load_1m']}{busy}, {here['system']}, Python {here['python']}"


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Rows as an aligned Markdown table, the first its head."""
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def _module() -> str:
    main = sys.modules["__main__"]
    return main.__spec__.name if main.__spec__ is not None else sys.argv[0]
