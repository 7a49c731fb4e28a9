"""Projects, departments and what each project is promised."""

from collections import Counter
from typing import Any

import click

from headway.cli import quantities
from headway.cli.arguments import PROJECT
from headway.cli.command import command, json_option, noun, option
from headway.cli.language import say
from headway.cli.screen import note, out, table, write_json
from headway.cli.session import client

HOLDING = ("starting", "running", "stopping")

project = noun("project")
department = noun("department")
quota = noun("quota", invoke_without_command=True)


@quota.result_callback()
@click.pass_context
def _listed(context: click.Context, result: Any) -> Any:
    return context.invoke(list_quotas, project=None, fields=None) if context.invoked_subcommand is None else result


@command("ls", quota)
@option("--project", type=PROJECT)
@json_option
def list_quotas(project: str | None, fields: tuple[str, ...] | None) -> None:
    """The quota table, with what is in use beside it."""
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
    """How many devices of a type a project may hold at once."""
    with client() as api:
        made = api.set_quota(project, device_type, devices)
    if fields is not None:
        return write_json(made, fields)
    note(say("done.quota", project=project, device_type=device_type, devices=devices))


@command("ls", project)
@json_option
def list_projects(fields: tuple[str, ...] | None) -> None:
    """Every project."""
    with client() as api:
        rows = api.projects()
    if fields is not None:
        return write_json(rows, fields)
    titles = [say(f"column.{name}") for name in ("name", "department")]
    titles.append(say("column.created", zone=quantities.zone()))
    table(titles, [(row["name"], row["department"], quantities.clock(row["created_at"])) for row in rows])


@command("create", project)
@click.argument("name")
@option("--department", required=True)
@json_option
def create_project(name: str, department: str, fields: tuple[str, ...] | None) -> None:
    """A new project of a department."""
    with client() as api:
        made = api.create_project(name, department)
    if fields is not None:
        return write_json(made, fields)
    out(made["name"])
    note(say("done.project", project=name))


@command("ls", department)
@json_option
def list_departments(fields: tuple[str, ...] | None) -> None:
    """Every department."""
    with client() as api:
        rows = api.departments()
    if fields is not None:
        return write_json(rows, fields)
    titles = [say("column.name"), say("column.created", zone=quantities.zone())]
    table(titles, [(row["name"], quantities.clock(row["created_at"])) for row in rows])


@command("create", department)
@click.argument("name")
@json_option
def create_department(name: str, fields: tuple[str, ...] | None) -> None:
    """A new department."""
    with client() as api:
        made = api.create_department(name)
    if fields is not None:
        return write_json(made, fields)
    out(made["name"])
    note(say("done.department", department=name))
