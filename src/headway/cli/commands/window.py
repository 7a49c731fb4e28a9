"""Maintenance windows and advance reservations."""

from typing import Any

import click

from headway.cli import quantities
from headway.cli.arguments import MOMENT, PROJECT
from headway.cli.command import command, json_option, noun, option
from headway.cli.language import say
from headway.cli.screen import note, out, table, write_json
from headway.cli.session import client

window = noun("window")


@command("ls", window)
@json_option
def list_windows(fields: tuple[str, ...] | None) -> None:
    """Windows that are not over, first to begin first."""
    with client() as api:
        rows = api.windows()
    if fields is not None:
        return write_json(rows, fields)
    names = ("id", "name", "begins", "ends", "project", "device-type", "nodes", "by", "why")
    titles = [say(f"column.{name}", zone=quantities.zone()) for name in names]
    table(titles, [_row(row) for row in rows])


@command("set", window)
@click.argument("name")
@option("--from", "begins", type=MOMENT, required=True, says="window-from")
@option("--until", "ends", type=MOMENT, required=True)
@option("--node", "nodes", multiple=True, says="window-node")
@option("--type", "device_type", says="window-type")
@option("--project", type=PROJECT, says="window-project")
@option("--reason", default="")
@json_option
def set_window(fields: tuple[str, ...] | None, **given: Any) -> None:
    """Keep nodes free for a while: for maintenance, or for one project. Its id goes to stdout."""
    with client() as api:
        made = api.set_window(given | {"nodes": list(given["nodes"])})
    if fields is not None:
        return write_json(made, fields)
    out(made["id"])
    note(say("window.set", name=made["content"]["name"], begins=quantities.moment(made["content"]["begins"])))


@command("cancel", window)
@click.argument("window_id", metavar="WINDOW")
def cancel(window_id: str) -> None:
    """Let a window be over."""
    with client() as api:
        api.cancel_window(window_id)
    note(say("window.cancelled", window=window_id))


def _row(kept: dict[str, Any]) -> tuple[str, ...]:
    found = kept["content"]
    return (
        kept["id"],
        found["name"],
        quantities.clock(found["begins"]),
        quantities.clock(found["ends"]),
        found["project"] or quantities.UNKNOWN,
        found["device_type"] or quantities.UNKNOWN,
        ", ".join(sorted(found["nodes"])) or quantities.UNKNOWN,
        kept["set_by"],
        kept["reason"],
    )
