"""Which engines a home has, and what is set for each: `<home>/engines.toml`, one table an engine. Knows none by name.

A home without the file has the one engine that needs no setting. What the server is started with (`engines`) wins over
the list; options always come from the file.
"""

import json
import os
import tomllib
from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from tempfile import TemporaryDirectory

from headway.domain.errors import PlatformError, say
from headway.engines.protocol import Engine, EngineConfig, OpenEngine
from headway.server.settings import Settings

FILE = "engines.toml"
# Comes with every home and keeps its directories in `run`; another engine's are in `engines/<name>`.
FIRST = "local"
Options = Mapping[str, str]


def configured(settings: Settings) -> dict[str, Options]:
    """The home's engines with their options. Raises `bad-file`."""
    kept = _read(settings.home / FILE)
    named = [word.strip() for word in settings.engines.split(",") if word.strip()]
    return {name: kept.get(name, {}) for name in named} if named else dict(kept)


def open_engines(settings: Settings, agent: Path) -> dict[str, Engine]:
    """Every engine of the home, found by its entry point. Raises `not-found` and what an engine says of its options."""
    return {name: open_engine(settings, name, options, agent) for name, options in configured(settings).items()}


def open_engine(settings: Settings, name: str, options: Options, agent: Path, run_dir: Path | None = None) -> Engine:
    """One engine; `run_dir` None: where the home keeps its directories."""
    folder = run_dir or (settings.home / "run" if name == FIRST else settings.home / "engines" / name)
    config = EngineConfig(
        run_dir=folder,
        agent=agent,
        python=settings.python,
        report=timedelta(seconds=settings.report_s),
        ca_file=settings.ca_file,
        options=({"nodes": settings.nodes} if name == FIRST else {}) | dict(options),
    )
    loaded: OpenEngine = _entry(name).load()
    folder.mkdir(parents=True, exist_ok=True)
    return loaded(config)


def add(settings: Settings, name: str, options: Options) -> None:
    """Add an engine, or set its options anew, once it has accepted them. Raises what it says of them."""
    with TemporaryDirectory() as empty:
        open_engine(settings, name, options, Path(empty, "agent.pyz"), run_dir=Path(empty))
    _write(settings.home / FILE, {**_read(settings.home / FILE), name: options})


def remove(settings: Settings, name: str) -> None:
    """Take an engine out of the home's list. Raises `not-found`."""
    kept = _read(settings.home / FILE)
    if name not in kept:
        raise PlatformError("not-found", what="engine", value=name, near=", ".join(kept))
    _write(settings.home / FILE, {other: options for other, options in kept.items() if other != name})


@cache
def _entries() -> Mapping[str, EntryPoint]:
    """Looked for once: that reads what every installed package says of itself."""
    return {entry.name: entry for entry in entry_points(group="headway.engines")}


def _entry(name: str) -> EntryPoint:
    known = _entries()
    if name not in known:
        raise PlatformError("not-found", what="engine", value=name, near=", ".join(sorted(known)))
    return known[name]


def _read(path: Path) -> dict[str, Options]:
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {FIRST: {}}
    except (OSError, ValueError) as error:
        raise PlatformError("bad-file", value=str(path), detail=str(error)) from None
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise PlatformError("bad-file", value=str(path), detail=say("no-table", name=name))
    return {name: {key: str(value) for key, value in table.items()} for name, table in tables.items()}


def _write(path: Path, engines: Mapping[str, Options]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        line
        for name, options in engines.items()
        for line in (f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in sorted(options.items())), "")
    ]
    draft = path.with_suffix(".new")
    draft.write_text("\n".join(lines), encoding="utf-8")
    os.replace(draft, path)
