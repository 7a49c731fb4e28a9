"""How the house is kept: who may import whom, how long things are, what they are called, what a room says of itself."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.repository import PACKAGE, REPOSITORY, ROOMS, modules, shown

FILE_LINES = 500
README_LINES = 40
FUNCTION_LINES = 32
# Migrations are a record of what was done; nobody reads them through.
RECORDS = PACKAGE / "store/migrations/versions"
EMPTY_WORDS = re.compile(r"(util|helper|manager|handler)s?|common|base|misc|info|data|core")


def functions(path: Path) -> list[tuple[int, str]]:
    """How many lines each function of a module has, and where it is."""
    return [
        ((node.end_lineno or node.lineno) - node.lineno + 1, f"{shown(path)}:{node.lineno} {node.name}")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def test_imports_go_down_only() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-logo", "--no-cache"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_module_is_longer_than_people_read() -> None:
    lengths = {shown(path): path.read_text(encoding="utf-8").count("\n") for path in modules()}
    records = shown(RECORDS)
    assert {name: lines for name, lines in lengths.items() if lines > FILE_LINES and not name.startswith(records)} == {}


def test_nine_functions_of_ten_fit_on_a_screen() -> None:
    measured = [found for path in modules() for found in functions(path)]
    long = sorted((found for found in measured if found[0] > FUNCTION_LINES), reverse=True)
    assert len(long) * 10 <= len(measured), long[:20]


def test_no_name_of_a_module_is_an_empty_word() -> None:
    folders = {path.parent for path in modules()}
    named = [path for path in [*modules(), *folders] if EMPTY_WORDS.fullmatch(path.stem)]
    assert [shown(path) for path in named] == []


def test_every_module_begins_by_saying_what_it_is_for() -> None:
    silent = [
        shown(path)
        for path in modules()
        if path.read_text(encoding="utf-8").strip()
        and not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        and RECORDS not in path.parents
    ]
    assert silent == []


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_says_what_lives_there_what_may_not_and_where_to_begin(room: str) -> None:
    text = (PACKAGE / room / "README.md").read_text(encoding="utf-8")
    assert text.count("\n") <= README_LINES
    assert re.search(r"[Mm]ay not", text)
    assert re.search(r"[Ss]tart reading at", text)


def test_the_twelve_rooms_are_the_house() -> None:
    doors, hands, minds = "agent cli gateway server", "engines sdk store", "diagnosis metering registry scheduler"
    assert sorted(f"{doors} {hands} {minds} domain".split()) == ROOMS
