"""Projects and departments."""

import click

from headway.cli import quantities
from headway.cli.arguments import PROJECT
from headway.cli.command import command, json_option, noun, option
from headway.cli.language import say
from headway.cli.screen import note, out, table, write_json
from headway.cli.session import client, confirm

project = noun("project")
department = noun("department")


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


@command("close", project)
@click.argument("name", type=PROJECT)
@option("--yes", "-y", is_flag=True)
@option("--no-input", is_flag=True)
@json_option
def close_project(name: str, fields: tuple[str, ...] | None, **asks: bool) -> None:
    """Free a project's quota at once, and stop its jobs."""
    confirm(say("project.sure", project=name), **asks)
    with client() as api:
        closed = api.close_project(name)
    if fields is not None:
        return write_json(closed, fields)
    note(say("project.closed", project=name))


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
