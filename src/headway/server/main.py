"""`headway-server`: what operators type. Reads arguments, takes the home's lock, and runs the control plane."""

import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NoReturn

import click
from sqlalchemy.exc import OperationalError

from headway.domain.errors import Language, PlatformError, message
from headway.server.engine_commands import engine
from headway.server.home import is_served, settings_of
from headway.server.language import language
from headway.server.queue_commands import rehearse, snapshot
from headway.store.database import Database

FAILED = 1
HINT: dict[Language, str] = {"zh": "提示：", "en": "hint: "}


class Command(click.Group):
    """Prints an error of ours as a message and a hint instead of a traceback."""

    def invoke(self, context: click.Context) -> object:
        try:
            return super().invoke(context)
        except PlatformError as error:
            self._refuse(error)
        except OperationalError as error:
            self._refuse(PlatformError("database-unreachable", detail=str(error.orig).splitlines()[0]))

    def _refuse(self, error: PlatformError) -> NoReturn:
        reader = language()
        hint = f"{HINT[reader]}{error.hint(reader)}"
        click.echo(f"× {error.text(reader)} [{error.code}]\n  {hint}", err=True)
        sys.exit(FAILED)


@click.group(cls=Command)
@click.version_option(package_name="headway")
def main() -> None:
    """Run and look after a Headway server."""


main.add_command(engine)
home_option = click.option("--home", type=click.Path(path_type=Path), help="where everything is kept [~/.headway]")


@main.command()
@home_option
@click.option("--host", help="address to listen on [127.0.0.1]")
@click.option("--port", type=int, help="port of the API [8470]")
@click.option("--gateway-port", type=int, help="port of the inference gateway [8471]")
@click.option("--database", "database_url", help="postgresql://… instead of SQLite in the home")
@click.option("--nodes", help="divide this machine into virtual nodes, as in n1:2,n2:2")
@click.option("--tls-certificate", type=click.Path(path_type=Path), help="speak TLS with this certificate (PEM)")
@click.option("--tls-key", type=click.Path(path_type=Path), help="the certificate's key")
@click.option("--tls-ca", type=click.Path(path_type=Path), help="what agents trust, unless the certificate itself")
@click.option("--timezone", help="zone in which months are cut [Asia/Shanghai]")
@click.option("--detach", is_flag=True, help="go on in the background once the API answers")
def up(detach: bool, **given: object) -> None:
    """Start everything on this machine: API, loops, store, gateway."""
    from headway.server import running

    settings = settings_of(given)
    if detach:
        url = running.start_detached(settings, sys.argv[1:])
        click.echo(message("server-up", {"url": url, "value": str(settings.home / running.OUTPUT)}, language()))
    else:
        running.run(settings)


@main.command()
@home_option
def down(**given: object) -> None:
    """Stop the server and the gateway. Ranks that still run go on, and are found again by the next `up`."""
    from headway.server import running

    settings = settings_of(given)
    gone = running.stop(settings)
    click.echo(
        message("server-stopped", {"what": ", ".join(gone)}, language())
        if gone
        else message("server-none", {"home": str(settings.home)}, language())
    )


@main.command()
@click.option("--home", type=click.Path(path_type=Path), help="an empty folder, or an earlier showcase [a new one]")
@click.option("--port", type=click.IntRange(0, 65535), default=8470, show_default=True)
@click.option("--language", "wanted", type=click.Choice(["zh", "en"]), help="of what people in it wrote [yours]")
def showcase(home: Path | None, port: int, wanted: str | None) -> None:
    """Play two weeks of life into a throw-away home and serve it on this machine: nothing in it is real."""
    from tempfile import mkdtemp

    from headway.server.showcase import show

    chosen: Language = "zh" if (wanted or language()) == "zh" else "en"
    folder = home.absolute() if home is not None else Path(mkdtemp(prefix="headway-showcase-")) / "home"
    plays = partial(click.echo, message("showcase-plays", {"home": str(folder)}, chosen), err=True)
    show.serve(folder, port, chosen, plays, lambda url: click.echo(show.invitation(url, chosen)))


@main.command()
@home_option
@click.option("--database", "database_url", help="postgresql://… instead of SQLite in the home")
def migrate(**given: object) -> None:
    """Bring the database to this version's schema."""
    settings = settings_of(given)
    settings.home.mkdir(parents=True, exist_ok=True)
    with closing(Database(settings.url)) as database:
        if is_served(settings):
            _refuse_under_server(database, settings.home)
        database.migrate()
    click.echo(message("database-current", {}, language()))


def _refuse_under_server(database: Database, home: Path) -> None:
    """A server whose tables change under it fails in the middle of what it does."""
    try:
        database.check()
    except PlatformError as error:
        if error.code == "database-older":
            raise PlatformError("server-running", home=str(home)) from None
        raise


@main.command()
@home_option
@click.option("--database", "database_url", help="postgresql://… instead of SQLite in the home")
def doctor(**given: object) -> None:
    """Look at everything the server needs and say what is missing."""
    from headway.server.doctor import examine

    findings = examine(settings_of(given), language())
    for finding in findings:
        click.echo(f"{'ok ' if finding.ok else '×  '}{finding.what}: {finding.detail}")
    sys.exit(0 if all(finding.ok for finding in findings) else FAILED)


main.add_command(rehearse)
main.add_command(snapshot)

if __name__ == "__main__":
    main()
