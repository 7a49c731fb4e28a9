"""The quota table: shown to everybody, proposed as a file, approved by another role, with its history."""

from collections import Counter
from pathlib import Path
from typing import Any

import click

from headway.cli import quantities
from headway.cli.arguments import MOMENT, PROJECT
from headway.cli.command import command, json_option, noun, option
from headway.cli.language import say, word
from headway.cli.screen import note, out, state, table, write_json
from headway.cli.session import client, confirm

HOLDING = ("starting", "running", "stopping")
COLUMNS = ("branch", "device-type", "guaranteed", "granted", "held", "borrowed", "idle", "lent")
MORE = ("may-borrow", "lends", "weight", "per-person", "budget", "spent")
DROPPED = {"rejected": "denied", "withdrawn": "withdrawn"}
SUFFIXES = {".yaml": "yaml", ".yml": "yaml", ".json": "yaml"}

quota = noun("quota", invoke_without_command=True)


@quota.result_callback()
@click.pass_context
def _listed(context: click.Context, result: Any) -> Any:
    return context.invoke(list_quotas, project=None, fields=None) if context.invoked_subcommand is None else result


@command("ls", quota)
@option("--project", type=PROJECT)
@json_option
def list_quotas(project: str | None, fields: tuple[str, ...] | None) -> None:
    """What each project is guaranteed, with what is in use beside it."""
    with client() as api:
        rows = api.quotas(project)
        if fields is not None:
            return write_json(rows, fields)
        held = Counter[tuple[str, str]]()
        for view in api.jobs(project, HOLDING):
            if view["attempt"] is not None:
                held[view["job"]["spec"]["project"], view["attempt"]["device_type"]] += view["devices"]
    titles = [say(f"column.{name}") for name in ("project", "device-type", "quota", "held")]
    keys = [(row["project"], row["device_type"]) for row in rows]
    shown = [
        (*key, quantities.whole(row["devices"]), quantities.whole(held[key]))
        for key, row in zip(keys, rows, strict=True)
    ]
    table(titles, shown, right=titles[2:])


@command("set", quota)
@click.argument("project", type=PROJECT)
@click.argument("device_type")
@click.argument("devices", type=int)
@json_option
def set_quota(project: str, device_type: str, devices: int, fields: tuple[str, ...] | None) -> None:
    """How many devices of a type a project is guaranteed, at once."""
    with client() as api:
        made = api.set_quota(project, device_type, devices)
    if fields is not None:
        return write_json(made, fields)
    for warning in made["warnings"]:
        note(f"! {warning}")
    note(say("done.quota", project=project, device_type=device_type, devices=devices))


@command("show", quota)
@option("--toml", is_flag=True)
@json_option
def show(toml: bool, fields: tuple[str, ...] | None) -> None:
    """The whole table in force, and who holds what on borrowed quota since when."""
    with client() as api:
        found = api.quota()
    if fields is not None:
        return write_json(found, fields)
    if toml:
        return out(found["content"].rstrip("\n"))
    note(say("quota.version", version=found["version"], since=quantities.moment(found["in_force_from"])))
    titles = [say(f"column.{name}") for name in (*COLUMNS, *MORE)]
    table(titles, [_entry(entry) for entry in found["entries"]], right=titles[2:])
    for held in found["lent"]:
        since = quantities.moment(held["since"])
        out(say("quota.lent", **{**held, "since": since}))
    for name in ("coming", "proposed"):
        if found[name]:
            numbers = ", ".join(map(str, found[name]))
            note(say("quota.coming", versions=numbers) if name == "coming" else say("quota.open", versions=numbers))


def _entry(entry: dict[str, Any]) -> tuple[str, ...]:
    budget = entry["budget"]
    bounds = f"{quantities.whole(budget['soft'])}/{quantities.whole(budget['hard'])}" if any(budget.values()) else ""
    return (
        entry["branch"] if entry["is_project"] else f"{entry['branch']}/",
        entry["device_type"],
        *(quantities.whole(entry[name]) for name in ("guaranteed", "granted", "used", "borrowed", "idle", "lent")),
        _any(entry["borrow_ceiling"]),
        _any(entry["lend_ceiling"]),
        f"{entry['weight']:g}",
        _any(entry["per_person"]),
        bounds or quantities.UNKNOWN,
        quantities.whole(entry["spent"]),
    )


def _any(number: int | None) -> str:
    return say("quota.any") if number is None else quantities.whole(number)


@command("propose", quota)
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@option("--reason", required=True)
@json_option
def propose(file: str, reason: str, fields: tuple[str, ...] | None) -> None:
    """Propose the table in a TOML or YAML file; its number goes to stdout."""
    content = _text(Path(file))
    with client() as api:
        made = api.propose_quota(content, reason, SUFFIXES.get(Path(file).suffix.lower(), "toml"))
    if fields is not None:
        return write_json(made, fields)
    out(str(made["number"]))
    for line in made["diff"]:
        note(f"  {line}")
    for warning in made["warnings"]:
        note(f"! {warning}")
    note(say("quota.proposed", version=made["number"]))


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as problem:
        raise click.UsageError(say("error.file", path=file, detail=problem)) from None


@command("approve", quota)
@click.argument("version", type=int)
@option("--from", "since", type=MOMENT, says="in-force-from")
@option("--yes", "-y", is_flag=True)
@option("--no-input", is_flag=True)
@json_option
def approve(version: int, since: str | None, fields: tuple[str, ...] | None, **asks: bool) -> None:
    """Approve a table somebody else proposed, after its difference was shown."""
    with client() as api:
        for line in api.quota_difference(version):
            note(f"  {line}")
        confirm(say("quota.sure", version=version), **asks)
        made = api.approve_quota(version, since)
    if fields is not None:
        return write_json(made, fields)
    note(say("quota.approved", version=version, since=quantities.moment(made["in_force_from"])))


@command("reject", quota)
@click.argument("version", type=int)
@option("--reason", required=True)
@json_option
def reject(version: int, reason: str, fields: tuple[str, ...] | None) -> None:
    """Turn a table down that somebody else proposed."""
    with client() as api:
        made = api.reject_quota(version, reason)
    if fields is not None:
        return write_json(made, fields)
    note(say("quota.rejected", version=version, author=made["author"]))


@command("withdraw", quota)
@click.argument("version", type=int)
@option("--reason", default="")
@json_option
def withdraw(version: int, reason: str, fields: tuple[str, ...] | None) -> None:
    """Take one's own proposed table back."""
    with client() as api:
        made = api.withdraw_quota(version, reason)
    if fields is not None:
        return write_json(made, fields)
    note(say("quota.withdrawn", version=version))


@command("rules", quota)
@json_option
def rules(fields: tuple[str, ...] | None) -> None:
    """The rules the queue goes by, with this site's numbers."""
    with client() as api:
        found = api.queue_rules()
    if fields is not None:
        return write_json(found, fields)
    titles = [say("column.priority"), say("column.roles")]
    table(titles, [(one["name"], ", ".join(word("word", role) for role in one["roles"])) for one in found["classes"]])
    for rule in found["rules"]:
        out(f"· {rule['sentence']}")


@command("history", quota)
@json_option
def history(fields: tuple[str, ...] | None) -> None:
    """Every table that was proposed: by whom, why, approved by whom, in force from when."""
    with client() as api:
        rows = api.quota_versions()
    if fields is not None:
        return write_json(rows, fields)
    names = ("version", "state", "author", "decided-by", "in-force-from", "changes", "why")
    zone = quantities.zone()
    titles = [say(f"column.{name}", zone=zone) for name in names]
    table(titles, [_version(row) for row in rows], right=[titles[0], titles[5]])


def _version(row: dict[str, Any]) -> tuple[str, ...]:
    return (
        str(row["number"]),
        state(DROPPED.get(row["dropped_as"], "approved" if row["approved_at"] else "proposed")),
        row["author"],
        row["dropped_by"] or row["approved_by"] or quantities.UNKNOWN,
        quantities.clock(row["in_force_from"]),
        quantities.whole(len(row["diff"])),
        f"{row['reason']} — {row['dropped_why']}" if row["dropped_why"] else row["reason"],
    )


@command("diff", quota)
@click.argument("version", type=int)
@click.argument("against", type=int, required=False)
@json_option
def diff(version: int, against: int | None, fields: tuple[str, ...] | None) -> None:
    """What a table changes, against the one it was based on or another."""
    with client() as api:
        lines = api.quota_difference(version, against)
    if fields is not None:
        return write_json(lines, ())
    for line in lines:
        out(line)
