"""`why`: one verb for a job that waits, broke, or is simply running."""

from typing import Any

import click

from headway.cli import quantities
from headway.cli.arguments import JOB
from headway.cli.command import command, json_option, option
from headway.cli.language import language, say, word
from headway.cli.language import why as told
from headway.cli.screen import note, out, write_json
from headway.cli.session import client
from headway.cli.telling import (
    advice_on_waiting,
    choice,
    headline,
    loss,
    passing,
    spent,
    standing_before,
    start_range,
    trade_of,
    verdict,
    waiting,
    way,
)
from headway.domain.errors import message


@command("why")
@click.argument("job", type=JOB)
@option("--sooner", is_flag=True)
@json_option
def why(job: str, sooner: bool, fields: tuple[str, ...] | None) -> None:
    """Why a job stands where it stands, and what would help."""
    if sooner:
        return _sooner(job, fields)
    with client() as api:
        view = api.job(job)
        if fields is not None:
            return write_json(view, fields)
        bills = api.bills(view["job"]["id"]) if view["job"]["failures"] or view["verdict"] else []
        trade = api.cadence(view["job"]["id"])["trade"] if view["job"]["state"] == "running" else []
        before = api.ahead(view["job"]["id"]) if view["waits"] and view["waits"]["ahead"] else []
    out(headline(view))
    lines = [*_reason(view), *(standing_before(one) for one in before[:5]), *_losses(bills[-3:]), *trade_of(trade)]
    for line in lines:
        out(f"  {line}")
    hint = _hint(view)
    if hint:
        note(f"{say('error.hint')}{hint}")


def _losses(bills: list[dict[str, Any]]) -> list[str]:
    """What the last failures cost, where the seconds went, how the job went on, and whether it passed the fault."""
    return [
        line for bill in bills for line in (loss(bill), spent(bill), way(bill), choice(bill), passing(bill)) if line
    ]


def _sooner(job: str, fields: tuple[str, ...] | None) -> None:
    """Changes that the scheduler tried, and when the job would start with each."""
    with client() as api:
        variants = api.sooner(job)
    if fields is not None:
        return write_json(variants, fields)
    for variant in variants:
        change = word("change", variant["change"])
        value = f" ({variant['value']})" if variant["value"] else ""
        out(f"{change}{value}: {start_range({'forecast': variant['forecast']})}")
        if variant["then"]:
            out(f"  {say('why.then', start=start_range({'forecast': variant['then']}))}")
    if not variants:
        note(say("why.no-sooner"))


def _reason(view: dict[str, Any]) -> list[str]:
    job = view["job"]
    is_done = job["state"] == "succeeded"
    if view["waits"]:
        return waiting(view["waits"])
    if view["held"]:
        since = say(
            "why.held",
            at=quantities.moment(view["held"]["at"]),
            move=message(f"verdict-move-{view['held']['owner']}", {}, language()),
        )
        return [f"{since} {view['held']['sentence']}", *verdict(view["verdict"], view["verdict_text"])]
    if view["verdict"] and job["state"] != "starting":
        lines = verdict(view["verdict"], view["verdict_text"])
        if job["state"] == "running":
            return [say("why.running-again", attempt=job["attempts"]), *lines]
        return [say("why.succeeded", at=quantities.moment(job["ended_at"])), *lines] if is_done else lines
    if job["state"] == "running":
        return [say("why.running", pace=quantities.pace(view["rate"]), at=quantities.moment(view["last_progress_at"]))]
    if is_done:
        return [say("why.succeeded", at=quantities.moment(job["ended_at"]))]
    attempt = view["attempt"]
    if job["state"] == "starting" and attempt and attempt.get("waiting"):
        return [say("why.engine-waits", engine=attempt["engine"], attempt=attempt["id"], reason=attempt["waiting"])]
    return [told(job["reason"]) or say("why.nothing")]


def _hint(view: dict[str, Any]) -> str:
    if view["waits"]:
        return advice_on_waiting(view["waits"])
    return "" if view["job"]["state"] in ("running", "succeeded") else view["next_step"] or ""
