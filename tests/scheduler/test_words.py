"""Reasons, places and unknown starts, told in both languages."""

from dataclasses import fields

import pytest

from headway.domain.errors import LANGUAGES, Language, codes
from headway.domain.job import Priority
from headway.scheduler.explain import advice, code, sentence
from headway.scheduler.order import place_sentence
from headway.scheduler.order import sentence as place
from headway.scheduler.plan import (
    ApprovalPending,
    ArrayFull,
    BehindOthers,
    BorrowCeiling,
    BudgetSpent,
    CapacityShort,
    DependencyFailed,
    DependencyPending,
    NodesUnfit,
    NotBefore,
    NotLent,
    PersonCeiling,
    Place,
    ProtectedNeedsGuarantee,
    QuotaReached,
    Reason,
    Reclaiming,
    WindowAhead,
)
from tests.builders import HOUR, NOW, a_queued

REASONS = [
    QuotaReached("vision", "h200", quota=8, used=6, wanted=4),
    QuotaReached("vision", "h200", quota=8, used=6, wanted=9),
    CapacityShort("h200", wanted=16, nodes=2, free=9, held=3),
    BehindOthers("j-7f3k2m9q", NOW),
    BehindOthers("j-7f3k2m9q", None),
    NodesUnfit("h200", nodes=2),
    BorrowCeiling("research", "h200", guaranteed=16, ceiling=24, used=20, wanted=8),
    BorrowCeiling("research", "h200", guaranteed=16, ceiling=24, used=0, wanted=32),
    NotLent("h200", wanted=8, free=11, kept=7),
    ProtectedNeedsGuarantee("vision", "h200", guaranteed=16, used=12, wanted=8),
    PersonCeiling("ann", "vision", "h200", ceiling=8, used=6, wanted=4),
    PersonCeiling("ann", "vision", "h200", ceiling=8, used=6, wanted=16),
    BudgetSpent("vision", "h200", budget=1000.0, spent=1200.5),
    DependencyPending("j-1", "succeeded"),
    DependencyFailed("j-2"),
    ArrayFull("sweep", cap=4, running=4),
    WindowAhead("cooling", NOW, NOW),
    ApprovalPending("a grant"),
    NotBefore(NOW),
    Reclaiming("h200", wanted=8, victims=2),
]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("reason", REASONS, ids=code)
def test_every_number_of_a_reason_is_told(reason: Reason, language: Language) -> None:
    told = sentence(reason, language)
    numbers = [getattr(reason, field.name) for field in fields(reason) if field.name not in ("must", "what")]
    shown = [f"{n.astimezone():%Y-%m-%d %H:%M}" if n is NOW else str(n) for n in numbers if n is not None]
    assert [text for text in shown if text not in told] == []
    assert advice(reason, language)
    assert "—" not in told + advice(reason, language)


@pytest.mark.parametrize("reason", REASONS, ids=code)
def test_every_reason_has_its_own_message(reason: Reason) -> None:
    assert all(code(reason) in codes(language) for language in LANGUAGES)


def test_a_quota_reason_reads_well() -> None:
    assert sentence(REASONS[0], "en") == "project vision uses 6 of its quota of 8 × h200; the job needs 4 more"
    assert sentence(REASONS[0], "zh") == "项目 vision 的 8 张 h200 配额已用 6 张，作业还需要 4 张"


def test_a_job_larger_than_a_ceiling_is_told_the_most_it_may_ask_for() -> None:
    larger = [PersonCeiling("ann", "v", "h200", 8, 6, 9), BorrowCeiling("v", "h200", 4, 8, 6, 9)]
    for reason in [*larger, QuotaReached("v", "h200", 8, 6, 9)]:
        assert advice(reason, "en").startswith("the job alone is more than that: ask for at most 8")
        assert "最多申请 8 张" in advice(reason, "zh")


def test_each_job_can_say_why_it_stands_where_it_stands() -> None:
    resuming, urgent = a_queued("a", resuming=True), a_queued("b", priority=Priority.URGENT)
    assert place(resuming, "en").startswith("it was running and resumes")
    assert place(urgent, "en").startswith(
        f"class urgent, waiting since {urgent.submitted_at.astimezone():%Y-%m-%d %H:%M}"
    )
    assert place(urgent, "zh").startswith("优先级紧急，")
    assert "续训" in place(resuming, "zh")


def test_a_place_is_told_in_one_sentence_with_its_numbers() -> None:
    stands = Place(False, Priority.HIGH, False, NOW, 2 * HOUR, 32 * HOUR, 2.0, HOUR / 2)
    told = place_sentence(stands, "en")
    assert "class high, on borrowed quota" in told
    assert all(part in told for part in ("predicted 2.0 h", "32.0 h later", "0.5 h later", "2.0 of its fair share"))
    assert place_sentence(stands, "zh").startswith("优先级高，使用借来的配额；")


def test_a_place_says_what_moves_it_forward_and_what_is_not_known() -> None:
    stands = Place(False, Priority.LOW, True, NOW, None, 3 * HOUR, 0.1, -HOUR)
    told = place_sentence(stands, "en")
    assert "3.0 h later as its length is not known" in told
    assert "1.0 h earlier as its project uses 0.1 of its fair share" in told
    assert "前移 1.0 小时" in place_sentence(stands, "zh")


def test_that_nothing_is_held_for_others_is_not_said() -> None:
    free = CapacityShort("h200", wanted=16, nodes=2, free=9, held=0)
    assert sentence(free, "en") == "it needs 16 × h200 at once (nodes: 2); free in the pool: 9"
    assert "保留" not in sentence(free, "zh")
