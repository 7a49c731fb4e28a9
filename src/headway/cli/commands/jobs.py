"""Jobs as a list, and what ends them: `ps`, `stop`."""

import sys
import time
from typing import TYPE_CHECKING, Any

import click

from headway.cli import exits, quantities
from headway.cli.arguments import DURATION, JOB, PROJECT
from headway.cli.command import command, json_option, option
from headway.cli.follow import TERMINAL, detached, until
from headway.cli.language import say
from headway.cli.screen import is_terminal, note, out, state, table, write_json, write_json_line
from headway.cli.session import client, confirm
from headway.cli.telling import at_step

if TYPE_CHECKING:
    from headway.sdk.client import Client

STATES = ("queued", "starting", "running", "stopping", "recovering", "held", *TERMINAL)
LIVE = STATES[: -len(TERMINAL)]
REPAINT_S = 2.0
CLEAR = "\x1b[H\x1b[J"


@command("ps")
@option("--all", "-a", "everything", is_flag=True)
@option("--state", "states", type=click.Choice(STATES), multiple=True)
@option("--project", type=PROJECT)
@option("--watch", "-w", is_flag=True, says="repaint")
@option("--limit", type=click.IntRange(1), says="rows")
@option("--quiet", "-q", is_flag=True)
@json_option
def ps(watch: bool, quiet: bool, fields: tuple[str, ...] | None, **wanted: Any) -> None:
    """Jobs, newest first."""
    with client() as api:
        while True:
            rows = _rows(api, **wanted)
            if watch and is_terminal(sys.stdout) and fields is None:
                click.echo(CLEAR, nl=False)
            _show(rows, quiet, fields, watch)
            if not watch:
                return
            time.sleep(REPAINT_S)


def _rows(
    api: "Client", everything: bool, states: tuple[str, ...], project: str | None, limit: int | None
) -> list[dict[str, Any]]:
    return list(api.jobs(project, states or (None if everything else LIVE), limit))


def _show(rows: list[dict[str, Any]], quiet: bool, fields: tuple[str, ...] | None, watch: bool) -> None:
    if fields is not None:
        if not watch:
            return write_json(rows, fields)
        for row in rows:
            write_json_line(row, fields)
        return
    if quiet:
        for row in rows:
            out(row["job"]["id"])
        return
    titles = {name: say(f"column.{name}") for name in ("id", "name", "project", "state", "devices", "step", "pace")}
    titles |= {"left": say("column.left"), "submitted": say("column.submitted", zone=quantities.zone())}
    right = [titles[name] for name in ("devices", "step", "pace", "left")]
    table(list(titles.values()), [_row(view) for view in rows], right)
    if not rows:
        note(say("jobs.none"))


def _row(view: dict[str, Any]) -> tuple[str, ...]:
    job = view["job"]
    place = f" #{view['waits']['position']}" if view.get("waits") else ""
    return (
        job["id"],
        job["spec"]["name"],
        job["spec"]["project"],
        state(job["state"]) + place,
        quantities.whole(view["devices"]),
        quantities.steps(job["step"], job["total"]),
        quantities.pace(view["rate"]) if job["state"] == "running" else quantities.UNKNOWN,
        quantities.duration(view["left_s"]) if job["state"] == "running" else quantities.UNKNOWN,
        quantities.clock(job["submitted_at"]),
    )


@command("stop")
@click.argument("jobs", type=JOB, nargs=-1, required=True, metavar="JOB...")
@option("--reason", default="user", says="stop-reason")
@option("--wait", is_flag=True)
@option("--timeout", type=DURATION)
@option("--yes", "-y", is_flag=True)
@option("--no-input", is_flag=True)
@json_option
def stop(
    jobs: tuple[str, ...], reason: str, wait: bool, timeout: float | None, fields: tuple[str, ...] | None, **asks: bool
) -> int:
    """Ask jobs to stop; they may save first."""
    with client() as api:
        found = [api.job(job) for job in jobs]
        for view in found:
            confirm(_question(view), **asks)
        stopped = [api.stop(view["job"]["id"], reason) for view in found]
        if fields is not None and not wait:
            write_json(stopped, fields)
        for job in stopped:
            note(say("stop.asked", name=job["spec"]["name"], job=job["id"]))
        return _wait_for_end(api, [job["id"] for job in stopped], timeout, fields) if wait else exits.DONE


@command("release")
@click.argument("jobs", type=JOB, nargs=-1, required=True, metavar="JOB...")
@json_option
def release(jobs: tuple[str, ...], fields: tuple[str, ...] | None) -> None:
    """Let held jobs go on: what stopped them has been put right."""
    with client() as api:
        released = [api.release(job) for job in jobs]
    if fields is not None:
        return write_json(released, fields)
    for job in released:
        note(say("release.done", name=job["spec"]["name"], job=job["id"]))


def _question(view: dict[str, Any]) -> str:
    job = view["job"]
    return say("stop.sure", name=job["spec"]["name"], job=job["id"], where=at_step(job))


def _wait_for_end(api: "Client", ids: list[str], timeout: float | None, fields: tuple[str, ...] | None) -> int:
    deadline = None if timeout is None else time.monotonic() + timeout
    ended = []
    for job in ids:

        def look(job: str = job) -> dict[str, Any]:
            return api.job(job)

        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        try:
            view = until(look, lambda view: view["job"]["state"] in TERMINAL, left)
        except KeyboardInterrupt:
            return detached(job)
        if view is None:
            note(say("follow.pending", job=job))
            return exits.PENDING
        ended.append(view["job"])
        note(say("stop.ended", job=job, state=state(view["job"]["state"])))
    if fields is not None:
        write_json(ended, fields)
    return exits.DONE
