"""`submit`: a job from a file, from options, or both; options win."""

import sys
import tomllib
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headway.cli.arguments import DURATION, INTERVAL, JOB, MOMENT, NODE, PROJECT, SETTING, TEMPLATE
from headway.cli.command import command, json_option, option
from headway.cli.follow import detached, follow
from headway.cli.language import say
from headway.cli.outlook import show_outlook
from headway.cli.screen import note, out, write_json
from headway.cli.session import client
from headway.cli.source import commit_of

if TYPE_CHECKING:
    from headway.sdk.client import Client

RESOURCES = ("nodes", "devices_per_node", "ranks_per_node")
PRIORITIES = ("urgent", "high", "normal", "low", "idle")
LISTS = ("after", "after_ok", "engines", "excluded")
PLAIN = ("protected", "not_before", "count", "cap")
ARRAYS = ("count", "sweep")
FOLDERS = ("source", "workdir")
INTERVALS = ("every_steps", "every_minutes", "advised")


@command("submit")
@click.argument("file", required=False)
@option("-f", "--file", "other_file", says="file")
@option("--template", type=TEMPLATE, says="submit-template")
@option("--name", says="submit-name")
@option("--project", type=PROJECT, says="submit-project")
@option("--set", "settings", type=SETTING, multiple=True)
@option("--env", type=SETTING, multiple=True)
@option("--nodes", type=int)
@option("--priority", type=click.Choice(PRIORITIES))
@option("--limit", "limit_s", type=DURATION)
@option("--source", type=click.Path())
@option("--workdir", type=click.Path())
@option("--commit")
@option("--after", type=JOB, multiple=True, says="after")
@option("--after-ok", type=JOB, multiple=True, says="after-ok")
@option("--protected", is_flag=True, default=None, says="protected")
@option("--engine", "engines", multiple=True, says="engine")
@option("--exclude", "excluded", type=NODE, multiple=True, says="exclude")
@option("--not-before", type=MOMENT, says="not-before")
@option("--count", type=int, says="count")
@option("--sweep", type=SETTING, multiple=True, says="sweep")
@option("--cap", type=int, says="cap")
@option("--checkpoint-every", type=INTERVAL)
@option("--dry-run", is_flag=True)
@option("--watch", "-w", is_flag=True)
@option("--timeout", type=DURATION)
@json_option
def submit(
    file: str | None,
    other_file: str | None,
    dry_run: bool,
    watch: bool,
    timeout: float | None,
    fields: tuple[str, ...] | None,
    **given: Any,
) -> int | None:
    """Queue a job, or with --dry-run say what would follow."""
    body = compose(read_file(other_file or file), given)
    with client() as api:
        many = any(key in body for key in ARRAYS)
        if dry_run:
            show_outlook(api.dry_run_array(body) if many else api.dry_run(body), fields)
            return None
        if many:
            _submit_many(api, body, fields)
            return None
        job = api.submit(body)
        if fields is None:
            out(job["id"])
        else:
            write_json(job, fields)
        note(say("submit.done", name=job["spec"]["name"], job=job["id"]))
        if not watch:
            note(say("submit.next", job=job["id"]))
            return None
        try:
            return follow(api, job["id"], timeout)
        except KeyboardInterrupt:
            return detached(job["id"])


def _submit_many(api: "Client", body: dict[str, Any], fields: tuple[str, ...] | None) -> None:
    """An array: every id on a line of its own."""
    made = api.submit_array(body, key=uuid.uuid4().hex)
    if fields is not None:
        return write_json(made, fields)
    for job in made:
        out(job["id"])
    note(say("submit.array", count=len(made), array=made[0]["spec"]["conditions"]["array"]))


def read_file(name: str | None) -> dict[str, Any]:
    """The table in a file (`-`: standard input); folders in it are seen from the file's own folder."""
    if name is None:
        return {}
    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
        body = tomllib.loads(text)
    except (OSError, ValueError) as problem:
        raise click.UsageError(say("error.file", path=name, detail=problem)) from None
    here = Path.cwd() if name == "-" else Path(name).absolute().parent
    return body | {key: str(here / body[key]) for key in FOLDERS if isinstance(body.get(key), str)}


def compose(body: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The request body: the file's table with the options on top, and the commit of the source where there is one."""
    whole = dict(body)
    for key in ("template", "name", "project", "priority", "limit_s", "commit"):
        if given[key] is not None:
            whole[key] = given[key]
    whole |= {key: list(given[key]) for key in LISTS if given[key]}
    whole |= {key: given[key] for key in PLAIN if given[key] is not None}
    if given["sweep"]:
        whole["sweep"] = {key: values.split(",") for key, values in given["sweep"]}
    for key in FOLDERS:
        if given[key] is not None:
            whole[key] = str(Path(given[key]).absolute())
    whole["parameters"] = dict(whole.get("parameters", {}))
    whole["resources"] = dict(whole.get("resources", {}))
    whole["env"] = dict(whole.get("env", {})) | dict(given["env"])
    for key, value in given["settings"]:
        _set(whole, key, value)
    if given["checkpoint_every"] is not None:
        rest = {key: value for key, value in whole.get("checkpoint", {}).items() if key not in INTERVALS}
        whole["checkpoint"] = rest | given["checkpoint_every"]
    if given["nodes"] is not None:
        whole["resources"]["nodes"] = given["nodes"]
    if "commit" not in whole and isinstance(whole.get("source"), str):
        commit = commit_of(Path(whole["source"]))
        whole |= {"commit": commit} if commit else {}
    return whole


def _set(whole: dict[str, Any], key: str, value: str) -> None:
    """`nodes` and its like are resources, everything else is a parameter; numbers of resources are numbers."""
    if key in RESOURCES:
        whole["resources"][key] = int(value) if value.lstrip("-").isdecimal() else value
    elif key == "device_types":
        whole["resources"][key] = value.split(",")
    else:
        whole["parameters"][key] = value
