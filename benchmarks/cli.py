"""Start-up of the command line against the floor of an interpreter that does nothing, in the same run.

Each command is started as a person would, `headway …`, in turn with `python -c pass` and `python -c 'import click'`, so
that a busy machine slows all alike. Nothing is asked of a server: `ps` stops at the missing login.
`python -m benchmarks.cli [--json] [--rounds N]`.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from statistics import median

from benchmarks.table import Goal, Result, publish

TARGET_MS = 150.0
HEADWAY = (sys.executable, "-c", "from headway.cli.main import main; main()")
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "python -c pass": (sys.executable, "-c", "pass"),
    "python -c 'import click'": (sys.executable, "-c", "import click"),
    "headway --version": (*HEADWAY, "--version"),
    "headway --help": (*HEADWAY, "--help"),
    "headway submit --help": (*HEADWAY, "submit", "--help"),
    "headway ps, not logged in": (*HEADWAY, "ps"),
}
FLOOR, MEASURED = "python -c pass", "headway --help"


def measure(rounds: int) -> dict[str, list[float]]:
    """Milliseconds of every start, by command; one round that warms the disk's cache is left out."""
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    with tempfile.TemporaryDirectory() as home:
        hidden = ("HEADWAY_URL", "HEADWAY_TOKEN")
        environment = {key: value for key, value in os.environ.items() if key not in hidden} | {"HEADWAY_HOME": home}
        for number in range(rounds + 1):
            for name, command in COMMANDS.items():
                took = start(command, environment)
                if number:
                    taken[name].append(took)
    return taken


def start(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """Milliseconds from start to end of one process."""
    began = time.perf_counter()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return (time.perf_counter() - began) * 1000


def table(taken: Mapping[str, Sequence[float]]) -> list[tuple[str, ...]]:
    """A row a command: median, fastest, and the median against the floor's."""
    floor = median(taken[FLOOR])
    rows = [
        (name, f"{median(times):.0f}", f"{min(times):.0f}", f"{median(times) / floor:.1f}×")
        for name, times in taken.items()
    ]
    return [("command", "median ms", "fastest ms", "of the floor"), *rows]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=20)
    asked = parser.parse_args()
    taken = measure(asked.rounds)
    medians = {name: round(median(times), 1) for name, times in taken.items()}
    goal = Goal("`headway --help`, median ms", medians[MEASURED], "at most", TARGET_MS)
    note = f"{asked.rounds} starts of each, in turn."
    publish(Result("cli", "start-up of the command line", table(taken), [goal], [note], {"ms": medians}), asked.json)


if __name__ == "__main__":
    main()
