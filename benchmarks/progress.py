"""How well progress is read from logs of many frameworks without a code change, and how fast.

Reads the labelled logs of `data/progress` beside the clone (or `$HEADWAY_SHARED`). A record is right when step, total,
epoch, loss, seconds a step and time left all are; a false one is read where the truth says that there is none. The
floor of a reader's speed is splitting the same text into lines and decoding it. Ten frameworks, chosen by a committed
seed, stayed unread until every reader was written; they are told apart, with what the first reading of them gave.
`python -m benchmarks.progress [--json]`.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from tests.diagnosis.progress.scoring import HELD_OUT_SEED, Score, framework, held_out, lines_of, score

from benchmarks.table import Goal, Result, machine, publish
from headway.diagnosis.progress import read

SHARED = Path(os.environ.get("HEADWAY_SHARED", Path(__file__).resolve().parents[2] / "shared"))
LOGS = SHARED / "data" / "progress"
AT_FIRST = "held out, read for the first time: 621 of 627 records, 3 false, 504 of 523 lines in phase"
HEAD = ("logs", "frameworks", "records", "right", "false", "lines", "in phase")


def measure(paths: Iterable[Path]) -> Score:
    """The score of some logs together."""
    total = Score()
    for path in paths:
        total.add(score(path, read(lines_of(path.with_suffix(".log")))))
    return total


def speed(paths: list[Path], rounds: int = 3) -> tuple[float, float]:
    """Lines a second of one core: read, and only split and decoded."""
    contents = [path.with_suffix(".log").read_bytes() for path in paths]
    count = rounds * sum(content.count(b"\n") for content in contents)
    began = time.process_time()
    for _ in range(rounds):
        for content in contents:
            read(content.decode().split("\n"))
    told = time.process_time() - began
    began = time.process_time()
    for _ in range(rounds):
        for content in contents:
            content.decode().split("\n")
    return count / told, count / max(time.process_time() - began, 1e-6)


def row(name: str, paths: list[Path], found: Score) -> tuple[str, ...]:
    """One line of the table."""
    frameworks = len({framework(path) for path in paths})
    share = f"{found.right / found.records:.2%}"
    return (
        f"{name} ({len(paths)})",
        str(frameworks),
        str(found.records),
        f"{found.right} ({share})",
        str(found.false),
        str(found.lines),
        f"{found.in_phase} ({found.in_phase / found.lines:.1%})",
    )


def main() -> None:
    """Print the table, and one JSON object last with `--json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not LOGS.is_dir():
        sys.exit(f"no folder {LOGS}: set HEADWAY_SHARED")
    here, paths, apart = machine(), sorted(LOGS.glob("*.json")), held_out(LOGS)
    groups = {
        "written for": [path for path in paths if framework(path) not in apart],
        "held out": [path for path in paths if framework(path) in apart],
        "all": paths,
    }
    found = {name: measure(group) for name, group in groups.items()}
    every, (told, floor) = found["all"], speed(paths)
    goals = (
        Goal("share of records right", every.right / every.records, "at least", 0.99),
        Goal("false records of those read", every.false / every.read, "at most", 0.001),
        Goal("share of lines in the right phase", every.in_phase / every.lines, "at least", 0.95),
    )
    notes = (
        f"held out by seed {HELD_OUT_SEED}: {', '.join(sorted(apart))}",
        AT_FIRST,
        f"{told:,.0f} lines/s on one core, these logs; split and decoded only: {floor:,.0f} lines/s",
    )
    figures = {name: {key: value for key, value in vars(one).items() if key != "missed"} for name, one in found.items()}
    rows = (HEAD, *(row(name, groups[name], one) for name, one in found.items()))
    result = Result(
        "progress", "progress read without a code change", rows, goals, notes, figures | {"lines_per_s": told}
    )
    publish(result, options.json, here)


if __name__ == "__main__":
    main()
