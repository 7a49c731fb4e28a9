"""What happened to a job: `attempts`, `checkpoints`, `facts`."""

import json
from typing import Any

import click

from headway.cli import quantities
from headway.cli.arguments import JOB, PROJECT
from headway.cli.command import command, json_option, option
from headway.cli.commands.show import placement
from headway.cli.language import language, say, why, word
from headway.cli.screen import out, state, table, write_json, write_json_line
from headway.cli.session import client
from headway.domain.words import in_words

Fields = tuple[str, ...] | None
SHOWN_VALUE = 80


@command("attempts")
@click.argument("job", type=JOB)
@json_option
def attempts(job: str, fields: Fields) -> None:
    """Every try at running a job."""
    with client() as api:
        rows = api.attempts(job)
    if fields is not None:
        return write_json(rows, fields)
    names = ("attempt", "state", "nodes", "resumed-from", "step", "exits", "verdict")
    titles = [say(f"column.{name}") for name in names] + [say("column.placed", zone=quantities.zone())]
    table(titles, [_attempt(row) for row in rows], right=[titles[3], titles[4]])


def _attempt(row: dict[str, Any]) -> tuple[str, ...]:
    attempt = row["attempt"]
    exits = " ".join(f"{each['rank']}:{_exit(each)}" for each in row["exits"])
    found = row["verdict"]
    return (
        attempt["id"],
        state(attempt["outcome"] or attempt["state"]),
        placement(attempt, row["cards"]),
        quantities.whole(attempt["resume_step"]) if attempt["resume_from"] else quantities.UNKNOWN,
        quantities.whole(attempt["step"]),
        exits or quantities.UNKNOWN,
        word("fault", found["fault"]) if found else quantities.UNKNOWN,
        quantities.clock(attempt["placed_at"]),
    )


def _exit(exit_: dict[str, Any]) -> str:
    return str(exit_["signal_name"] or exit_["signal"] or (exit_["code"] if exit_["code"] is not None else "?"))


@command("checkpoints")
@click.argument("job", type=JOB)
@json_option
def checkpoints(job: str, fields: Fields) -> None:
    """What a job saved, newest first."""
    with client() as api:
        rows = api.checkpoints(job)
    if fields is not None:
        return write_json(rows, fields)
    titles = [
        say(f"column.{name}") for name in ("step", "state", "size", "took", "restore-takes", "storage", "attempt")
    ]
    titles += [say("column.saved", zone=quantities.zone()), say("column.path")]
    shown = [
        (
            quantities.whole(row["step"]),
            state(row["state"]) + _remark(row),
            quantities.size(row["bytes"]),
            quantities.duration(row["seconds"]),
            quantities.duration(row["restored"]),
            _lies_on(row),
            row["attempt"],
            quantities.clock(row["saved_at"]),
            row["path"],
        )
        for row in rows
    ]
    table(titles, shown, right=[titles[0], *titles[2:5]])


def _lies_on(row: dict[str, Any]) -> str:
    """What it was saved on, and the store it was copied to with how long that took in all and took to come back."""
    saved = row["storage"] or quantities.UNKNOWN
    if row["copy"] is None:
        return saved
    times = [quantities.duration(each) for each in (row["copy_seconds"], row["copy_restored"]) if each is not None]
    return f"{saved} → {row['copy_storage']} ({', '.join(times)})"


def _remark(row: dict[str, Any]) -> str:
    notes = [
        why(row["reason"]),
        row["pinned_by"] and say("checkpoint.by", by=row["pinned_by"]),
    ]
    told = ", ".join(each for each in notes if each)
    return f" ({told})" if told else ""


@command("facts")
@click.argument("job", type=JOB, required=False)
@option("--project", type=PROJECT)
@option("--follow", "-f", is_flag=True)
@json_option
def facts(job: str | None, project: str | None, follow: bool, fields: Fields) -> None:
    """The timeline: every fact, in the order it was recorded."""
    with client() as api:
        rows = api.follow_facts(job=job, project=project) if follow else api.all_facts(job=job, project=project)
        if fields is not None and not follow:
            return write_json(list(rows), fields)
        for row in rows:
            if fields is not None:
                write_json_line(row, fields)
            else:
                out(f"{quantities.moment(row['at'])}  {row['kind']:<20}  {row['by']:<12}  {_values(row['data'])}")


def _values(data: dict[str, Any]) -> str:
    told = in_words(data, language())
    return " ".join(f"{name}={_value(value)}" for name, value in told.items() if value is not None)


def _value(value: Any) -> str:
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return shown if len(shown) <= SHOWN_VALUE else shown[: SHOWN_VALUE - 1] + "…"
