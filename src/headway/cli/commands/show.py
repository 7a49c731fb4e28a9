"""`show`: everything known of one job."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import click

from headway.cli import quantities
from headway.cli.arguments import JOB
from headway.cli.command import command, json_option
from headway.cli.language import say, why, word
from headway.cli.screen import out, pairs, write_json
from headway.cli.session import client
from headway.cli.telling import headline, verdict, waiting


@command("show")
@click.argument("job", type=JOB)
@json_option
def show(job: str, fields: tuple[str, ...] | None) -> None:
    """One job."""
    with client() as api:
        view = api.job(job)
        trade = api.cadence(view["job"]["id"])["trade"] if fields is None and _saves_in_time(view) else []
    if fields is not None:
        return write_json(view, fields)
    out(headline(view))
    pairs(_about(view) + _movement(view) + _saving(trade))
    if view["waits"]:
        _section(say("show.waits"), waiting(view["waits"]))
    if view["verdict"]:
        _section(say("show.verdict"), verdict(view["verdict"], view["verdict_text"]))


def _about(view: dict[str, Any]) -> list[tuple[str, str]]:
    job, spec = view["job"], view["job"]["spec"]
    request = spec["request"]
    shape = say("show.shape", nodes=request["nodes"], devices=request["devices_per_node"], all=view["devices"])
    limit = quantities.iso_duration(spec["limit"]) if spec["limit"] else ""
    return [
        (say("column.project"), spec["project"]),
        (say("column.owner"), job["owner"]),
        (say("column.template"), spec["template"]),
        (say("column.parameters"), " ".join(f"{key}={value}" for key, value in spec["parameters"].items())),
        (say("column.resources"), shape),
        (say("column.priority"), spec["priority"]),
        (say("column.limit"), limit),
        (say("column.dataset"), spec["dataset"] or ""),
        (say("column.commit"), spec["commit"] or ""),
        (say("column.submitted-at"), quantities.moment(job["submitted_at"])),
        (say("column.ended-at"), quantities.moment(job["ended_at"]) if job["ended_at"] else ""),
        (say("column.why"), why(job["reason"])),
    ]


def _movement(view: dict[str, Any]) -> list[tuple[str, str]]:
    attempt = view["attempt"]
    if attempt is None:
        return []
    rows = [
        (say("column.attempt"), f"{attempt['id']} ({placement(attempt)})"),
        (say("column.resumed-from"), quantities.whole(attempt["resume_step"]) if attempt["resume_from"] else ""),
    ]
    if view["job"]["state"] != "running":
        return rows
    return [
        *rows,
        (say("column.pace"), quantities.pace(view["rate"])),
        (say("column.loss"), quantities.decimal(view["loss"])),
        (say("column.left"), quantities.duration(view["left_s"])),
        (say("column.progress-at"), quantities.moment(view["last_progress_at"])),
        (say("column.phase"), word("phase", view["phase"]) if view["phase"] else ""),
        (say("column.reader"), _reader(view)),
    ]


def _saves_in_time(view: dict[str, Any]) -> bool:
    policy = view["job"]["spec"]["checkpoint"]
    return view["job"]["state"] == "running" and bool(policy.get("advised") or policy.get("every"))


def _saving(trade: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """The interval in use, and what it costs."""
    return [
        (
            say("column.save-every"),
            say(
                "show.saves",
                every=quantities.duration(choice["interval_s"]),
                share=f"{choice['save_share'] * 100:.2g}",
                lost=quantities.duration(choice["lost_per_fault_s"]),
            ),
        )
        for choice in trade
        if choice["in_use"]
    ]


def _reader(view: dict[str, Any]) -> str:
    """Who reads the progress; that nobody matched is said once something was read."""
    return view["reader"] or (say("show.no-reader") if view["phase"] else "")


def placement(attempt: dict[str, Any], cards: Mapping[str, list[int]] = MappingProxyType({})) -> str:
    """`n1:0,1 n2:0`. `cards`: by node, those that a batch system really gave, where it chose for itself."""
    parts = [(p["node"], cards.get(p["node"], p["devices"])) for p in attempt["placements"]]
    return " ".join(f"{node}:{','.join(map(str, devices))}" for node, devices in parts)


def _section(title: str, lines: list[str]) -> None:
    out(f"\n{title}")
    for line in lines:
        out(f"  {line}")
