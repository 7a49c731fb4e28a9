"""What nodes measure, and their daemons' credentials: `node show`, `node metrics`, `node token`."""

from datetime import UTC, datetime, timedelta
from typing import Any

import click

from headway.cli import quantities
from headway.cli.arguments import Duration, Moment, Named
from headway.cli.command import command, json_option, option
from headway.cli.commands.machines import node
from headway.cli.language import say
from headway.cli.screen import note, out, pairs, table, write_json
from headway.cli.session import client

CARD_READINGS = ("utilisation_percent", "memory_used_bytes", "memory_total_bytes", "temperature_celsius", "power_watts")
POINTS = 1000


@command("show", node)
@click.argument("name", metavar="NODE", type=Named("nodes"))
@option("--metrics", is_flag=True, says="metrics")
@json_option
def show_node(name: str, metrics: bool, fields: tuple[str, ...] | None) -> None:
    """What a node is made of and measured last."""
    with client() as api:
        found = api.node_latest(name)
    if fields is not None:
        return write_json(found, fields)
    newest = max((row["at"] for row in found["readings"]), default=None)
    rows = [(say("column.node"), found["node"]), (say("column.maker"), found["maker"] or "")]
    rows += [(say("column.driver"), found["driver"] or ""), (say("column.kernel"), found["kernel"] or "")]
    pairs([*rows, (say("column.measured"), quantities.moment(newest))])
    if newest is None:
        return note(say("node.never-told", node=name))
    _show_cards(found)
    if metrics:
        out()
        titles = [say(f"column.{key}") for key in ("metric", "card", "value")]
        table(titles, [_reading(row) for row in found["readings"]], right=[titles[2]])


@command("metrics", node)
@click.argument("metric", metavar="METRIC")
@option("--node", "name", metavar="NODE", type=Named("nodes"), says="metrics-node")
@option("--since", type=Duration(), default="1h", show_default=True, says="metrics-since")
@option("--until", type=Moment(), says="metrics-until")
@json_option
def metrics(metric: str, name: str | None, since: float, until: str | None, fields: tuple[str, ...] | None) -> None:
    """One measurement across nodes."""
    end = datetime.now(UTC) if until is None else quantities.parse(until)
    query = {"since": (end - timedelta(seconds=since)).isoformat(), "until": until, "points": POINTS}
    with client() as api:
        found = api.metric(metric, **query) if name is None else api.node_readings(name, metric, **query)
    if fields is not None:
        return write_json(found, fields)
    if not found:
        return note(say("node.no-readings", metric=metric))
    titles = [say(f"column.{key}") for key in ("node", "card", "last", "minimum", "mean", "maximum", "count")]
    titles.append(say("column.at", zone=quantities.zone()))
    table(titles, [_series(metric, row) for row in found], right=titles[2:7])


@command("token", node)
@click.argument("name", metavar="NODE", type=Named("nodes"))
@option("--revoke", is_flag=True, says="revoke-node")
@json_option
def token(name: str, revoke: bool, fields: tuple[str, ...] | None) -> None:
    """A new credential for a node's daemon."""
    with client() as api:
        if revoke:
            api.revoke_node_credential(name)
            return note(say("node.revoked", node=name))
        issued = api.issue_node_credential(name)
    if fields is not None:
        return write_json(issued, fields)
    out(issued["token"])
    note(say("node.issued", node=name))


def _show_cards(found: dict[str, Any]) -> None:
    values = {(row["name"], row["device"]): row["value"] for row in found["readings"]}
    keys = ("card", "name", "health", "utilisation", "memory", "temperature", "power", "errors")
    titles = [say(f"column.{key}") for key in keys]
    rows = [_card(card, values) for card in found["cards"]]
    if rows:
        out()
        table(titles, rows, right=titles[3:7])


def _card(card: dict[str, Any], values: dict[tuple[str, int | None], float]) -> tuple[str, ...]:
    device = card["index"]
    busy, used, total, warm, power = (values.get((f"device_{name}", device)) for name in CARD_READINGS)
    errors = [
        f"{name.removeprefix('device_error_')} {value:.0f}"
        for (name, place), value in sorted(values.items(), key=str)
        if place == device and name.startswith("device_error_") and value
    ]
    return (
        quantities.UNKNOWN if device is None else str(device),
        card["name"] or quantities.UNKNOWN,
        card["health"] or quantities.UNKNOWN,
        quantities.UNKNOWN if busy is None else f"{busy:.0f} %",
        f"{quantities.size(used)} / {quantities.size(total)}",
        quantities.UNKNOWN if warm is None else f"{warm:.0f} °C",
        quantities.UNKNOWN if power is None else f"{power:.0f} W",
        "  ".join(errors) or quantities.UNKNOWN,
    )


def _reading(row: dict[str, Any]) -> tuple[str, ...]:
    return row["name"], _device(row["device"]), shown(row["name"], row["value"])


def _series(metric: str, row: dict[str, Any]) -> tuple[str, ...]:
    points = row["points"]
    count = sum(point["count"] for point in points)
    mean = sum(point["mean"] * point["count"] for point in points) / count
    numbers = (
        points[-1]["mean"],
        min(point["minimum"] for point in points),
        mean,
        max(point["maximum"] for point in points),
    )
    figures = [shown(metric, number) for number in numbers]
    return row["node"], _device(row["device"]), *figures, str(count), quantities.clock(points[-1]["at"])


def _device(index: int | None) -> str:
    return quantities.UNKNOWN if index is None else str(index)


def shown(metric: str, value: float) -> str:
    """A value in the unit that its name ends with."""
    base = metric.partition(":")[0]
    if base.endswith("_bytes_per_s"):
        return f"{quantities.size(value)}/s"
    if base.endswith("_bytes"):
        return quantities.size(value)
    units = {"_percent": " %", "_celsius": " °C", "_watts": " W"}
    unit = next((unit for ending, unit in units.items() if base.endswith(ending)), "")
    return f"{value:.10g}{unit}" if float(value).is_integer() else f"{value:.2f}{unit}"
