"""What administrators do: users, their roles, their tokens."""

import sys

import click

from headway.cli.arguments import PROJECT
from headway.cli.command import command, json_option, noun, option
from headway.cli.language import say
from headway.cli.screen import note, out, write_json
from headway.cli.session import client

ROLES = ("viewer", "member", "lead", "operator", "admin")

user = noun("user")
role = noun("role")
token = noun("token")


@command("create", user)
@click.argument("name")
@option("--password-stdin", is_flag=True)
@option("--unix-name")
@json_option
def create(name: str, password_stdin: bool, unix_name: str | None, fields: tuple[str, ...] | None) -> None:
    """Create a user; without a password only tokens open the door."""
    password = sys.stdin.readline().rstrip("\n") if password_stdin else None
    with client() as api:
        made = api.create_user(name, password, unix_name)
    if fields is not None:
        return write_json(made, fields)
    out(made["user"])
    note(say("done.user", user=name))


@command("grant", role)
@click.argument("user")
@click.argument("role", type=click.Choice(ROLES))
@option("--project", type=PROJECT, says="role-project")
@json_option
def grant(user: str, role: str, project: str | None, fields: tuple[str, ...] | None) -> None:
    """Give a user a role in a project, or everywhere."""
    with client() as api:
        made = api.grant_role(user, role, project)
    if fields is not None:
        return write_json(made, fields)
    note(say("done.role", user=user, role=role, project=project or "*"))


@command("issue", token)
@click.argument("user")
@option("--days", type=click.IntRange(1, 3650), default=90, show_default=True)
@json_option
def issue(user: str, days: int, fields: tuple[str, ...] | None) -> None:
    """A token, told once."""
    with client() as api:
        made = api.issue_token(user, days)
    if fields is not None:
        return write_json(made, fields)
    out(made["token"])
    note(say("done.token", user=user, days=days))
