"""A sentence that the code writes itself is a message: it is read in English and in Chinese."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import cast

import pytest

from headway.domain.errors import LANGUAGES, Language, codes, retold
from headway.domain.words import in_words
from tests.house.repository import PACKAGE, shown

SENTENCE = re.compile(r"[a-z]+(?: [a-z]+){2,}")
ELSEWHERE = (
    "agent/delivery",
    "agent/node/options.py",
    "agent/probes",
    "agent/printouts",
    "agent/output",
    "cli",
    "diagnosis/finding",
    "diagnosis/progress",
    "diagnosis/reading",
    "diagnosis/signs",
    "domain/lifecycle.py",
    "sdk",
    "server/api/metrics.py",
    "server/api/paging.py",
    "server/console.py",
    "server/operations/evidence/bundle.py",
    "server/showcase",
    "store",
)
"""Where sentences are of another kind: texts in both languages or of a table of their own, patterns of what others
print, lines of a program's or the agent's own output, pages of the documentation, people's words in the showcase."""
TO_DEVELOPERS = ("debug", "info", "warning", "error", "exception", "option", "argument", "compile", "add_argument")
OTHERS_WORDS = ("No such file or directory", "Exec format error", "command not found")
"""What a launch says where a command is not there, as operating systems put it."""


def sentences(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Its texts, what is filled in as `/x`; no docstrings, nothing logged, compiled or raised as a plain error."""
    passed: set[ast.AST] = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for each in body if isinstance(body, list) else []:
            if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
                passed.add(each.value)
        if isinstance(node, ast.Call) and _is_to_developers(node.func):
            passed.update(ast.walk(node))
        if isinstance(node, ast.JoinedStr) and node not in passed:
            passed.update(node.values)
            yield node.lineno, "".join(_piece(value) for value in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in passed:
            yield node.lineno, node.value


def _is_to_developers(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in TO_DEVELOPERS or (name.endswith(("Error", "Parser")) and name != "PlatformError")


def _piece(value: ast.expr) -> str:
    return str(value.value) if isinstance(value, ast.Constant) else "/x"


def speaking() -> list[Path]:
    return [path for path in sorted(PACKAGE.rglob("*.py")) if not str(path.relative_to(PACKAGE)).startswith(ELSEWHERE)]


def is_prose(text: str) -> bool:
    """A sentence for people, not code, a command, or a line that a table of words already knows."""
    return (
        bool(SENTENCE.search(text))
        and "\n" not in text
        and "\\" not in text
        and not text.startswith(("headway", "import "))
    )


def is_told(text: str) -> bool:
    return text in OTHERS_WORDS or retold(text, "zh") != text or in_words({"reason": text}, "zh")["reason"] != text


def test_every_sentence_that_the_code_writes_is_told_in_both_languages() -> None:
    found = {
        f"{shown(path)}:{line}": text
        for path in speaking()
        for line, text in sentences(ast.parse(path.read_text(encoding="utf-8")))
        if is_prose(text) and not is_told(text)
    }
    assert found == {}


def test_the_search_finds_a_sentence_of_ones_own() -> None:
    made = ast.parse('"""Doc of the module."""\ndef f(x):\n    return f"there was no {x} to be had"\n')
    assert [text for _, text in sentences(made) if is_prose(text) and not is_told(text)] == [
        "there was no /x to be had"
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_was_seen_is_told_by_its_saying_wherever_a_message_holds_it(language: Language) -> None:
    from headway.domain.errors import _messages

    plain = [
        code
        for code in sorted(codes(language))
        for text in cast(dict[str, str], _messages(language)[code]).values()
        for _, name, spec, _ in Formatter().parse(str(text))
        if name == "detail" and not (spec or "").endswith("said")
    ]
    assert plain == []
