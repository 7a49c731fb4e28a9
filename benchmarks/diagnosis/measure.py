"""What is right about a finding: the measures of the issue, each a share of the cases to which it applies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.diagnosis.cases import Case

TARGETS: dict[str, float] = {
    "first rank": 0.95,
    "abstention": 0.90,
    "first node": 0.95,
    "class": 0.92,
    "owner": 0.97,
    "file:line": 0.95,
    "retry": 0.90,
    "followers": 0.95,
}
MEASURES = tuple(TARGETS)

Found = Mapping[str, Any]
"""What `headway examine --json` prints; a baseline leaves out what it does not say."""


@dataclass(frozen=True)
class Score:
    """Right answers and how many there were to give, by measure; `wrong`: what was wrong, by case."""

    right: Mapping[str, int]
    total: Mapping[str, int]
    wrong: Mapping[str, tuple[str, ...]]

    def share(self, measure: str) -> float | None:
        """The share of right answers; None where there were none to give."""
        return self.right[measure] / self.total[measure] if self.total[measure] else None

    def cell(self, measure: str) -> str:
        """The share as people read it, with its counts."""
        share = self.share(measure)
        return "–" if share is None else f"{share:.1%} ({self.right[measure]}/{self.total[measure]})"


def score(cases: Sequence[Case], findings: Sequence[Found]) -> Score:
    """Score findings against the truth of their cases."""
    right, total = dict.fromkeys(MEASURES, 0), dict.fromkeys(MEASURES, 0)
    wrong: dict[str, tuple[str, ...]] = {}
    for case, found in zip(cases, findings, strict=True):
        judged = judge(case.truth, found)
        for measure, (good, of) in judged.items():
            right[measure] += good
            total[measure] += of
        bad = tuple(measure for measure, (good, of) in judged.items() if good < of)
        if bad:
            wrong[case.id] = bad
    return Score(right, total, wrong)


def judge(truth: Mapping[str, Any], found: Found) -> dict[str, tuple[int, int]]:
    """For one case: right answers and answers to give, by measure. Followers count each rank named, for precision."""
    rank, ranks = found.get("first_rank"), truth.get("acceptable_ranks", [truth["first_failing_rank"]])
    followers, victims = set(found.get("followers") or ()), set(truth["secondary_ranks"])
    judged = {
        "class": (found.get("cause_class") in truth.get("acceptable_classes", [truth["cause_class"]]), 1),
        "owner": (found.get("actor") in [truth["actor"], *truth.get("actor_also_ok", [])], 1),
        "retry": (found.get("retry") in [truth["retryable"], *truth.get("retryable_also_ok", [])], 1),
        "followers": (len(followers & victims), len(followers)),
    }
    measure = "abstention" if truth["first_failing_rank"] is None else "first rank"
    judged[measure] = (rank == truth["first_failing_rank"] or rank in ranks, 1)
    if truth["first_failing_node"] is not None:
        judged["first node"] = (found.get("first_node") == truth["first_failing_node"], 1)
    if truth["code_location"] is not None:
        judged["file:line"] = (found.get("code_location") == truth["code_location"], 1)
    return {measure: (int(good), of) for measure, (good, of) in judged.items()}
