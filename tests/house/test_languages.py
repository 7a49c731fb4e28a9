"""Whatever people read is there in English and in Chinese."""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

from headway.domain.template import parse
from tests.docs.markdown import FENCE
from tests.house.repository import PACKAGE, REPOSITORY, shown

LANGUAGES = ("en", "zh")
TABLES = sorted(path for path in PACKAGE.rglob("messages") if path.is_dir())
TEMPLATES = sorted([*PACKAGE.rglob("templates/*.toml"), *REPOSITORY.glob("examples/*/template.toml")])
HAN = re.compile(r"[\u4e00-\u9fff]")
README_LINES = 150


def texts(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """Every text of a nested table by its dotted name; an error's HTTP status is no text and stands once."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from texts(value, f"{above}{name}.")
        elif name != "status":
            yield f"{above}{name}", str(value)


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("folder", TABLES, ids=shown)
def test_a_table_of_messages_has_the_same_texts_with_the_same_blanks_in_both_languages(folder: Path) -> None:
    english, chinese = (
        dict(texts(tomllib.loads((folder / f"{language}.toml").read_text(encoding="utf-8")))) for language in LANGUAGES
    )
    assert english.keys() == chinese.keys()
    assert {key for key in english if blanks(english[key]) != blanks(chinese[key])} == set()
    assert [key for key, text in english.items() if HAN.search(text)] == []


def test_no_space_stands_between_chinese_characters_and_a_chinese_word() -> None:
    word = r"\{\w+:(?:words?|whys?|cause|priority|kind|gauge|phase|fault)\}"
    apart = re.compile(rf"[\u4e00-\u9fff] {word}|{word} [\u4e00-\u9fff]")
    table = tomllib.loads((PACKAGE / "domain/messages/zh.toml").read_text(encoding="utf-8"))
    assert [key for key, text in texts(table) if apart.search(text)] == []


def raised() -> Iterator[tuple[str, str, set[str]]]:
    """Every error that the code makes with its parameters written out: where, its code, the parameters' names."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not node.args:
                continue
            code = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
            names = {keyword.arg for keyword in node.keywords}
            if node.func.id == "PlatformError" and code is not None and None not in names:
                yield f"{shown(path)}:{node.lineno}", str(code), {name for name in names if name}


def test_every_error_fills_the_blanks_of_its_message_but_those_of_a_clause() -> None:
    english = tomllib.loads((PACKAGE / "domain/messages/en.toml").read_text(encoding="utf-8"))

    def wanted(code: str) -> set[str]:
        parts = Formatter().parse(f"{english[code]['text']} {english[code]['hint']}")
        return {name for _, name, spec, _ in parts if name and not (spec or "").startswith("?")}

    found = list(raised())
    assert len(found) > 200
    assert {where: left for where, code, given in found if (left := wanted(code) - given)} == {}


def test_every_room_that_speaks_has_a_table() -> None:
    assert {folder.parent.name for folder in TABLES} >= {"domain", "cli"}


@pytest.mark.parametrize("path", TEMPLATES, ids=shown)
def test_a_template_describes_itself_and_its_blanks_in_both_languages(path: Path) -> None:
    template = parse(tomllib.loads(path.read_text(encoding="utf-8")))
    described = {"": template.description} | {parameter.name: parameter.help for parameter in template.parameters}
    assert {name for name, words in described.items() if set(words) != set(LANGUAGES)} == set()
    assert {name for name, words in described.items() if not HAN.search(words["zh"])} == set()


def test_both_readmes_show_the_same_and_are_short() -> None:
    english, chinese = ((REPOSITORY / name).read_text(encoding="utf-8") for name in ("README.md", "README.zh.md"))
    blocks = [[found["text"] for found in FENCE.finditer(text)] for text in (english, chinese)]
    said = [[re.sub(r"\s+#.*", "", block) for block in found] for found in blocks]
    assert said[0] == said[1]
    assert english.count("\n") <= README_LINES
    assert chinese.count("\n") <= README_LINES
    assert english.count("\n## ") == chinese.count("\n## ")


def test_the_two_commands_of_the_readme_are_targets_that_make_lists() -> None:
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    commands = re.findall(r"^make (\w+)", (REPOSITORY / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert commands == ["demo", "test"]
    assert [name for name in commands if not re.search(rf"^{name}:.*## ", makefile, re.MULTILINE)] == []
    assert "exec make test" in (REPOSITORY / ".ci/run").read_text(encoding="utf-8")
