"""P3: waits on public traces under the product's own turns, in virtual time.

`python -m benchmarks.queue --trace FILE.csv.gz --nodes N [--fences]` prints one JSON object last. Without it nobody
is guaranteed anything and nobody is preempted; with it guarantees are in proportion to use.
"""

import json
from argparse import ArgumentParser
from time import process_time

from benchmarks import trace
from headway.scheduler.policy import Policy
from headway.scheduler.rehearse import fairness, rehearse


def main() -> None:
    """Replay one trace and print what came of it."""
    parser = ArgumentParser(prog="benchmarks.queue", description=__doc__)
    trace.options(parser)
    parser.add_argument("--fences", action="store_true", help="guarantees by use, borrowing, preemption")
    parser.add_argument("--policy", choices=("own", "easy"), default="own")
    args = parser.parse_args()
    rows = trace.read(args)
    tree = trace.fenced_tree(rows, args.nodes * args.per) if args.fences else trace.open_tree(rows)
    policy = Policy(fifo=args.policy == "easy", reclaim=args.fences)
    began = process_time()
    result, _ = rehearse(trace.past(rows, args.per), trace.cluster(args, tree, policy), guarantees=args.fences)
    jain = fairness(result.by_project)
    said = {
        "jobs": result.whole.jobs,
        "mean_wait_s": round(result.whole.mean_wait, 1),
        "p50_wait_s": round(result.whole.p50_wait, 1),
        "p90_wait_s": round(result.whole.p90_wait, 1),
        "max_wait_s": round(result.whole.max_wait, 1),
        "mean_wait_over8_s": round(result.wide.mean_wait, 1) if result.wide else None,
        "max_wait_over8_s": round(result.wide.max_wait, 1) if result.wide else None,
        "jain": None if jain is None else round(jain, 3),
        "utilisation": round(result.whole.utilisation or 0.0, 4),
        "evictions": result.whole.evictions,
        "cpu_s": round(process_time() - began, 1),
    }
    if args.fences:
        said["guarantee_breach_s"] = round(result.breach, 1)
    print(json.dumps(said))


if __name__ == "__main__":
    main()
