"""`headway-server rehearse` and `headway-server snapshot`: the queue tried out, and taken home, by operators."""

import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headway.domain.errors import message
from headway.server.home import database_of, settings_of

if TYPE_CHECKING:
    from headway.scheduler.snapshot import Snapshot
    from headway.server.settings import Settings

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
home_option = click.option("--home", type=click.Path(path_type=Path), help="where everything is kept [~/.headway]")
database_option = click.option("--database", "database_url", help="postgresql://… instead of SQLite in the home")


@click.command()
@home_option
@database_option
@click.option("--quota", type=FILE, help="a proposed quota table (TOML, YAML); by default the one in force")
@click.option("--add", multiple=True, help="more nodes, as in 4x8xH800 (may be repeated)")
@click.option("--cluster", multiple=True, help="these nodes instead of the present ones, as in 96x8xH800")
@click.option("--since", type=click.DateTime(), help="jobs submitted from then on [30 days ago]")
@click.option("--trace", type=FILE, help="jobs of a trace (CSV, .gz or not) instead of this site's")
@click.option("--json", "as_json", is_flag=True, help="print one JSON object")
def rehearse(quota: Path | None, add: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Replay past jobs under a proposed quota table, or with more nodes: waits, utilisation, evictions."""
    from headway.server import quota_file, rehearsal
    from headway.server.language import language

    past, unread, present = _material(given)
    tree = quota_file.read_path(quota) if quota else None
    added = [node for text in add for node in rehearsal.nodes_of(text)]
    compared = rehearsal.compare(past, present, tree, added)
    if as_json:
        click.echo(json.dumps(rehearsal.as_table(compared) | {"rows_left_out": unread}))
        return
    for line in rehearsal.lines(compared, language()):
        click.echo(line)
    if unread:
        click.echo(message("trace-rows-left-out", {"count": unread}, language()))


@click.group()
def snapshot() -> None:
    """What the scheduler sees, taken home and planned again."""


@snapshot.command()
@home_option
@database_option
def dump(**given: object) -> None:
    """Print the scheduler's view of this moment as JSON."""
    from headway.scheduler.dump import dumps

    click.echo(dumps(_look(settings_of(given))))


@snapshot.command()
@click.argument("file", type=FILE)
def replay(file: Path) -> None:
    """Plan a dumped snapshot again, and print the plan as JSON: the same snapshot gives the same plan."""
    from headway.scheduler.cycle import schedule
    from headway.scheduler.dump import loads
    from headway.store.columns import as_json

    plan = schedule(loads(file.read_text(encoding="utf-8")))
    click.echo(as_json(plan))


def _material(given: dict[str, Any]) -> tuple[list[Any], int, "Snapshot"]:
    """The jobs to replay, how many rows of a trace are none, and the nodes, table and policy as they are."""
    from dataclasses import replace
    from datetime import UTC, timedelta

    from headway.server import rehearsal, trace
    from headway.store import past

    cluster, since, csv = given.pop("cluster"), given.pop("since"), given.pop("trace")
    settings = settings_of(given)
    present = _look(settings)
    if cluster:
        present = replace(
            present, nodes=tuple(node for text in cluster for node in rehearsal.nodes_of(text, "cluster"))
        )
    if csv is not None:
        per_node = max((node.devices for node in present.nodes), default=8)
        return *trace.read(csv, per_node), present
    begins = since.replace(tzinfo=settings.zone) if isinstance(since, datetime) else present.now - timedelta(days=30)
    with database_of(settings) as database, database.read() as c:
        found = past.jobs(c, begins.astimezone(UTC), present.now)
    return found, 0, present


def _look(settings: "Settings") -> "Snapshot":
    from datetime import UTC

    from headway.server.operations.queue.looking import Memory, look

    with database_of(settings) as database, database.read() as c:
        return look(settings, Memory(), c, datetime.now(UTC))
