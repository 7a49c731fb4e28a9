"""`usage`: a project's month, and the intervals its totals open into."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import click

from headway.cli import quantities
from headway.cli.arguments import PROJECT
from headway.cli.command import command, json_option, option
from headway.cli.language import say, word
from headway.cli.screen import note, out, table, write_json
from headway.cli.session import client

Row = dict[str, Any]


@command("usage")
@option("--month")
@option("--project", type=PROJECT, required=True)
@option("--csv", "as_csv", is_flag=True)
@option("--intervals", "opened", is_flag=True)
@json_option
def usage(month: str | None, project: str, as_csv: bool, opened: bool, fields: tuple[str, ...] | None) -> None:
    """A project's month: device-seconds by job; waiting is listed at zero."""
    chosen = month or f"{datetime.now().astimezone():%Y-%m}"
    with client() as api:
        if as_csv:
            return click.echo(api.statement_csv(project, chosen), nl=False)
        statement = api.statement(project, chosen)
        if opened:
            intervals = [row for row in api.intervals(project) if in_month(row, chosen, statement["timezone"])]
            return write_json(intervals, fields) if fields is not None else _show_intervals(intervals)
    if fields is not None:
        return write_json(statement, fields)
    _show_statement(statement)


def in_month(interval: Row, month: str, timezone: str) -> bool:
    """Whether an interval (open ones reach to now) has a part in a month of the contract's zone."""
    year, number = map(int, month.split("-"))
    zone = ZoneInfo(timezone)
    first = datetime(year, number, 1, tzinfo=zone)
    after = datetime(year + number // 12, number % 12 + 1, 1, tzinfo=zone)
    end = datetime.fromisoformat(interval["end"]) if interval["end"] else datetime.now(zone)
    return datetime.fromisoformat(interval["start"]) < after and end >= first


def _show_statement(statement: Row) -> None:
    title = say("usage.title", project=statement["project"], month=statement["month"], zone=statement["timezone"])
    out(title)
    names = ("job", "device-type", "basis", "device-seconds", "intervals")
    titles = [say(f"column.{name}") for name in names]
    lines = [
        (
            line["job"] + (" *" if line["open"] else ""),
            line["device_type"],
            word("basis", line["basis"]),
            quantities.whole(line["device_seconds"]),
            quantities.whole(line["intervals"]),
        )
        for line in statement["lines"]
    ]
    waits = [
        (wait["job"], quantities.UNKNOWN, say("usage.waited", time=quantities.duration(wait["wait_seconds"])), "0", "0")
        for wait in statement["waiting"]
    ]
    table(titles, lines + waits, right=titles[3:])
    for key, total in statement["totals"].items():
        device_type, _, basis = key.partition("/")
        out(say("usage.total", what=f"{device_type} · {word('basis', basis)}", total=quantities.device_seconds(total)))
    out(say("usage.sum", total=quantities.device_seconds(statement["device_seconds"])))
    if any(line["open"] for line in statement["lines"]):
        note(say("usage.open", at=quantities.moment(statement["as_of"])))


def _show_intervals(rows: list[Row]) -> None:
    titles = [say(f"column.{name}") for name in ("attempt", "device-type", "basis", "devices")]
    titles += [say("column.start"), say("column.end")]
    shown = [
        (
            row["attempt"],
            row["device_type"],
            word("basis", row["basis"]),
            quantities.whole(row["devices"]),
            quantities.moment(row["start"]),
            quantities.moment(row["end"]),
        )
        for row in rows
    ]
    table(titles, shown, right=[titles[3]])
