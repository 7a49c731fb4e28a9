"""How well folders of logs are examined: `python -m benchmarks.diagnosis [--json] [--held-out] [--quick] [--folder F]`.

Prints every measure on the labelled cases, on the hardest of them, by folds (what was founded only on a fold's cases is
switched off there), under perturbations, beside keyword baselines and, with `--gpualert PYTHON`, a peer of this kind.
The held-out cases are opened only with `--held-out`.
"""

import argparse
import os
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.diagnosis import peer, speed, split
from benchmarks.diagnosis.baselines import BASELINES
from benchmarks.diagnosis.cases import Case, load
from benchmarks.diagnosis.measure import MEASURES, TARGETS, Score, score
from benchmarks.diagnosis.perturb import LOST_LINES, MISSING, PERTURBATIONS, one_file_missing, own_files
from benchmarks.table import Goal, Result, machine, publish
from headway.diagnosis.examine_files import examine_files
from headway.diagnosis.reading.read import Source
from headway.diagnosis.signs.table import Table

WORST_DROP = 0.05
SEEDS = tuple(range(20_001, 20_011))
"""Never those that the rules were mended by."""
Examine = Callable[[Mapping[str, bytes]], Mapping[str, Any]]


def examine(logs: Mapping[str, bytes], without: Collection[str] = ()) -> Mapping[str, Any]:
    """What the product finds in these files; `without`: cases whose own signs are switched off."""
    table = Table(without) if without else None
    return examine_files([Source(path, [data]) for path, data in logs.items()], "en", table)


def scored(cases: Sequence[Case], find: Examine) -> Score:
    """The score of one way to examine."""
    return score(cases, [find(case.logs) for case in cases])


def by_folds(folder: Path, cases: Sequence[Case]) -> Score:
    """Every case examined without the signs that were founded only on cases of its fold."""
    fold_of = {id_: fold for fold in split.folds(folder) for id_ in fold}
    return score(cases, [examine(case.logs, fold_of[case.id]) for case in cases])


def perturbed(cases: Sequence[Case], name: str, seeds: Sequence[int]) -> list[Score]:
    """The scores of one perturbation, one a seed."""
    return [score(cases, [examine(changed_logs(case, name, seed)) for case in cases]) for seed in seeds]


def mean(scores: Sequence[Score]) -> dict[str, float]:
    """The mean share of every measure that is asked for."""
    asked = [measure for measure in MEASURES if scores[0].share(measure) is not None]
    return {measure: sum(each.share(measure) or 0.0 for each in scores) / len(scores) for measure in asked}


def told_nowhere(cases: Sequence[Case], name: str, seeds: Sequence[int]) -> float:
    """The share of file:line answers that stand on no line any more: nothing can find those."""
    asked = [case for case in cases if case.truth["code_location"] is not None]
    gone = [not stands(case, changed_logs(case, name, seed)) for case in asked for seed in seeds]
    return sum(gone) / len(gone)


def stands(case: Case, logs: Mapping[str, bytes]) -> bool:
    """Whether a line is left that names the file and the line of the answer."""
    path, _, number = case.truth["code_location"].rpartition(":")
    place = re.compile(rf"{re.escape(path)}.{{0,20}}\b{number}\b")
    return any(place.search(line) for data in logs.values() for line in data.decode(errors="replace").splitlines())


def changed_logs(case: Case, name: str, seed: int) -> Mapping[str, bytes]:
    """A case's logs under a perturbation; the first fault's own file is never missing: the truth would change."""
    if name == MISSING:
        return one_file_missing(case.logs, seed, own_files(case.truth, case.logs))
    return PERTURBATIONS[name](case.logs, seed)


def drops(plain: Score, shares: Mapping[str, float]) -> dict[str, float]:
    """What every measure loses; 0 where nothing is lost."""
    return {measure: max(0.0, (plain.share(measure) or 0.0) - share) for measure, share in shares.items()}


def main() -> int:
    """Measure and print."""
    given, here = parse(), machine()
    if given.speed_only:
        publish(speed.result(given.mib, given.files), given.json, here)
        return 0
    held = split.held_out(given.folder)
    everyone = {path.parent.name for path in given.folder.glob("*/case.json")}
    cases = load(given.folder, everyone - held)
    publish(evaluate(given, cases), given.json, here)
    if given.held_out:
        print("\nheld out, by source, at the first reading; read since, so no longer unbiased (docs/benchmarks.md):")
        apart = scored(load(given.folder, held), examine)
        for measure in MEASURES:
            print(f"  {measure}: {apart.cell(measure)}")
        print(f"  wrong: {dict(apart.wrong)}")
    return 0


def evaluate(given: argparse.Namespace, cases: Sequence[Case]) -> Result:
    """All tables on the cases that are not held out."""
    seeds = SEEDS[:1] if given.quick else SEEDS
    plain = scored(cases, examine)
    rows = {
        "Headway": plain,
        "Headway, by folds": by_folds(given.folder, cases),
        "Headway, hardest": scored([case for case in cases if case.is_hardest], examine),
        "Headway, composites left out": scored([case for case in cases if not case.truth.get("composite")], examine),
        **{name: scored(cases, find) for name, find in BASELINES.items()},
    }
    if given.gpualert:
        rows["gpualert"] = score(cases, peer.findings(given.gpualert, cases))
    names = [name for name in PERTURBATIONS if not (given.quick and "normal" in name)]
    scores = {name: perturbed(cases, name, seeds[:1] if "normal" in name else seeds) for name in names}
    changed = {name: mean(each) for name, each in scores.items()}
    lost = {name: max(drops(plain, shares).values()) for name, shares in changed.items()}
    worst = {name: max(max(drops(plain, mean([one])).values()) for one in each) for name, each in scores.items()}
    floor = told_nowhere(cases, LOST_LINES, seeds)
    head = ["side", *MEASURES]
    table = [head, *([name, *(each.cell(measure) for measure in MEASURES)] for name, each in rows.items())]
    for name, shares in changed.items():
        table.append([name, *(f"{shares[m]:.1%}" if m in shares else "–" for m in MEASURES)])
    goals = [Goal(measure, plain.share(measure) or 0.0, "at least", TARGETS[measure]) for measure in MEASURES]
    goals.append(Goal("worst drop under a perturbation", max(lost.values()), "at most", WORST_DROP))
    return Result(
        name="diagnosis",
        title=f"{len(cases)} labelled cases read by the rules' author; {split.HELD_OUT} more were held out at first",
        rows=table,
        goals=goals,
        notes=[
            f"wrong: {dict(plain.wrong)}",
            f"wrong by folds: {dict(rows['Headway, by folds'].wrong)}",
            f"{len(seeds)} seeds; what the measure that loses most loses, on average: "
            f"{ {name: round(drop, 3) for name, drop in lost.items()} }",
            f"with the worst seed: { {name: round(drop, 3) for name, drop in worst.items()} }",
            f"{LOST_LINES}, on average: { {m: round(d, 3) for m, d in drops(plain, changed[LOST_LINES]).items()} }; "
            f"file:line answers that stand on no line left: {floor:.3f}",
        ],
        figures={"shares": {name: {m: each.share(m) for m in MEASURES} for name, each in rows.items()}, "drops": lost},
    )  # fmt: skip


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line; the folder of cases is `$HEADWAY_SHARED/data/faultlogs` unless given."""
    shared = Path(os.environ.get("HEADWAY_SHARED", Path(__file__).resolve().parents[3] / "shared"))
    parser = argparse.ArgumentParser(prog="python -m benchmarks.diagnosis")
    parser.add_argument("--folder", type=Path, default=shared / "data" / "faultlogs", help="the labelled cases")
    parser.add_argument("--json", action="store_true", help="print one JSON object last")
    parser.add_argument("--quick", action="store_true", help="one seed, no large logs")
    parser.add_argument("--held-out", action="store_true", help="open the held-out cases too, and report them apart")
    parser.add_argument("--gpualert", metavar="PYTHON", help="an interpreter that has gpualert installed")
    parser.add_argument("--speed-only", action="store_true", help="only the throughput and memory of a large case")
    parser.add_argument("--mib", type=int, default=200, help="size of the large case")
    parser.add_argument("--files", type=int, default=64, help="files of the large case")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
