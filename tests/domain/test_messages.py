"""Every code that is used has texts in both languages, with the same blanks.

A message with an HTTP status is an error and shows a way out; one without is a sentence (a reason, a verdict).
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter

import pytest

import headway.domain.errors
from headway.domain.errors import LANGUAGES, Language, PlatformError, codes, message, status_of
from headway.domain.grant import GrantState
from headway.domain.lifecycle import AttemptState, JobState
from headway.domain.quota_version import Dropped
from headway.server.access import Role

SOURCE = Path(headway.domain.errors.__file__).parents[1]
KEBAB = re.compile(r"[a-z]+(-[a-z0-9]+)*(-\*)?")
"""Words and hyphens; `*` ends the name of what holds everywhere, as the domain writes it."""


@cache
def texts(language: Language) -> dict[str, dict[str, str]]:
    return tomllib.loads((SOURCE / f"domain/messages/{language}.toml").read_text(encoding="utf-8"))


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@cache
def used_codes() -> list[tuple[str, str]]:
    """Codes written out in a call of `PlatformError` or `message`, with where."""
    return list(_calls())


def _calls() -> Iterator[tuple[str, str]]:
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
                if name == "PlatformError" and isinstance(node.args[0].value, str):
                    yield node.args[0].value, f"{path.relative_to(SOURCE)}:{node.lineno}"


def test_every_code_used_in_the_source_has_texts_in_both_languages() -> None:
    used = used_codes()
    assert used
    assert [(code, where) for code, where in used for language in LANGUAGES if code not in codes(language)] == []


def test_both_languages_have_the_same_codes() -> None:
    assert codes("zh") == codes("en")


@pytest.mark.parametrize("code", sorted(codes("en") & codes("zh")))
def test_a_code_has_a_text_and_a_hint_with_the_same_blanks_in_both_languages(code: str) -> None:
    zh, en = texts("zh")[code], texts("en")[code]
    assert KEBAB.fullmatch(code)
    assert en["text"]
    assert en["hint"] or "status" not in en
    for part in ("text", "hint"):
        assert bool(zh[part]) == bool(en[part])
        assert blanks(zh[part]) == blanks(en[part])


def test_chinese_texts_are_chinese() -> None:
    han = re.compile(r"[\u4e00-\u9fff]")
    assert [code for code, entry in texts("zh").items() if not han.search(entry["text"] + entry["hint"])] == []


def test_every_error_that_is_raised_has_an_http_status() -> None:
    english = texts("en")
    assert [(code, where) for code, where in used_codes() if "status" not in english.get(code, {"status": ""})] == []


def test_a_status_is_one_of_http_and_only_the_english_texts_carry_it() -> None:
    statuses = {entry["status"] for entry in texts("en").values() if "status" in entry}
    assert [status for status in statuses if not re.fullmatch("[45][0-9][0-9]", status)] == []
    assert [code for code, entry in texts("zh").items() if set(entry) != {"text", "hint"}] == []


def test_an_error_says_what_happened_and_the_way_out_in_both_languages() -> None:
    error = PlatformError("already-exists", field="name", value="vision")
    assert str(error) == "name: vision exists already [already-exists]"
    assert error.text("zh") == "name：vision 已经存在"
    assert error.hint("en") == "choose another name, or use the existing one"
    assert (error.code, error.params, status_of(error.code)) == (
        "already-exists",
        {"field": "name", "value": "vision"},
        409,
    )


def test_a_missing_parameter_or_an_unknown_code_still_prints() -> None:
    assert message("already-exists", {"field": "name", "value": None}, "en") == "name: — exists already"
    assert PlatformError("never-written").text("zh") == "never-written"
    assert status_of("never-written") == 500


STATES = {state.value for kind in (JobState, AttemptState) for state in kind}
SAID = {
    "state": STATES | {state.value for state in GrantState},
    "must": {"ended", "succeeded"},
    "how": {dropped.value for dropped in Dropped} | {"approved"},
    "role": {role.value for role in Role},
}
"""Blanks that are filled with the values of an enumeration, with all of them."""


@pytest.mark.parametrize("code", sorted(code for code, said in texts("zh").items() if blanks(said["text"]) & set(SAID)))
def test_no_word_of_an_enumeration_stands_raw_in_a_chinese_sentence(code: str) -> None:
    for blank in blanks(texts("zh")[code]["text"]) & set(SAID):
        for value in SAID[blank]:
            assert value not in message(code, {blank: value}, "zh")


def test_an_illegal_move_is_told_in_the_words_of_both_languages() -> None:
    move = PlatformError("illegal-move", what="job", before=JobState.QUEUED, after=JobState.STOPPING)
    assert move.text("zh") == "作业不能从“排队”变为“停止中”"
    assert move.text("en") == "a job cannot go from queued to stopping"
    waits = {"job": "j-1", "must": "ended"}
    assert message("waits-dependency", waits, "zh") == "在 j-1 结束之后开始"
    assert message("waits-dependency", waits, "en") == "it starts after j-1 has ended"
