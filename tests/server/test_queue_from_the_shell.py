"""The queue's bad inputs as somebody types them: the command line in front of the real application.

Each is refused with a message that names what is wrong, and the table, the grants and the windows are as before.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from httpx import Client

from headway.cli.main import run
from headway.server.access import Role
from headway.server.platform import Platform
from tests.server.conftest import People, Placed
from tests.server.test_quota import TABLE, WRONG

Typed = tuple[int, str, str]
Types = Callable[..., Typed]
DAY = "+1d"


@pytest.fixture
def types(
    served: Client, people: People, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> Types:
    """Run a command as one of these people."""
    tokens = {
        "olga": people.token("olga", Role.OPERATOR),
        "root": people.token("root", Role.ADMIN),
        "ann": people.token("ann", Role.MEMBER, "nlp"),
    }
    for name, value in {"HOME": str(tmp_path), "URL": str(served.base_url).split("/api/")[0], "LANG": "en"}.items():
        monkeypatch.setenv(f"HEADWAY_{name}", value)

    def typed(who: str, *words: str) -> Typed:
        monkeypatch.setenv("HEADWAY_TOKEN", tokens[who])
        code = run(words)
        said = capfd.readouterr()
        return code, said.out, said.err

    return typed


@pytest.fixture
def in_force(types: Types, tmp_path: Path) -> str:
    """The table in force, as it is printed."""
    file = tmp_path / "quota.toml"
    file.write_text(TABLE)
    assert types("olga", "quota", "propose", str(file), "--reason", "a new year")[:2] == (0, "1\n")
    assert types("root", "quota", "approve", "1", "--yes")[0] == 0
    return types("ann", "quota", "show", "--toml")[1]


@pytest.mark.parametrize("code", sorted(WRONG))
def test_a_bad_table_is_refused_at_the_shell_and_the_old_one_stays(
    types: Types, in_force: str, tmp_path: Path, code: str
) -> None:
    before, after, word = WRONG[code]
    file = tmp_path / "bad.toml"
    file.write_text(TABLE.replace(before, after))
    ended, out, err = types("olga", "quota", "propose", str(file), "--reason", "x")
    assert (ended != 0, out) == (True, "")
    assert word in err
    assert f"[{code}]" in err
    assert "hint: " in err
    assert types("ann", "quota", "show", "--toml")[1] == in_force


def test_a_cut_below_what_runs_is_refused_at_the_shell(types: Types, placed: Placed, tmp_path: Path) -> None:
    file = tmp_path / "cut.yaml"
    file.write_text("projects: {nlp: {cards: {cpu: {guaranteed: 0}}}}\n")
    ended, _, err = types("olga", "quota", "propose", str(file), "--reason", "x")
    assert (ended != 0, "[quota-below-use]" in err, "nlp has 1 × cpu now" in err) == (True, True, True)
    assert placed.job


BAD_GRANTS = {
    "grant-over": ("nlp", "cpu", "2", "--until", "2020-01-01"),
    "quota-unknown-type": ("nlp", "h900", "2", "--until", DAY),
    "not-found": ("nowhere", "cpu", "2", "--until", DAY),
    "invalid-field": ("nlp", "cpu", "1000001", "--until", DAY),
}


@pytest.mark.parametrize("code", BAD_GRANTS)
def test_a_bad_grant_is_refused_at_the_shell(types: Types, in_force: str, code: str) -> None:
    ended, out, err = types("root", "grant", "request", *BAD_GRANTS[code], "--reason", "x")
    assert (ended != 0, out, f"[{code}]" in err) == (True, "", True)
    assert types("root", "grant", "ls", "--json")[1].strip() == "[]"
    assert in_force


def test_overlapping_grants_are_refused_at_the_shell_and_the_first_stays(types: Types, in_force: str) -> None:
    assert in_force
    wish = ("grant", "request", "nlp", "cpu", "1", "--reason", "x", "--until")
    first, second = types("ann", *wish, DAY)[1].strip(), types("ann", *wish, "+2d")[1].strip()
    assert types("olga", "grant", "decide", first, "--approve")[0] == 0
    ended, _, err = types("olga", "grant", "decide", second, "--approve")
    assert (ended != 0, "[grant-overlap]" in err) == (True, True)
    listed = types("ann", "grant", "ls", "--json=request.id,request.state")[1]
    assert listed.count('"approved"') == 1


def test_a_holder_is_warned_where_they_look(types: Types, in_force: str, platform: Platform) -> None:
    assert in_force
    assert platform.settings.grant_warning.days == 3
    wish = ("grant", "request", "nlp", "cpu", "1", "--reason", "x", "--until", "2026-11-04")
    grant = types("ann", *wish)[1].strip()
    assert grant not in types("ann", "me")[2]
    assert types("olga", "grant", "decide", grant, "--approve")[0] == 0
    assert f"{grant} expires at 2026-11-0" in types("ann", "me")[2]
    assert grant not in types("olga", "me")[2]


def test_what_can_never_run_is_refused_with_the_nearest_that_could(types: Types, in_force: str) -> None:
    assert in_force
    words = ("submit", "--template", "command", "--name", "wide", "--project", "nlp", "--set", "command=true")
    ended, out, err = types("root", *words, "--nodes", "3")
    assert (ended != 0, out, "[impossible-request]" in err, "at most 2" in err) == (True, "", True, True)
    ended, _, err = types("root", *words, "--set", "device_types=h900")
    assert (ended != 0, "[impossible-request]" in err, "cpu" in err) == (True, True, True)


def test_a_window_that_is_over_or_names_nothing_is_refused_at_the_shell(types: Types) -> None:
    past = ("--from", "2020-01-01", "--until", "2020-01-02")
    assert "[window-period]" in types("olga", "window", "set", "w", *past)[2]
    future = ("--from", "2030-01-01", "--until", "2030-01-02")
    assert "[not-found]" in types("olga", "window", "set", "w", *future, "--node", "n9")[2]
    assert types("olga", "window", "ls", "--json")[1].strip() == "[]"


def test_the_rules_are_read_at_the_shell_by_anybody(types: Types) -> None:
    ended, out, _ = types("ann", "quota", "rules")
    assert (ended, "urgent" in out, "a protected job is never taken" in out) == (0, True, True)
