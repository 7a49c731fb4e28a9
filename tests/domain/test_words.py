"""Words of closed lists are told in the reader's language, in messages and in facts."""

import time
from collections.abc import Iterator
from enum import StrEnum
from string import Formatter

import pytest

from headway.diagnosis.advice import Reason
from headway.diagnosis.cause import Cause
from headway.diagnosis.progress.record import Phase
from headway.diagnosis.verdict import Fault
from headway.domain.alert import GAUGES
from headway.domain.attempt import BY_ENGINE, PREEMPTED, STALLED, Outcome
from headway.domain.checkpoint import CheckpointState
from headway.domain.drill import Kill
from headway.domain.errors import (
    CLAUSE,
    FAMILIES,
    LANGUAGES,
    SAID,
    SEVERAL,
    TIME,
    Language,
    PlatformError,
    code_of,
    codes,
    message,
    spoken,
)
from headway.domain.events import KINDS
from headway.domain.grant import GrantState
from headway.domain.job import Priority
from headway.domain.lifecycle import AttemptState, JobState
from headway.domain.quota_version import Dropped
from headway.domain.resources import NodeState
from headway.domain.service import ReplicaState
from headway.domain.words import OF_FIELDS, in_words
from headway.engines.protocol import Cause as EngineCause
from headway.registry.retention import Cause as RetentionCause
from headway.sdk.job.ranks import REASONS
from headway.server.access import TABLE, Role, Verb
from headway.server.loops.drill import OVER
from headway.server.operations.jobs.holding import ASKED, AWAITS_FIX, AWAITS_NODE, NODE_BACK
from headway.server.operations.jobs.settle import LOST
from headway.server.operations.queue.quota import CLOSED
from headway.store.nodes import GONE

STATES: tuple[type[StrEnum], ...] = (
    JobState,
    AttemptState,
    Outcome,
    CheckpointState,
    GrantState,
    Dropped,
    NodeState,
    ReplicaState,
    Kill,
    Role,
    Verb,
)
WHY = (
    *(each for kind in (Reason, EngineCause, RetentionCause) for each in kind),
    *(*REASONS, *BY_ENGINE, PREEMPTED, STALLED, OVER, ASKED, AWAITS_FIX, AWAITS_NODE, NODE_BACK, LOST, CLOSED, GONE),
)
WORDS = [
    *[("word", value) for kind in STATES for value in kind],
    *[("word", resource) for resource in TABLE],
    *[("why", value) for value in WHY],
    *[("cause", value) for value in Cause],
    *[("phase", value) for value in Phase],
    *[("fault", value) for value in Fault],
    *[("kind", kind) for kind in KINDS],
    *[("gauge", gauge) for gauge in GAUGES],
    *[("priority", value) for value in Priority],
]


@pytest.fixture
def in_shanghai(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine that keeps China's time."""
    monkeypatch.setenv("TZ", "CST-8")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_a_moment_is_told_in_the_zone_of_who_speaks_and_a_typed_word_as_it_is(in_shanghai: None) -> None:
    assert message("waits-not-before", {"at": "2026-12-01T22:33:07+00:00"}, "en").endswith("2026-12-02 06:33 +08:00")
    assert message("waits-not-before", {"at": "soon"}, "en").endswith("than soon")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_value_of_a_closed_list_has_its_word_in_both_languages(language: Language) -> None:
    assert {code_of(family, value) for family, value in WORDS} - codes(language) == set()


def test_no_chinese_word_is_the_internal_one() -> None:
    assert [(family, value) for family, value in WORDS if spoken(family, value, "zh").isascii()] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_blank_names_a_family_that_there_is(language: Language) -> None:
    known = {"", TIME, SAID, *FAMILIES, *SEVERAL}
    unknown = []
    for code in codes(language):
        error = PlatformError(code)
        assert error.text(language) or error.hint(language)
        for spec in specs(code, language):
            family = spec.partition("|")[2] if spec.startswith(CLAUSE) else spec
            if family not in known:
                unknown.append((code, spec))
    assert unknown == []


def specs(code: str, language: Language) -> list[str]:
    from headway.domain.errors import _entry

    entry = _entry(code, language)
    return [
        spec or "" for text in (entry["text"], entry["hint"]) for _, name, spec, _ in Formatter().parse(text) if name
    ]


def test_both_languages_tell_the_same_blanks_by_the_same_families() -> None:
    def families(code: str, language: Language) -> list[str]:
        return sorted(spec.partition("|")[2] if spec.startswith(CLAUSE) else spec for spec in specs(code, language))

    assert [code for code in codes("en") if families(code, "en") != families(code, "zh")] == []


def test_a_followed_jobs_end_is_told_without_internal_words(in_shanghai: None) -> None:
    ended = {"name": "llm", "job": "j-1", "state": "failed", "at": "2026-12-01T00:00:00Z", "reason": "same-step"}
    assert (
        message("follow-ended", dict(ended), "zh") == "llm（j-1）已结束：失败，2026-12-01 08:00 +08:00 在同一步再次失败"
    )
    assert "same-step" not in message("follow-ended", dict(ended), "en")


def test_a_damaged_checkpoint_is_told_by_a_word_and_what_was_found() -> None:
    bad = PlatformError("checkpoint-bad", value="/c/step-5", reason="wrong-size", detail="a.bin: 3 B ≠ 4 B")
    assert bad.text("zh") == "检查点 /c/step-5 已损坏：文件大小不符：a.bin: 3 B ≠ 4 B"
    missing = PlatformError("no-checkpoint", job="j-1", rejected="step-5: wrong-hash, step-9: no-manifest")
    assert missing.text("zh") == "j-1 没有校验通过的检查点：step-5: 文件内容与保存时不符、step-9: 缺少清单：保存未完成"


def test_what_a_person_wrote_stays_as_it_is() -> None:
    said = {"reason": "loss looks odd", "cause": "COMM_TIMEOUT", "phase": "warm-up", "job": "j-1", "step": 3}
    told = in_words(said, "zh")
    assert told == said | {"cause": spoken("cause", "COMM_TIMEOUT", "zh")}
    assert told["cause"] != "COMM_TIMEOUT"


def test_facts_name_only_families_that_there_are() -> None:
    assert {family for families in OF_FIELDS.values() for family in families} <= {SAID, *FAMILIES}


def test_a_hint_says_nothing_of_what_is_near_where_nothing_is() -> None:
    for near in ({}, {"near": ""}, {"near": None}):
        hint = PlatformError("not-found", what="node", value="n9", **near).hint("en")
        assert hint == "list what there is, or check the spelling"
    assert PlatformError("not-found", what="node", value="n9", near="n1").hint("en").endswith("spelling: n1")


def test_who_may_not_do_something_anywhere_is_told_so_in_words() -> None:
    refused = {"user": "feng", "verb": "read", "resource": "user", "project": "*"}
    assert message("forbidden", dict(refused), "zh") == "feng 没有权限：查看用户（全部项目）"
    assert message("forbidden", {**refused, "project": "llm"}, "zh") == "feng 没有权限：查看用户（llm）"
