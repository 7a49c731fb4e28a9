"""`headway-server engine …`: where this home's jobs run, and whether those places are ready for them."""

import asyncio
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import click

from headway.domain.errors import PlatformError, message
from headway.engines.protocol import Books, Capability, Engine, UnixUser
from headway.server import engines
from headway.server.home import database_of, has_database, settings_of
from headway.server.language import language
from headway.server.operations.ledger.reconcile import reconcile as compare_books
from headway.server.operations.nodes.engine_checks import findings, mapped
from headway.server.settings import Settings
from headway.store import attempts

MARKS = {True: "✓", False: "✗", None: "?"}


def _with_home(function: Callable[..., None]) -> Callable[..., None]:
    """`--home`, given to the command as the settings of that home."""
    option = click.option(
        "--home",
        "settings",
        callback=_settings,
        type=click.Path(path_type=Path),
        help="where everything is kept [~/.headway]",
    )
    return option(function)


def _settings(_context: click.Context, _option: click.Parameter, home: Path | None) -> Settings:
    return settings_of({"home": home})


@click.group("engine")
def engine() -> None:
    """Where jobs run: this machine, a Slurm site. Changes hold from the next start of the server."""


@engine.command()
@click.argument("name")
@click.argument("options", nargs=-1)
@_with_home
def add(settings: Settings, name: str, options: tuple[str, ...]) -> None:
    """Add an engine with its OPTIONS (key=value …), or set them anew."""
    pairs = [word.partition("=") for word in options]
    if wrong := [key for key, equals, _ in pairs if not key or not equals]:
        raise PlatformError("invalid-field", field="options", value=wrong[0], rule="key=value")
    engines.add(settings, name, {key: value for key, _, value in pairs})
    click.echo(message("engine-added", {"engine": name, "value": str(settings.home / engines.FILE)}, language()))


@engine.command()
@click.argument("name")
@_with_home
def remove(settings: Settings, name: str) -> None:
    """Take an engine out of the home; refused while attempts live on it."""
    if has_database(settings):
        with database_of(settings) as database, database.read() as c:
            live = [attempt.id for attempt in attempts.live(c) if attempt.engine == name]
        if live:
            raise PlatformError("engine-in-use", engine=name, count=len(live), attempt=live[0])
    engines.remove(settings, name)
    click.echo(message("engine-removed", {"engine": name}, language()))


@engine.command("ls")
@_with_home
def list_engines(settings: Settings) -> None:
    """The home's engines and their options."""
    for name, options in engines.configured(settings).items():
        click.echo(" ".join([name, *(f"{key}={value}" for key, value in sorted(options.items()))]))


@engine.command()
@click.argument("name", required=False)
@_with_home
def check(settings: Settings, name: str | None) -> None:
    """Try everything the engines need before the first job does; names what is missing."""
    results = [_check(settings, each) for each in ([name] if name else engines.configured(settings))]
    sys.exit(0 if all(results) else 1)


@engine.command()
@click.argument("name")
@click.option(
    "--days", type=click.FloatRange(min=0, min_open=True), default=1.0, show_default=True, help="how far back"
)
@_with_home
def reconcile(settings: Settings, name: str, days: float) -> None:
    """Compare the ledger with the engine's own accounting, attempt by attempt; lists those apart."""
    since = datetime.now(UTC) - timedelta(days=days)
    with TemporaryDirectory() as empty:
        opened = _open(settings, name, Path(empty))
        if Capability.BOOKS not in opened.can:
            raise PlatformError("no-books", engine=name)
        with database_of(settings) as database:
            count, apart = asyncio.run(compare_books(database, name, cast(Books, opened), since))
    for one in apart:
        charged = "—" if one.engine is None else str(one.engine)
        counted: dict[str, str | int] = {"ledger": one.ledger, "charged": charged, "difference": one.difference}
        click.echo(message("books-apart", {"attempt": one.attempt, "engine": name, **counted}, language()))
    click.echo(message("books-compared", {"engine": name, "count": count, "apart": len(apart)}, language()))
    sys.exit(1 if apart else 0)


def _open(settings: Settings, name: str, empty: Path) -> Engine:
    """An engine of the home, with a folder of its own that is empty. Raises `not-found`."""
    known = engines.configured(settings)
    if name not in known:
        raise PlatformError("not-found", what="engine", value=name, near=", ".join(known))
    return engines.open_engine(settings, name, known[name], empty / "agent.pyz", run_dir=empty)


def _check(settings: Settings, name: str) -> bool:
    """Tell what one engine found; whether nothing is missing."""
    with TemporaryDirectory() as empty:
        opened = _open(settings, name, Path(empty))
        tried = asyncio.run(findings(opened, settings.agents_url, _mapped(settings)))
    click.echo(name)
    for found in tried:
        click.echo(f"  {MARKS[found.ok]} {message(found.code, {**found.params}, language())}")
        if found.ok is not True:
            click.echo(f"      {PlatformError(found.code, **found.params).hint(language())}")
    return all(found.ok is not False for found in tried)


def _mapped(settings: Settings) -> list[UnixUser]:
    """Whom users are mapped to; nobody in a home without a database."""
    if not has_database(settings):
        return []
    with database_of(settings) as database, database.read() as c:
        return mapped(c)
