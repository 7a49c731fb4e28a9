"""`resume`: go on with a job that has ended, here, in another pool or with other nodes; or say what that carries."""

from typing import Any

import click

from headway.cli import quantities
from headway.cli.arguments import JOB
from headway.cli.command import command, json_option, option
from headway.cli.language import say, word
from headway.cli.screen import note, out, table, write_json
from headway.cli.session import client
from headway.cli.telling import start_range


@command("resume")
@click.argument("job", type=JOB)
@option("--pool", says="resume-pool")
@option("--nodes", type=int)
@option("--devices-per-node", type=int, says="resume-devices")
@option("--from", "checkpoint", says="resume-from")
@option("--name", says="resume-name")
@option("--dry-run", is_flag=True, says="resume-dry-run")
@json_option
def resume(job: str, dry_run: bool, fields: tuple[str, ...] | None, **wish: Any) -> None:
    """Go on with a job that has ended."""
    asked = {name: value for name, value in wish.items() if value is not None}
    with client() as api:
        if dry_run:
            return _tell(api.try_resume(job, asked), fields)
        made = api.resume(job, asked)
    if fields is not None:
        return write_json(made, fields)
    out(made["id"])
    note(say("resume.done", job=made["id"], origin=made["spec"]["origin"]["job"], step=made["spec"]["origin"]["step"]))


def _tell(move: dict[str, Any], fields: tuple[str, ...] | None) -> None:
    if fields is not None:
        return write_json(move, fields)
    is_sure = all(row["carried"] == "yes" for row in move["carries"] if row["what"] == "checkpoint")
    where = {"step": quantities.whole(move["step"]), "path": move["path"]}
    out(say("resume.from", **where) if is_sure else say("resume.from-unsure", **where))
    titles = [say("column.what"), say("column.carried"), ""]
    table(
        titles,
        [(word("carry", row["what"]), word("carried", row["carried"]), row["sentence"]) for row in move["carries"]],
    )
    out(start_range(move))
    note(say("submit.dry"))
