"""`report`: a month of waits, use and failures by project, its jobs, and what more nodes would have changed."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import click

from headway.cli import quantities
from headway.cli.arguments import PROJECT
from headway.cli.command import command, json_option, option
from headway.cli.language import say, word
from headway.cli.screen import note, out, table, write_json
from headway.cli.session import client

Row = dict[str, Any]
COLUMNS = ("project", "starts", "mean-wait", "p90-wait", "longest-wait", "still-waiting", "use-of-own", "failure-rate")
MORE = ("project", "jobs", "mean-wait", "p90-wait", "evicted", "utilised")
JOBS = (
    "job",
    "name",
    "devices",
    "starts",
    "waited",
    "device-seconds",
    "attempts",
    "failures",
    "preempted",
    "fault-class",
)


@command("report")
@option("--month")
@option("--project", type=PROJECT)
@option("--jobs", "opened", is_flag=True, says="report-jobs")
@option("--add", multiple=True, says="report-add")
@json_option
def report(
    month: str | None, project: str | None, opened: bool, add: tuple[str, ...], fields: tuple[str, ...] | None
) -> None:
    """A month's waits, use and failures; with --add what its waits would have been with more nodes."""
    chosen = month or f"{datetime.now().astimezone():%Y-%m}"
    if opened and project is None:
        raise click.UsageError(say("error.needs-project"))
    with client() as api:
        if add:
            told = api.with_more(chosen, add)
            return write_json(told, fields) if fields is not None else _show_more(told, project)
        found = [api.report(project, chosen)] if project else api.reports(chosen)
    if fields is not None:
        return write_json(found[0] if project else found, fields)
    if opened:
        return _show_jobs(found[0]["jobs"])
    titles = [say(f"column.{name}") for name in COLUMNS]
    table(titles, [_row(each) for each in found], right=titles[1:])
    if project:
        for line in _opened(found[0]):
            out(line)
        note(say("report.jobs", project=project, month=chosen))


def _row(told: Row) -> tuple[str, ...]:
    waited = told["waited"]
    used = " · ".join(f"{each['device_type']} {quantities.share(each['utilisation'])}" for each in told["used"])
    return (
        told["project"],
        quantities.whole(waited["starts"]),
        *(quantities.duration(waited[name]) for name in ("mean_s", "p90_s", "max_s")),
        quantities.whole(waited["waiting"]),
        used or quantities.UNKNOWN,
        quantities.share(told["failed"]["rate"]),
    )


def _opened(told: Row) -> Iterable[str]:
    """What one project's figures are made of."""
    spread = told["waited"]["spread"]
    bounds = [quantities.duration(each["up_to_s"]) for each in spread[:-1]]
    names = [say("report.up-to", bound=bound) for bound in bounds] + [say("report.longer", bound=bounds[-1])]
    shown = [f"{name}: {quantities.whole(each['waits'])}" for name, each in zip(names, spread, strict=True)]
    yield say("report.spread", spread=" · ".join(shown))
    for each in told["used"]:
        own, had = (quantities.device_seconds(each[name]) for name in ("own_device_seconds", "device_seconds"))
        yield say("report.used", device_type=each["device_type"], had=had, own=own)
    failed = told["failed"]
    counts = {name: quantities.whole(failed[name]) for name in ("ended", "failed", "preempted", "drilled")}
    yield say("report.failed", **counts, had=quantities.device_seconds(failed["device_seconds"]))
    if failed["faults"]:
        words = [f"{word('fault', fault)}: {quantities.whole(count)}" for fault, count in failed["faults"].items()]
        yield say("report.faults", faults=" · ".join(words))


def _show_jobs(rows: list[Row]) -> None:
    titles = [say(f"column.{name}") for name in JOBS]
    counted = ("attempts", "failed", "preempted")
    shown = [
        (
            row["job"] + (" *" if row["waiting"] else ""),
            row["name"],
            quantities.whole(row["devices"]),
            quantities.whole(row["starts"]),
            quantities.duration(row["wait_seconds"]),
            quantities.whole(row["device_seconds"]),
            *(quantities.whole(row[name]) for name in counted),
            ", ".join(word("fault", fault) for fault in row["faults"]),
        )
        for row in rows
    ]
    table(titles, shown, right=titles[2:-1])
    if any(row["waiting"] for row in rows):
        note(say("report.waiting"))


def _show_more(told: Row, project: str | None) -> None:
    """Each cell: before → after."""
    sides = [(name, each) for name, each in told["projects"].items() if project in (None, name)]
    rows = [_more(name, each) for name, each in [*sides, (say("report.all"), told["whole"])]]
    titles = [say(f"column.{name}") for name in MORE]
    table(titles, rows, right=titles[1:])
    note(say("report.more", added=", ".join(told["added"]), month=told["month"]))
    if told["left_out"]:
        note(say("report.left-out", jobs=quantities.whole(told["left_out"])))


def _more(name: str, sides: Row) -> tuple[str, ...]:
    def both(key: str, shown: Any) -> str:
        return f"{shown(sides['before'][key])} → {shown(sides['after'][key])}"

    waits = [both(key, quantities.duration) for key in ("mean_wait", "p90_wait")]
    jobs = quantities.whole(sides["before"]["jobs"])
    return (name, jobs, *waits, both("evictions", quantities.whole), both("utilisation", quantities.share))
