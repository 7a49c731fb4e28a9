"""`bundle`: the evidence of one attempt in one file."""

import os
from pathlib import Path

import click

from headway.cli.arguments import JOB
from headway.cli.command import command, option
from headway.cli.language import say
from headway.cli.screen import note
from headway.cli.session import client


@command("bundle")
@click.argument("job", type=JOB)
@option("--attempt", type=click.IntRange(1))
@option("--out", type=click.Path(dir_okay=False, path_type=Path))
def bundle(job: str, attempt: int | None, out: Path | None) -> None:
    """Save an attempt's logs, readings, stacks and verdict, without secrets."""
    with client() as api:
        name, content = api.bundle(job, attempt)
    path = out or Path(Path(name).name)
    draft = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        draft.write_bytes(content)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    note(say("bundle.saved", path=path, bytes=len(content)))
