"""`beside`: neighbours, kernel words, links and mounts of an attempt's nodes in its time."""

import click

from headway.cli import quantities
from headway.cli.arguments import JOB
from headway.cli.command import command, json_option, option
from headway.cli.language import say
from headway.cli.screen import note, out, table, write_json
from headway.cli.session import client

SHOWN_LINES = 20


@command("beside")
@click.argument("job", type=JOB)
@option("--attempt", type=click.IntRange(1))
@json_option
def beside(job: str, attempt: int | None, fields: tuple[str, ...] | None) -> None:
    """What stood beside an attempt."""
    with client() as api:
        found = api.beside(job, attempt)
    if fields is not None:
        return write_json(found, fields)
    note(say("beside.window", since=quantities.moment(found["since"]), until=quantities.moment(found["until"])))
    for one in found["neighbours"]:
        devices = ",".join(map(str, one["devices"]))
        ended = quantities.clock(one["ended"]) if one["ended"] else say("beside.still")
        began = quantities.clock(one["began"])
        who = one["job"] or say("beside.somebody")
        where = say("beside.mount", mount=one["mount"]) if one["mount"] else ""
        out(say("beside.neighbour", node=one["node"], devices=devices, job=who, began=began, ended=ended) + where)
    for word in found["words"]:
        out(f"{quantities.clock(word['at'])}  {word['node']}  {word['text']}")
    for word in found["engine"]:
        out(say("beside.engine", node=word["node"]))
        for line in word["text"].splitlines()[-SHOWN_LINES:]:
            out(f"  {line}")
    names = ("node", "metric", "minimum", "mean", "maximum")
    titles = [say(f"column.{name}") for name in names]
    rows = [(m["node"], m["name"], *(f"{m[key]:.4g}" for key in names[2:])) for m in found["measures"]]
    table(titles, rows, right=titles[2:])
