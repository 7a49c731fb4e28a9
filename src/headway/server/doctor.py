"""What the server needs, looked at one by one. It changes nothing."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy.exc import OperationalError

from headway.domain.errors import PlatformError
from headway.engines.local.engine import LocalEngine
from headway.engines.local.settings import LocalSettings, parse_nodes
from headway.server.settings import Settings
from headway.store.database import Database

LEAST_FREE = 5 << 30


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    what: str
    ok: bool
    detail: str


def examine(settings: Settings) -> list[Finding]:
    """Every finding, good and bad."""
    checks: list[tuple[str, Callable[[Settings], str]]] = [
        ("home", _home),
        ("disk", _disk),
        ("database", _database),
        ("local engine", _engine),
        ("gateway", _gateway),
        ("job python", _python),
    ]
    return [_look(what, check, settings) for what, check in checks]


def _look(what: str, check: Callable[[Settings], str], settings: Settings) -> Finding:
    try:
        return Finding(what, True, check(settings))
    except (PlatformError, OSError, ImportError, subprocess.SubprocessError, OperationalError) as problem:
        return Finding(what, False, str(problem).splitlines()[0])


def _home(settings: Settings) -> str:
    if not settings.home.exists():
        return f"to be made: {settings.home}"
    if not os.access(settings.home, os.W_OK):
        raise PlatformError(
            "not-readable", field="home", value=str(settings.home), user="server", detail="not writable"
        )
    return str(settings.home)


def _disk(settings: Settings) -> str:
    there = next(folder for folder in (settings.home, *settings.home.parents) if folder.exists())
    free = shutil.disk_usage(there).free
    if free < LEAST_FREE:
        raise PlatformError("disk-low", value=str(settings.home), free=free >> 30, least=LEAST_FREE >> 30)
    return f"{free >> 30} GiB free"


def _database(settings: Settings) -> str:
    if settings.database_url is None and not settings.database_file.exists():
        return f"sqlite, to be made: {settings.database_file}"
    with closing(Database(settings.url)) as database, database.read() as c:
        return c.engine.dialect.name


def _engine(settings: Settings) -> str:
    with TemporaryDirectory() as empty:
        local = LocalSettings(Path(empty), settings.home / "agent", nodes=parse_nodes(settings.nodes))
        inventory = asyncio.run(LocalEngine(local).inventory())
    return ", ".join(f"{node.name}: {node.devices} × {node.device_type}" for node in inventory.nodes)


def _gateway(_settings: Settings) -> str:
    from envoy import __file__ as package

    return str(package)


def _python(settings: Settings) -> str:
    done = subprocess.run([settings.python, "--version"], capture_output=True, text=True, check=True)
    return f"{settings.python} {done.stdout.strip()}"
