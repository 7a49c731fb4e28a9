"""What the server needs, looked at one by one. It changes nothing."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy.exc import OperationalError

from headway.domain.errors import Language, PlatformError, message, say
from headway.engines.local.engine import LocalEngine
from headway.engines.local.settings import LocalSettings, parse_nodes
from headway.server.home import database_of, has_database
from headway.server.settings import Settings

LEAST_FREE = 5 << 30
Check = Callable[[Settings, Language], str]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at, in the reader's words."""

    what: str
    ok: bool
    detail: str


def examine(settings: Settings, language: Language) -> list[Finding]:
    """Every finding, good and bad."""
    checks: dict[str, Check] = {
        "doctor-home": _home,
        "doctor-disk": _disk,
        "doctor-database": _database,
        "doctor-engine": _engine,
        "doctor-gateway": _gateway,
        "doctor-python": _python,
    }
    return [_look(message(what, {}, language), check, settings, language) for what, check in checks.items()]


def _look(what: str, check: Check, settings: Settings, language: Language) -> Finding:
    try:
        return Finding(what, True, check(settings, language))
    except PlatformError as problem:
        return Finding(what, False, f"{problem.text(language)} [{problem.code}]")
    except (OSError, ImportError, subprocess.SubprocessError, OperationalError) as problem:
        return Finding(what, False, str(problem).splitlines()[0])


def _home(settings: Settings, language: Language) -> str:
    if not settings.home.exists():
        return message("doctor-to-be-made", {"value": str(settings.home)}, language)
    if not os.access(settings.home, os.W_OK):
        raise PlatformError(
            "not-readable", field="home", value=str(settings.home), user="server", detail=say("not-writable")
        )
    return str(settings.home)


def _disk(settings: Settings, language: Language) -> str:
    there = next(folder for folder in (settings.home, *settings.home.parents) if folder.exists())
    free = shutil.disk_usage(there).free
    if free < LEAST_FREE:
        raise PlatformError("disk-low", value=str(settings.home), free=free >> 30, least=LEAST_FREE >> 30)
    return message("doctor-free", {"free": free >> 30}, language)


def _database(settings: Settings, language: Language) -> str:
    if not has_database(settings):
        return message("doctor-sqlite", {"value": str(settings.database_file)}, language)
    with database_of(settings) as database, database.read() as c:
        return c.engine.dialect.name


def _engine(settings: Settings, _language: Language) -> str:
    with TemporaryDirectory() as empty:
        local = LocalSettings(Path(empty), settings.home / "agent", nodes=parse_nodes(settings.nodes))
        inventory = asyncio.run(LocalEngine(local).inventory())
    return ", ".join(f"{node.name}: {node.devices} × {node.device_type}" for node in inventory.nodes)


def _gateway(_settings: Settings, _language: Language) -> str:
    from envoy import __file__ as package

    return str(package)


def _python(settings: Settings, _language: Language) -> str:
    done = subprocess.run([settings.python, "--version"], capture_output=True, text=True, check=True)
    return f"{settings.python} {done.stdout.strip()}"
