"""`bills`: what each failure of a job cost, where the seconds went, and what another interval would have cost."""

from typing import Any

import click

from headway.cli import quantities
from headway.cli.arguments import JOB
from headway.cli.command import command, json_option, option
from headway.cli.language import say, word
from headway.cli.screen import note, out, table, write_json
from headway.cli.session import client

PHASES = ("detect", "stop", "decide", "retry", "schedule", "start", "load", "first_step")


@command("bills")
@click.argument("job", type=JOB)
@option("--total", is_flag=True, says="bills-total")
@json_option
def bills(job: str, total: bool, fields: tuple[str, ...] | None) -> None:
    """What each failure cost."""
    with client() as api:
        rows = [] if total else api.bills(job)
        summed = api.losses(job) if total or (fields is None and rows) else None
    if fields is not None:
        return write_json(summed if total else rows, fields)
    if rows:
        _costs(rows)
        _phases(rows)
    if summed is None or not summed["failures"]:
        return note(say("bills.none"))
    _total(summed)


def _costs(rows: list[dict[str, Any]]) -> None:
    names = ("failed", "resumed", "last-step", "resumed-step", "lost-steps", "lost-device-seconds", "outage", "passed")
    titles = [say(f"column.{name}") for name in names] + [say("column.fault", zone=quantities.zone())]
    shown = [
        (
            row["bill"]["failed"],
            row["bill"]["resumed"] or quantities.UNKNOWN,
            quantities.whole(row["bill"]["last_step"]),
            quantities.whole(row["bill"]["resumed_step"]),
            quantities.whole(row["lost_steps"]),
            quantities.whole(row["bill"]["device_seconds_lost"]),
            quantities.duration(row["kill_to_first_step_s"]),
            word("passing", row["passing"]),
            quantities.clock(row["bill"]["fault_at"]),
        )
        for row in rows
    ]
    table(titles, shown, right=titles[2:7])


def _phases(rows: list[dict[str, Any]]) -> None:
    """Where the seconds went; a phase that nobody passed has no column."""
    passed = [name for name in PHASES if any(row["phases"][name] is not None for row in rows)]
    if not passed:
        return
    titles = [say("column.failed")] + [word("recovery", name) for name in passed]
    out("")
    shown = [(row["bill"]["failed"], *(quantities.duration(row["phases"][name]) for name in passed)) for row in rows]
    table(titles, shown, right=titles[1:])


def _total(summed: dict[str, Any]) -> None:
    out("")
    out(
        say(
            "bills.total",
            failures=quantities.whole(summed["failures"]),
            steps=quantities.whole(summed["lost_steps"]),
            device_seconds=quantities.device_seconds(summed["device_seconds"]),
            outage=quantities.duration(summed["outage_s"]),
        )
    )
    if not summed["intervals"]:
        return note(say("bills.no-intervals"))
    names = ("interval", "lost-steps", "lost-device-seconds", "saves", "saving-device-seconds", "sum")
    titles = [say(f"column.{name}") for name in names]
    table(titles, [_interval(row) for row in summed["intervals"]], right=titles)


def _interval(row: dict[str, Any]) -> tuple[str, ...]:
    every = quantities.whole(row["every_steps"])
    return (
        say("bills.in-use", every=every) if row["in_use"] else every,
        quantities.whole(row["lost_steps"]),
        quantities.whole(row["lost_device_seconds"]),
        quantities.whole(row["saves"]),
        quantities.whole(row["saving_device_seconds"]),
        quantities.whole(row["device_seconds"]),
    )
