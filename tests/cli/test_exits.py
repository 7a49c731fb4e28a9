"""What a command ends with, and how it says what went wrong."""

import ast
import socket
from pathlib import Path

import pytest

import headway.cli
from headway.cli import exits
from headway.domain.errors import codes, status_of
from tests.cli import canned
from tests.cli.conftest import Headway
from tests.sdk.stub import BROKEN, Stub, problem

PROMISED = {
    "DONE": 0,
    "FAILED": 1,
    "USAGE": 2,
    "NOT_FOUND": 3,
    "NOT_ALLOWED": 4,
    "REFUSED": 5,
    "UNREACHABLE": 6,
    "ENDED_BADLY": 7,
    "PENDING": 8,
    "INTERRUPTED": 130,
}


def test_the_numbers_are_the_promised_ones() -> None:
    assert {name: value for name, value in vars(exits).items() if isinstance(value, int)} == PROMISED


@pytest.mark.parametrize(
    ("code", "status", "expected"),
    [
        ("not-found", 404, 3),
        ("not-logged-in", 401, 4),
        ("wrong-password", 401, 4),
        ("forbidden", 403, 4),
        ("already-exists", 409, 5),
        ("impossible-request", 422, 5),
        ("unmapped-user", 422, 5),
        ("version-not-ready", 409, 5),
        ("body-too-large", 413, 5),
        ("invalid-field", 422, 2),
        ("unknown-field", 422, 2),
        ("missing-field", 422, 2),
        ("invalid-name", 422, 2),
        ("invalid-json", 400, 2),
        ("bad-split", 422, 2),
        ("ambiguous", 409, 2),
        ("engine-unreachable", 503, 6),
        ("server-unreachable", 503, 6),
        ("unheard-of", 500, 1),
    ],
)
def test_an_error_of_the_server_ends_with_its_code(
    stub: Stub, headway: Headway, code: str, status: int, expected: int
) -> None:
    stub.on("GET", "/jobs/x", problem(status, code, "what happened", "the way out"))
    ran = headway("show", "x")
    assert ran.code == expected
    assert ran.err == f"× what happened\nhint: the way out\n[{code}]\n"
    assert ran.out == ""


def test_every_code_of_its_own_is_one_of_the_platform() -> None:
    assert set(exits.BY_CODE) <= codes("en")
    assert {code for code in exits.BY_CODE if exits.BY_CODE[code] == exits.BY_STATUS.get(status_of(code))} <= {
        "not-logged-in",
        "unexpected-answer",
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nonsense",), "there is no command nonsense"),
        (("pss",), "near: ps"),
        (("ps", "--jso"), "there is no option --jso (near: --json)"),
        (("show",), "JOB is missing"),
        (("drill", "--kill", "rank"), "JOB is missing"),
        (("ps", "--limit", "0"), "--limit takes a whole number ≥ 1"),
        (("ps", "--state", "odd"), "--state takes one of: queued, starting"),
        (("quota", "set", "p", "cpu", "many"), "devices takes a whole number"),
        (("quota", "set", "p", "cpu", "-12"), "a number cannot be negative here"),
        (("submit", "--limit", "soon"), "soon is not a duration"),
        (("submit", "--set", "steps"), "steps is not of the form KEY=VALUE"),
        (("submit", "no-such.toml"), "no-such.toml cannot be used"),
        (("stop", "j", "--no-input"), "add --yes"),
    ],
)
def test_wrong_usage_ends_with_2_and_names_what_was_wrong(
    stub: Stub, headway: Headway, words: tuple[str, ...], said: str
) -> None:
    stub.on("GET", "/jobs/j", canned.a_view())
    ran = headway(*words)
    assert ran.code == 2
    assert said in ran.err
    assert ran.err.startswith("× ")
    assert "╰─> headway" in ran.err
    assert ran.err.endswith("[usage]\n")


def test_usage_errors_are_told_in_chinese_too(headway: Headway) -> None:
    assert headway("ps", "--jso", language="zh").err == (
        "× 没有选项 --jso（相近：--json）\n╰─> headway ps [OPTIONS]\n提示：见 `headway ps --help`\n[usage]\n"
    )


def test_without_a_login_the_way_out_is_said(headway: Headway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADWAY_URL")
    monkeypatch.delenv("HEADWAY_TOKEN")
    ran = headway("ps", language="zh")
    assert ran.code == 4
    assert "headway login" in ran.err


def test_a_server_that_is_not_there_ends_with_6(headway: Headway, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HEADWAY_URL", f"http://127.0.0.1:{free.getsockname()[1]}")
    ran = headway("ps")
    assert ran.code == 6
    assert "[server-unreachable]" in ran.err


def test_a_drill_whose_answer_is_lost_is_not_sent_again(stub: Stub, headway: Headway) -> None:
    stub.on("POST", "/jobs/j/drills", BROKEN)
    assert headway("drill", "j", "--rank", "1", "--yes").code == 6
    assert len(stub.asked) == 1


def test_no_other_file_of_the_room_writes_an_exit_code_by_hand() -> None:
    folder = Path(headway.cli.__file__).parent
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            returned = node.value if isinstance(node, ast.Return) else None
            by_hand = isinstance(returned, ast.Constant) and type(returned.value) is int
            assert not by_hand, f"{path}:{node.lineno}"
