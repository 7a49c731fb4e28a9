"""Every benchmark, one after the other, each in a process of its own: `python -m benchmarks [--json] [--quick]`.

Measures nothing itself. Ends with 1 when one of them did not run to its end; a missed target is said by its own table.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence

# Each with the words that make it short enough to see that it works.
BENCHMARKS: dict[str, tuple[str, ...]] = {
    "submit": ("--quick",),
    "recovery": ("--quick",),
    "checkpoint": ("--quick",),
    "overhead": ("--quick",),
    "pauses": ("--pairs", "6"),
    "logs": ("--rounds", "2", "--mib", "16"),
    "readings": ("--hours", "0.1"),
    "probes": (),
    "diagnosis": ("--quick",),
    "progress": (),
    "stalls": ("--quick",),
    "drills": ("--quick",),
    "gateway": ("--rounds", "2", "--requests", "200"),
    "cadence": ("--quick",),
    "cli": ("--rounds", "3"),
    "slurm": ("--quick",),
    "console": ("--rounds", "1"),
    "log_view": ("--lines", "50000", "--rounds", "1"),
}
LONGEST_S = 3600.0


def command(name: str, quick: bool, as_json: bool) -> list[str]:
    """The words that run one benchmark."""
    words = [sys.executable, "-m", f"benchmarks.{name}"]
    return [*words, *(BENCHMARKS[name] if quick else ()), *(["--json"] if as_json else [])]


def run(name: str, quick: bool, as_json: bool) -> bool:
    """Run one; whether it came to its end."""
    try:
        return subprocess.run(command(name, quick, as_json), check=False, timeout=LONGEST_S).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Print every benchmark's table.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"these only: {', '.join(BENCHMARKS)}")
    parser.add_argument("--json", action="store_true", help="each prints one JSON object last")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: to see that all work, not to measure")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}: there are {', '.join(BENCHMARKS)}")
    given.names = given.names or list(BENCHMARKS)
    return given


def main() -> int:
    """Run those that were asked for."""
    given, failed = parse(), []
    for name in given.names:
        if not run(name, given.quick, given.json):
            failed.append(name)
        print(flush=True)
    if failed:
        print(f"did not run to its end: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
