"""A real PostgreSQL for tests: started by hand on a Unix socket, ended by its process id.

It must never touch a server that runs already, nor be trusted with anything: it does not sync to disk.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

DEADLINE_S = 60
USER = "headway"
FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200", "listen_addresses=")


@dataclass(frozen=True)
class Postgres:
    """A running server; its socket lies in `folder`."""

    folder: Path

    def url(self, name: str) -> str:
        """Where Headway finds the database of this name."""
        return f"postgresql://{USER}@/{name}?host={self.folder}"

    def create(self, name: str, template: str = "template1") -> None:
        """Make a database, as a copy of another that nobody is connected to."""
        self._run(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')

    def drop(self, name: str) -> None:
        """Remove a database and whoever is still connected to it."""
        self._run(f'DROP DATABASE "{name}" WITH (FORCE)')

    def answers(self) -> bool:
        """Whether it takes connections."""
        try:
            self._run("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def _run(self, statement: str) -> None:
        with psycopg.connect(f"host={self.folder} user={USER} dbname=postgres", autocommit=True) as connection:
            connection.execute(statement.encode())


def find_binaries() -> Path | None:
    """The folder of `initdb` and `postgres`: `HEADWAY_POSTGRES` if set, else on PATH or where Debian keeps it."""
    chosen = os.environ.get("HEADWAY_POSTGRES")
    if chosen:
        return Path(chosen) if (Path(chosen) / "postgres").exists() else None
    on_path = shutil.which("initdb")
    folders = [Path(on_path).resolve().parent] if on_path else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "postgres").exists()), None)


@contextmanager
def running(binaries: Path) -> Iterator[Postgres]:
    """A server with an empty cluster of its own, gone afterwards."""
    # Unix socket paths are limited to about 100 bytes, so not under pytest's own folder.
    folder = Path(tempfile.mkdtemp(prefix="headway-pg-"))
    account = _account()
    if account:
        os.chown(folder, account.pw_uid, account.pw_gid)
    try:
        data = str(folder / "data")
        options = ["-U", USER, "--auth=trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
        subprocess.run(
            [binaries / "initdb", "-D", data, *options], check=True, stdout=subprocess.DEVNULL, **_as(account)
        )
        with _process(binaries, folder, data, account) as process:
            server = Postgres(folder)
            _wait_until_ready(server, process, folder / "log")
            yield server
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _process(
    binaries: Path, folder: Path, data: str, account: pwd.struct_passwd | None
) -> Iterator[subprocess.Popen[bytes]]:
    settings = [part for setting in FAST for part in ("-c", setting)]
    command = [str(binaries / "postgres"), "-D", data, "-k", str(folder), *settings]
    setpriv = shutil.which("setpriv")
    if setpriv:
        # A pytest that is killed outright must not leave a server behind.
        command = [setpriv, "--pdeathsig", "QUIT", *command]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, **_as(account))
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(DEADLINE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _account() -> pwd.struct_passwd | None:
    """Who runs it: PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    return names.get("postgres") or names["nobody"]


def _as(account: pwd.struct_passwd | None) -> dict[str, Any]:
    if account is None:
        return {"cwd": "/"}
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": [], "cwd": "/"}


def _wait_until_ready(server: Postgres, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not server.answers():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"PostgreSQL did not start: {log.read_text(errors='replace')}")
        time.sleep(0.02)
