"""`headway-server`, as operators meet it: refusals in words, a doctor that changes nothing, stops that fit."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from headway.server import locks, running
from headway.server.home import LOCK
from headway.server.main import main
from headway.store.database import Database
from headway.store.migrate import upgrade

DEADLINE_S = 90


def run(*words: str, **environment: str) -> Result:
    return CliRunner().invoke(main, words, env={"HEADWAY_LANG": "en"} | environment)


def _refusal(done: Result) -> str:
    """What it said on stderr when it refused: a sentence and a hint, no traceback."""
    assert (done.exit_code, done.stdout) == (1, ""), done.output
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("× ")
    assert "\n  hint: " in done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("up", "--timezone", "Mars/Olympus"), ("timezone", "Mars/Olympus")),
        (("up", "--timezone", "../../etc/passwd"), ("timezone", "../../etc/passwd")),
        (("up", "--port", "70000"), ("port", "70000", "≤ 65535")),
        (("up", "--gateway-port", "-1"), ("gateway_port", "-1", "≥ 0")),
        (("up", "--nodes", "n1"), ("nodes", "n1", "name:devices")),
        (("up", "--port", "0", "--database", "mysql://x"), ("database", "mysql://x", "postgresql://")),
        (("migrate", "--database", "nonsense"), ("database", "postgresql://")),
        (("migrate", "--database", "postgresql://127.0.0.1:1/headway"), ("database", "127.0.0.1", "port 1 ")),
    ],
)
def test_a_bad_setting_is_refused_in_words(tmp_path: Path, words: tuple[str, ...], named: tuple[str, ...]) -> None:
    said = _refusal(run(*words, "--home", str(tmp_path / "home")))
    assert all(part in said for part in named), said


@pytest.mark.parametrize(
    ("name", "value"),
    [("PORT", "eighty"), ("HOLD_S", "-1"), ("MODE", "party"), ("TIMEZONE", "Nowhere"), ("REPORT_S", "0")],
)
def test_a_bad_setting_in_the_environment_is_refused_in_words(tmp_path: Path, name: str, value: str) -> None:
    said = _refusal(run("doctor", "--home", str(tmp_path), **{f"HEADWAY_SERVER_{name}": value}))
    assert name.lower() in said
    assert value in said


@pytest.mark.parametrize("environment", [{"HEADWAY_LANG": "zh"}, {"HEADWAY_LANG": "", "LC_ALL": "zh_CN.UTF-8"}])
def test_a_refusal_is_in_the_operators_language(tmp_path: Path, environment: dict[str, str]) -> None:
    done = run("up", "--port", "70000", "--home", str(tmp_path), **environment)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "port：70000 不合法：≤ 65535 [invalid-field]\n  提示：" in done.stderr


def test_every_command_speaks_the_operators_language(tmp_path: Path) -> None:
    chinese = {"HEADWAY_LANG": "zh"}
    home = ("--home", str(tmp_path / "home"))
    assert run("down", *home, **chinese).stdout == f"{tmp_path / 'home'} 中没有在运行的服务\n"
    assert run("migrate", *home, **chinese).stdout == "数据库已是最新\n"
    said = run("doctor", *home, **chinese, HEADWAY_SERVER_PYTHON="/no/such/python").stdout
    assert "ok 主目录: " in said
    assert "GiB" in said
    assert "×  作业的 Python 环境: " in said
    assert not any(word in said for word in ("home: ", "disk", "database: ", "local engine", "free", "to be made"))


def test_migrate_may_be_repeated(tmp_path: Path) -> None:
    for _ in range(2):
        done = run("migrate", "--home", str(tmp_path / "home"))
        assert (done.exit_code, done.stdout) == (0, "the database is up to date\n")
    assert (tmp_path / "home" / "headway.db").exists()


def test_down_says_when_nothing_runs(tmp_path: Path) -> None:
    done = run("down", "--home", str(tmp_path / "home"))
    assert (done.exit_code, done.stdout) == (0, f"nothing was running in {tmp_path / 'home'}\n")
    assert not (tmp_path / "home").exists()


LOOKING = (("rehearse",), ("snapshot", "dump"))


@pytest.mark.parametrize("words", LOOKING, ids=" ".join)
def test_a_command_that_only_looks_names_a_home_that_has_no_database_and_makes_none(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    said = _refusal(run(*words, "--home", str(home)))
    assert f"there is no home {home}" in said
    assert "headway-server up" in said
    assert not home.exists()
    home.mkdir()
    said = _refusal(run(*words, "--home", str(home)))
    assert f"the home {home} has no database" in said
    assert "--database" in said
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("words", LOOKING, ids=" ".join)
def test_a_command_that_only_looks_does_not_migrate_but_says_how_to(words: tuple[str, ...], tmp_path: Path) -> None:
    _old(tmp_path)
    said = _refusal(run(*words, "--home", str(tmp_path)))
    assert "0001" in said
    assert "headway-server migrate" in said
    assert "[database-older]" in said


def test_tables_are_not_changed_under_a_server_that_runs(tmp_path: Path) -> None:
    _old(tmp_path)
    held = locks.take(tmp_path / LOCK)
    assert held is not None
    try:
        assert "a server already runs in" in _refusal(run("migrate", "--home", str(tmp_path)))
    finally:
        os.close(held)
    assert run("migrate", "--home", str(tmp_path)).exit_code == 0


def _old(home: Path) -> None:
    """A database as the first Headway left it."""
    with closing(Database(f"sqlite:///{home / 'headway.db'}")) as database, database.write() as c:
        upgrade(c, "0001")


def test_the_doctor_changes_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done = run("doctor", "--home", str(home))
    assert f"ok home: to be made: {home}" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_the_doctor_names_what_it_found(tmp_path: Path) -> None:
    assert run("migrate", "--home", str(tmp_path)).exit_code == 0
    before = sorted(tmp_path.rglob("*"))
    done = run("doctor", "--home", str(tmp_path), HEADWAY_SERVER_NODES="n1:2,n2:3")
    said = done.stdout.splitlines()
    for what in ("home", "disk", "database", "local engine", "gateway", "job python"):
        assert any(line[3:].startswith(what) for line in said), what
    assert "ok database: sqlite" in said
    assert sorted(tmp_path.rglob("*")) == before


def test_the_doctor_goes_on_when_a_part_is_missing(tmp_path: Path) -> None:
    done = run(
        "doctor",
        "--home",
        str(tmp_path),
        "--database",
        "postgresql://127.0.0.1:1/headway",
        HEADWAY_SERVER_PYTHON="/no/such/python",
    )
    assert done.exit_code == 1
    assert "×  database" in done.stdout
    assert "×  job python" in done.stdout
    assert "Traceback" not in done.output


def test_two_servers_on_one_home_are_refused(tmp_path: Path) -> None:
    held = locks.take(tmp_path / LOCK)
    assert held is not None
    try:
        for words in (("up",), ("up", "--detach")):
            assert "a server already runs in" in _refusal(run(*words, "--home", str(tmp_path), "--port", "0"))
    finally:
        os.close(held)


def test_a_taken_port_is_refused(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = _refusal(run("up", "--home", str(tmp_path), "--port", port))
    assert port in said
    assert "--port" in said


def test_a_server_that_is_told_not_to_have_started_does_not_come_up_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setattr(running, "START_S", 0.2)
    try:
        assert "server.log" in _refusal(run("up", "--detach", "--home", str(home), "--port", "0", "--nodes", "n1:1"))
        assert _named(str(home)) == []
    finally:
        for pid in _named(str(home)):
            os.kill(pid, signal.SIGKILL)


def _named(word: str) -> list[int]:
    """The processes that have a word in their command."""
    found = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = command.read_bytes().split(b"\0")
        except OSError:
            continue
        if word.encode() in words:
            found.append(int(command.parent.name))
    return found


@pytest.fixture
def innocent() -> Iterator[subprocess.Popen[bytes]]:
    """A process that has nothing to do with Headway."""
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


def test_down_ends_nobody_whose_pid_is_only_remembered(tmp_path: Path, innocent: subprocess.Popen[bytes]) -> None:
    """A new server holds the lock and has not said yet who it is; the file still names the one before."""
    told = {"url": "http://127.0.0.1:1", "pid": innocent.pid, "gateway_port": 1}
    (tmp_path / "server.json").write_text(json.dumps(told))
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path / LOCK)], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        done = run("down", "--home", str(tmp_path))
        assert (done.exit_code, done.stdout) == (0, "stopped: server\n")
        assert holder.wait(DEADLINE_S) == -signal.SIGTERM
        assert innocent.poll() is None
    finally:
        holder.kill()
        holder.wait()
        if holder.stdout is not None:
            holder.stdout.close()


HOLDER = """
import sys, time
from pathlib import Path
from headway.server import locks
held = locks.take(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(600)
"""


def test_a_database_of_a_newer_headway_is_refused(tmp_path: Path) -> None:
    assert run("migrate", "--home", str(tmp_path)).exit_code == 0
    database = Database(f"sqlite:///{tmp_path / 'headway.db'}")
    with database.write() as c:
        c.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    database.close()
    assert "9999" in _refusal(run("migrate", "--home", str(tmp_path)))
