"""`drill`: break a running job, or a copy of it, on purpose; and how the drills that were held came out."""

from typing import Any

import click

from headway.cli import quantities
from headway.cli.arguments import JOB, PROJECT
from headway.cli.command import command, json_option, noun_with, option
from headway.cli.language import say, word
from headway.cli.screen import note, out, table, write_json
from headway.cli.session import client, confirm

KILLS = ("rank", "agent", "node", "mount", "stop")
MOST_SAVES = 10
drill = noun_with("drill", "order")


@command("order", drill)
@click.argument("job", type=JOB)
@option("--kill", type=click.Choice(KILLS), default="rank", says="drill-kill")
@option("--rank", type=int, says="drill-rank")
@option("--at", "at_step", type=click.IntRange(1), says="drill-at")
@option("--shadow", is_flag=True, says="drill-shadow")
@option("--yes", "-y", is_flag=True)
@option("--no-input", is_flag=True)
@json_option
def order(
    job: str,
    kill: str,
    rank: int | None,
    at_step: int | None,
    shadow: bool,
    fields: tuple[str, ...] | None,
    **asks: bool,
) -> None:
    """Break a job without warning, and measure how it comes back."""
    if not shadow:
        confirm(say("drill.sure", job=job, kill=word("kill", kill)), **asks)
    with client() as api:
        ordered = api.drill(job, rank, kill=kill, at_step=at_step, shadow=shadow or None)
        saved = api.checkpoints(job) if kill == "mount" and fields is None else []
    if fields is not None:
        return write_json(ordered, fields)
    out(ordered["drill"])
    if ordered["shadow_of"]:
        note(say("drill.shadow", of=ordered["shadow_of"], job=ordered["job"]))
    else:
        note(say("drill.done", kill=word("kill", kill), rank=ordered["rank"], job=ordered["job"]))
    if kill == "mount":
        note(say("drill.waits-save", rank=ordered["rank"]) + _between(saved))


def _between(saved: list[dict[str, Any]]) -> str:
    """How far apart the newest saves were, by which a person knows how long such a drill waits."""
    times = sorted({quantities.parse(each["saved_at"]) for each in saved if each["format"] is None})[-MOST_SAVES:]
    if len(times) < 2:
        return ""
    every = (times[-1] - times[0]).total_seconds() / (len(times) - 1)
    return say("drill.saves", every=quantities.duration(every), last=quantities.clock(times[-1].isoformat()))


@command("ls", drill)
@option("--project", type=PROJECT)
@option("--limit", type=click.IntRange(1), default=50, says="rows")
@json_option
def list_drills(project: str | None, limit: int, fields: tuple[str, ...] | None) -> None:
    """Drills, newest first."""
    with client() as api:
        rows = api.drills(project, limit)
        late = [] if fields is not None else api.overdue_drills()
    if fields is not None:
        return write_json(rows, fields)
    names = ("id", "job", "kill", "rank", "state", "detect", "resumed-step", "lost-steps", "outage", "verdict-right")
    titles = [say(f"column.{name}") for name in names] + [say("column.at", zone=quantities.zone())]
    table(titles, [_row(row) for row in rows], right=[titles[3], *titles[5:9]])
    if not rows:
        note(say("drill.none"))
    for each in late:
        note(say("drill.overdue", project=each["project"], template=each["template"], days=each["days"]))


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    drill, score = row["drill"], row["score"] or {}
    right = score.get("verdict_right")
    of = drill["shadow_of"]
    return (
        drill["id"],
        say("drill.copy", job=drill["job"], of=of) if of else drill["job"],
        word("kill", drill["kill"]),
        quantities.whole(drill["rank"]),
        word("drilled", row["state"]),
        quantities.duration(score.get("phases", {}).get("detect")),
        quantities.whole(score.get("resumed_step")),
        quantities.whole(score.get("lost_steps")),
        quantities.duration(score.get("seconds")),
        quantities.UNKNOWN if right is None else word("right", str(right).lower()),
        quantities.clock(drill["at"]),
    )
