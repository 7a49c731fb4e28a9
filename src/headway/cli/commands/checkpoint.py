"""Keep a checkpoint whatever its job's policy says: `checkpoint pin`, `checkpoint unpin`."""

import click

from headway.cli.arguments import JOB
from headway.cli.command import command, json_option, noun
from headway.cli.language import say
from headway.cli.screen import note, write_json
from headway.cli.session import client

checkpoint = noun("checkpoint")


@command("pin", checkpoint)
@click.argument("job", type=JOB)
@click.argument("step", type=click.IntRange(0))
@json_option
def pin(job: str, step: int, fields: tuple[str, ...] | None) -> None:
    """Keep what was saved at a step."""
    with client() as api:
        rows = api.pin(job, step)
    if fields is not None:
        return write_json(rows, fields)
    for row in rows:
        note(say("checkpoint.pinned", path=row["path"], by=row["pinned_by"]))


@command("unpin", checkpoint)
@click.argument("job", type=JOB)
@click.argument("step", type=click.IntRange(0))
@json_option
def unpin(job: str, step: int, fields: tuple[str, ...] | None) -> None:
    """Leave what was saved at a step to the policy again."""
    with client() as api:
        rows = api.unpin(job, step)
    if fields is not None:
        return write_json(rows, fields)
    for row in rows:
        note(say("checkpoint.unpinned", path=row["path"]))
