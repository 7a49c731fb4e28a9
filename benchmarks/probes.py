"""Fields of the card makers' print-outs read as their truth says, and how long a table takes to read.

Reads the pairs of `data/probes` beside the clone (or `$HEADWAY_SHARED`), each named and unnamed, as acceptance does.
`python -m benchmarks.probes [--json]`.
"""

import argparse
import json
import statistics
import sys
import time
from dataclasses import asdict, dataclass

from tests.agent.probes.scoring import PRINTOUTS, compare

from headway.agent.printouts import screen
from headway.agent.probes import port


@dataclass
class Row:
    """One maker: print-outs, fields, how many are right with the tool named and unnamed, milliseconds a print-out."""

    maker: str
    printouts: int = 0
    fields: int = 0
    right_named: int = 0
    right_unnamed: int = 0
    median_ms: float = 0.0


def measure() -> list[Row]:
    """Every maker with at least one pair."""
    rows = []
    for folder in sorted(path for path in PRINTOUTS.iterdir() if path.is_dir()):
        row, times = Row(folder.name), []
        for path in sorted(folder.glob("*.json")):
            truth = json.loads(path.read_text())
            text = screen.plain(path.with_suffix(".txt").read_bytes())
            began = time.perf_counter()
            right, wrong = compare(port.read(row.maker, truth["tool"], text), truth)
            times.append((time.perf_counter() - began) * 1000)
            unnamed, _ = compare(port.read(row.maker, "", text), truth)
            row.printouts += 1
            row.fields += right + len(wrong)
            row.right_named += right
            row.right_unnamed += unnamed
        row.median_ms = round(statistics.median(times), 2)
        rows.append(row)
    return rows


def main() -> None:
    """Print the table, and one JSON object last with `--json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not PRINTOUTS.is_dir():
        sys.exit(f"no folder {PRINTOUTS}: set HEADWAY_SHARED")
    rows = measure()
    print(f"{'maker':<12}{'files':>6}{'fields':>8}{'named':>8}{'unnamed':>9}{'ms':>8}")
    for row in rows:
        print(
            f"{row.maker:<12}{row.printouts:>6}{row.fields:>8}{row.right_named:>8}{row.right_unnamed:>9}"
            f"{row.median_ms:>8.2f}"
        )
    total, right = sum(row.fields for row in rows), sum(row.right_named for row in rows)
    print(f"{right} of {total} fields right ({right / total:.2%})")
    if options.json:
        print(json.dumps({"rows": [asdict(row) for row in rows], "fields": total, "right": right}))


if __name__ == "__main__":
    main()
