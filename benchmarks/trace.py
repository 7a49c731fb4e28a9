"""Job traces for benchmarks: filtered, and given limits where none were published.

Limits are the reference tool's synthetic ones: run time × a ratio of a real log, up to the next usual limit, one random
draw a job in order of submission.
"""

import gzip
from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path
from random import Random

from headway.domain.errors import PlatformError
from headway.domain.quota import Branch, Entry, QuotaTree
from headway.domain.resources import Node
from headway.scheduler.policy import Policy
from headway.scheduler.replay import Past
from headway.scheduler.snapshot import Snapshot
from headway.server.trace import EPOCH, Row, jobs, rows

RATIOS = Path(__file__).parent / "data" / "limit_ratios.txt.gz"
USUAL = [900, 1800, 3600, 7200, 14400, 28800, 43200, 86400, 172800, 259200, 604800, 1209600, 2592000, 5184000]
TYPE = "gpu"


def options(parser: ArgumentParser) -> None:
    """The trace options that all trace benchmarks share."""
    parser.add_argument("--trace", required=True, type=Path, help="a .csv.gz in the schema of the public traces")
    parser.add_argument("--nodes", required=True, type=int)
    parser.add_argument("--per", type=int, default=8, help="devices a node")
    parser.add_argument("--from-day", type=float, default=0.0)
    parser.add_argument("--to-day", type=float, default=1e9)
    parser.add_argument("--json", action="store_true", help="nothing but the JSON object")


def read(args: Namespace) -> list[Row]:
    """The jobs of the trace by submission: within the days asked for, not empty, not larger than the cluster."""
    first_s, last_s, most = args.from_day * 86400, args.to_day * 86400, args.nodes * args.per
    try:
        found, _ = rows(args.trace, lambda row: first_s <= row.submitted < last_s and row.devices <= most)
    except PlatformError as error:
        raise SystemExit(str(error)) from None
    if not found:
        raise SystemExit(f"{args.trace}: no job is left within these days and nodes")
    begins = found[0].submitted
    return _limited([replace(row, submitted=row.submitted - begins) for row in found])


def cluster(args: Namespace, tree: QuotaTree, policy: Policy) -> Snapshot:
    """An empty cluster."""
    nodes = tuple(Node(f"n{number:05}", "replay", TYPE, args.per) for number in range(args.nodes))
    return Snapshot(1, EPOCH, nodes, (), (), tree=tree, policy=policy)


def open_tree(rows: list[Row]) -> QuotaTree:
    """Every project may have everything; nothing is guaranteed."""
    return QuotaTree({name: Branch(name, None, True, {TYPE: Entry(0, None)}) for name in {r.project for r in rows}})


def fenced_tree(rows: list[Row], devices: int) -> QuotaTree:
    """Guarantees in proportion to use, adding up to the cluster; anything beyond is borrowed."""
    use: dict[str, float] = {}
    for row in rows:
        use[row.project] = use.get(row.project, 0.0) + row.devices * row.length
    exact = {name: devices * hours / sum(use.values()) for name, hours in use.items()}
    whole = {name: int(share) for name, share in exact.items()}
    for name in sorted(exact, key=lambda name: whole[name] - exact[name])[: devices - sum(whole.values())]:
        whole[name] += 1
    return QuotaTree({name: Branch(name, None, True, {TYPE: Entry(whole[name], None)}) for name in whole})


def past(rows: list[Row], per: int) -> list[Past]:
    """The jobs as replays."""
    return list(jobs(rows, per))


def _limited(rows: list[Row]) -> list[Row]:
    with gzip.open(RATIOS, "rt", encoding="ascii") as file:
        ratios = [float(line) for line in file]
    random = Random(1)
    return [row if row.limit else replace(row, limit=_limit(row.length, random.choice(ratios))) for row in rows]


def _limit(length: float, ratio: float) -> float:
    return next((usual for usual in USUAL if usual >= length * ratio and usual >= length), max(USUAL[-1], length))
