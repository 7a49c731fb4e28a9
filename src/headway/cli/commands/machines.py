"""Nodes and devices now: `top`, `node ls`."""

import sys
import time
from typing import Any

import click

from headway.cli import quantities
from headway.cli.arguments import MOMENT
from headway.cli.command import command, json_option, noun, option
from headway.cli.commands.jobs import CLEAR, REPAINT_S
from headway.cli.language import say, word
from headway.cli.screen import is_terminal, note, out, state, table, write_json, write_json_line
from headway.cli.session import client

node = noun("node")


@command("top")
@option("--watch", "-w", is_flag=True, says="repaint")
@option("--cards", "each", is_flag=True, says="cards")
@option("--idle", is_flag=True, says="idle-cards")
@json_option
def top(watch: bool, each: bool, idle: bool, fields: tuple[str, ...] | None) -> None:
    """Who has which devices; with --idle those that are held and do nothing."""
    with client() as api:
        if each or idle:
            found = api.cards("idle" if idle else None)
            return write_json(found, fields) if fields is not None else _show_cards(found)
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


def _show_cards(rows: list[dict[str, Any]]) -> None:
    """A line for the cards of a node that are alike."""
    if not rows:
        return note(say("top.none-idle"))
    kinds = ("node", "state", "device_type", "project", "owner", "attempt", "step", "held_since", "idle_since", "ends")
    alike: dict[tuple[Any, ...], list[int]] = {}
    for row in rows:
        alike.setdefault(tuple(row[kind] for kind in kinds), []).append(row["device"])
    names = (
        "node",
        "card",
        "state",
        "device-type",
        "project",
        "owner",
        "attempt",
        "step",
        "since",
        "idle-since",
        "ends",
    )
    titles = [say(f"column.{name}", zone=quantities.zone()) for name in names]
    table(titles, [_alike(key, devices) for key, devices in alike.items()])
    if any(row["state"] == "unknown" for row in rows):
        note(say("top.unmeasured"))


def _alike(key: tuple[Any, ...], devices: list[int]) -> tuple[str, ...]:
    node, doing, device_type, project, owner, attempt, step, *moments = key
    words = [each or quantities.UNKNOWN for each in (project, owner, attempt)]
    times = [quantities.clock(moment) for moment in moments]
    return (node, ",".join(map(str, devices)), state(doing), device_type, *words, quantities.whole(step), *times)


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
            word("why", row["node"]["reason"]),
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
        note(word("why", opened["reason"]))
