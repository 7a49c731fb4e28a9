"""The labelled cases, without those held out: every measure reaches its target, by folds too."""

from pathlib import Path

import pytest
from benchmarks.diagnosis import split
from benchmarks.diagnosis.__main__ import by_folds, examine, scored
from benchmarks.diagnosis.cases import Case, load
from benchmarks.diagnosis.measure import TARGETS, judge
from benchmarks.diagnosis.perturb import bad_bytes, clocks_shifted, prefixes_swapped, timestamps_dropped


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    return shared / "data" / "faultlogs"


@pytest.fixture(scope="module")
def cases(folder: Path) -> list[Case]:
    everyone = {path.parent.name for path in folder.glob("*/case.json")}
    return load(folder, everyone - split.held_out(folder))


def test_sixteen_cases_are_held_out_by_source(folder: Path, cases: list[Case]) -> None:
    out = split.held_out(folder)
    assert (len(out), len(cases)) == (split.HELD_OUT, 61)
    assert set.union(*map(set, split.folds(folder))) == {case.id for case in cases}
    assert not out & {case.id for case in cases}


def test_every_measure_reaches_its_target(cases: list[Case]) -> None:
    found = scored(cases, examine)
    assert {measure for measure, target in TARGETS.items() if (found.share(measure) or 0) < target} == set()


def test_every_measure_reaches_its_target_without_the_signs_that_a_fold_founded(
    folder: Path, cases: list[Case]
) -> None:
    found = by_folds(folder, cases)
    assert {measure for measure, target in TARGETS.items() if (found.share(measure) or 0) < target} == set()


@pytest.mark.parametrize("change", [prefixes_swapped, timestamps_dropped, clocks_shifted, bad_bytes])
def test_the_same_logs_told_otherwise_give_the_same_finding(cases: list[Case], change: object) -> None:
    assert callable(change)
    plain, changed = scored(cases, examine), scored(cases, lambda logs: examine(change(logs, 1)))
    lost = {m: (plain.share(m) or 0) - (changed.share(m) or 0) for m in TARGETS}
    assert max(lost.values()) <= 0.05


def test_a_judge_counts_followers_one_by_one_and_leaves_out_what_is_not_asked() -> None:
    truth = {
        "first_failing_rank": None,
        "first_failing_node": None,
        "cause_class": "A",
        "actor": "dev",
        "retryable": "wait",
        "code_location": None,
        "secondary_ranks": [1, 2],
    }
    found = {"cause_class": "A", "actor": "ops", "retry": "wait", "first_rank": 3, "followers": [1, 3]}
    assert judge(truth, found) == {
        "class": (1, 1),
        "owner": (0, 1),
        "retry": (1, 1),
        "followers": (1, 2),
        "abstention": (0, 1),
    }
