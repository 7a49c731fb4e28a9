"""Starting up: nothing heavy is loaded before it is needed; help and completion speak the reader's language."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from headway.cli.known import known
from tests.cli import canned
from tests.cli.conftest import Headway
from tests.sdk.stub import Stub

HEAVY = ("torch", "httpx", "rich", "pydantic", "fastapi", "sqlalchemy", "headway.server", "headway.store", "asyncio")
LOADED = """
import json, sys
from headway.cli.main import run
code = run(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""


def loaded(*words: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *words], capture_output=True, text=True, check=True, timeout=60
    )
    code, modules = json.loads(done.stderr.splitlines()[-1])
    assert code == 0
    return set(modules)


def test_help_loads_no_command_and_nothing_heavy() -> None:
    modules = loaded("--help")
    assert modules.isdisjoint(HEAVY)
    assert not {name for name in modules if name.startswith("headway.cli.commands")}


@pytest.mark.parametrize("command", ["ps", "submit", "logs", "service", "completion"])
def test_the_help_of_a_command_loads_nothing_heavy(command: str) -> None:
    assert loaded(command, "--help").isdisjoint(HEAVY)


@pytest.mark.parametrize(
    ("language", "words"), [("zh", ("用法：", "提交作业", "显示本说明后退出")), ("en", ("Usage: ", "Submit"))]
)
def test_help_is_in_the_readers_language(language: str, words: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "headway.cli.main", "submit", "--help"],
        env=os.environ | {"HEADWAY_LANG": language},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        timeout=60,
    )
    assert [word for word in words if word not in done.stdout] == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_one_its_shell_can_read(headway: Headway, shell: str, tmp_path: Path) -> None:
    ran = headway("completion", shell)
    assert ran.code == 0
    assert f"_HEADWAY_COMPLETE={shell}_complete" in ran.out
    if shutil.which(shell):
        script = tmp_path / "script"
        script.write_text(ran.out)
        subprocess.run([shell, "-n", str(script)], check=True, timeout=60)


def test_jobs_are_completed_by_name_and_id_and_asked_for_once(stub: Stub, headway: Headway) -> None:
    stub.on("GET", "/jobs", {"items": [canned.a_view(), canned.waiting()], "next": None})
    headway("me")
    asked = len(stub.asked)
    assert known("jobs") == ["sft-07", "j-8a0", "j-9"]
    assert known("jobs") == ["sft-07", "j-8a0", "j-9"]
    assert len(stub.asked) == asked + 1


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "nonsense", ""])
def test_completion_never_fails(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWAY_URL", url)
    monkeypatch.setenv("HEADWAY_TOKEN", "hw_x")
    assert known("projects") == []


def test_names_that_are_kept_are_completed_without_an_http_library(stub: Stub, headway: Headway) -> None:
    stub.on("GET", "/projects", [{"name": "nlp"}])
    headway("me")
    assert known("projects") == ["nlp"]
    code = "import sys; from headway.cli.known import known; print(known('projects'), 'httpx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "['nlp'] False\n"


def test_a_reader_that_goes_away_is_no_error(stub: Stub, headway: Headway) -> None:
    stub.on("GET", "/jobs", {"items": [canned.a_view()] * 2000, "next": None})
    headway("me")
    done = subprocess.run(
        ["/bin/sh", "-c", '"$0" -m headway.cli.main ps --json | head -1; exit', sys.executable],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("[\n", "")
