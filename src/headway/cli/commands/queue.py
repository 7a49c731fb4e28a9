"""The queue as a whole: how well starts were predicted, and taking a job's devices by hand after seeing the price."""

from typing import Any

import click

from headway.cli import quantities
from headway.cli.arguments import JOB, PROJECT
from headway.cli.command import command, json_option, noun, option
from headway.cli.language import say
from headway.cli.screen import note, table, write_json
from headway.cli.session import client, confirm

forecast = noun("forecast")


@command("calibration", forecast)
@option("--project", type=PROJECT)
@option("--days", type=click.IntRange(1), default=30, says="calibration-days")
@json_option
def calibration(project: str | None, days: int, fields: tuple[str, ...] | None) -> None:
    """How often jobs started within the range they were first told, by project and size."""
    with client() as api:
        found = api.calibration(project, days)
    if fields is not None:
        return write_json(found, fields)
    names = ("project", "size-class", "predictions", "within-p50", "within-p90", "median-error", "mean-error")
    titles = [say(f"column.{name}") for name in names]
    table(titles, [_row(group) for group in found["groups"]], right=titles[2:])
    note(say("forecast.since", since=quantities.moment(found["since"])))


def _row(group: dict[str, Any]) -> tuple[str, ...]:
    return (
        group["project"] or say("forecast.all"),
        group["size"] or say("forecast.all"),
        quantities.whole(group["predictions"]),
        quantities.share(group["within_p50"]),
        quantities.share(group["within_p90"]),
        quantities.duration(group["median_error_s"]),
        quantities.duration(group["mean_error_s"]),
    )


@command("preempt")
@click.argument("job", type=JOB)
@option("--reason", required=True)
@option("--dry-run", is_flag=True, says="preempt-dry-run")
@option("--yes", "-y", is_flag=True)
@option("--no-input", is_flag=True)
@json_option
def preempt(job: str, reason: str, dry_run: bool, fields: tuple[str, ...] | None, **asks: bool) -> None:
    """Take a running job's devices: it may save, and waits again."""
    with client() as api:
        price = api.preempt(job, reason, dry_run=True)
        told = say(
            "preempt.price",
            job=price["job"],
            project=price["project"],
            owner=price["owner"],
            devices=price["devices"],
            saved=quantities.moment(price["saved_at"]),
            lost=quantities.device_seconds(price["lost_device_seconds"]),
        )
        if not dry_run:
            note(told)
            confirm(say("preempt.sure", job=price["job"]), **asks)
            price = api.preempt(job, reason)
    if fields is not None:
        return write_json(price, fields)
    note(told if dry_run else say("preempt.done", job=price["job"]))
