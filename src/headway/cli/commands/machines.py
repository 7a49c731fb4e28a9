"""Nodes and devices now: `top`, `node ls`."""

import sys
import time
from typing import Any

import click

from headway.cli import quantities
from headway.cli.arguments import MOMENT
from headway.cli.command import command, json_option, noun, option
from headway.cli.commands.jobs import CLEAR, REPAINT_S
from headway.cli.language import say
from headway.cli.screen import is_terminal, note, out, state, table, write_json, write_json_line
from headway.cli.session import client

node = noun("node")


@command("top")
@option("--watch", "-w", is_flag=True, says="repaint")
@json_option
def top(watch: bool, fields: tuple[str, ...] | None) -> None:
    """Who has which devices."""
    with client() as api:
        while True:
            rows = api.nodes()
            if fields is not None:
                write_json_line(rows) if watch else write_json(rows, fields)
            else:
                if watch and is_terminal(sys.stdout):
                    click.echo(CLEAR, nl=False)
                _show_devices(rows)
            if not watch:
                return
            time.sleep(REPAINT_S)


def _show_devices(rows: list[dict[str, Any]]) -> None:
    taken = sum(len(row["taken"]) for row in rows)
    out(say("top.total", taken=taken, devices=sum(row["node"]["devices"] for row in rows), nodes=len(rows)))
    titles = [say(f"column.{name}") for name in ("node", "state", "device-type", "taken", "devices-by-attempt")]
    table(titles, [_row(row) for row in rows], right=[titles[3]])


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    holders: dict[str, list[str]] = {}
    for device, attempt in sorted(row["taken"].items(), key=lambda item: int(item[0])):
        holders.setdefault(attempt, []).append(device)
    others = [say("top.others", user=one["by"], devices=one["devices"]) for one in row.get("occupied", ())]
    shown = "  ".join([*(f"{attempt} [{','.join(devices)}]" for attempt, devices in holders.items()), *others])
    found = row["node"]
    return (
        found["name"],
        state(found["state"]),
        found["device_type"],
        f"{len(row['taken'])}/{found['devices']}",
        shown or quantities.UNKNOWN,
    )


@command("ls", node)
@option("--quiet", "-q", is_flag=True)
@json_option
def list_nodes(quiet: bool, fields: tuple[str, ...] | None) -> None:
    """Every node."""
    with client() as api:
        rows = api.nodes()
    if fields is not None:
        return write_json(rows, fields)
    if quiet:
        for row in rows:
            out(row["node"]["name"])
        return
    names = ("node", "engine", "state", "device-type", "devices", "taken", "why")
    titles = [say(f"column.{name}") for name in names]
    shown = [
        (
            row["node"]["name"],
            row["node"]["engine"],
            state(row["node"]["state"]),
            row["node"]["device_type"],
            quantities.whole(row["node"]["devices"]),
            quantities.whole(len(row["taken"])),
            row["node"]["reason"] or quantities.UNKNOWN,
        )
        for row in rows
    ]
    table(titles, shown, right=titles[4:6])


@command("cordon", node)
@click.argument("name", metavar="NODE")
@option("--reason", required=True, says="reason")
@option("--until", type=MOMENT)
@option("--needs-retest", is_flag=True, says="needs-retest")
@json_option
def cordon(name: str, fields: tuple[str, ...] | None, **wish: Any) -> None:
    """Close a node to new attempts."""
    with client() as api:
        closed = api.cordon(name, wish["reason"], until=wish["until"], needs_retest=wish["needs_retest"])
    if fields is not None:
        return write_json(closed, fields)
    told = {"drained": say("node.drained"), "reserved": say("node.reserved"), "excluded": say("node.excluded")}
    note(say("node.closed", node=closed["node"], how=told[closed["kind"]]))


@command("uncordon", node)
@click.argument("name", metavar="NODE")
@option("--force", is_flag=True, says="force-open")
@json_option
def uncordon(name: str, force: bool, fields: tuple[str, ...] | None) -> None:
    """Open a node that Headway had closed."""
    with client() as api:
        opened = api.uncordon(name, force=force)
    if fields is not None:
        return write_json(opened, fields)
    note(say("node.opened", node=opened["node"], state=state(opened["state"])))
    if opened["reason"]:
        note(opened["reason"])
