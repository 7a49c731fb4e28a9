"""Users, their passwords, roles and tokens."""

import sys

import click

from headway.cli import quantities
from headway.cli.arguments import PROJECT
from headway.cli.command import command, json_option, noun, option
from headway.cli.language import say, word
from headway.cli.screen import note, out, table, write_json
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


@command("password", user)
@click.argument("name")
@option("--password-stdin", is_flag=True, says="passwords-stdin")
@json_option
def password(name: str, password_stdin: bool, fields: tuple[str, ...] | None) -> None:
    """Replace a password; who is no administrator shows the present one."""
    if password_stdin:
        new, current = (sys.stdin.readline().rstrip("\n") for _ in range(2))
    else:
        current = click.prompt(say("login.current-password"), default="", show_default=False, hide_input=True, err=True)
        new = click.prompt(say("login.new-password"), hide_input=True, confirmation_prompt=True, err=True)
    with client() as api:
        made = api.change_password(name, new, current or None)
    if fields is not None:
        return write_json(made, fields)
    note(say("done.password", user=name))


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
    note(say("done.role", user=user, role=word("word", role), project=project or "*"))


@command("withdraw", role)
@click.argument("user")
@click.argument("role", type=click.Choice(ROLES))
@option("--project", type=PROJECT, says="role-withdrawn")
@json_option
def withdraw(user: str, role: str, project: str | None, fields: tuple[str, ...] | None) -> None:
    """Take a role back: in a project, or the one that holds everywhere."""
    with client() as api:
        left = api.withdraw_role(user, role, project)
    if fields is not None:
        return write_json(left, fields)
    note(say("done.role-withdrawn", user=user, role=word("word", role), project=project or "*"))


@command("ls", token)
@click.argument("user")
@json_option
def list_tokens(user: str, fields: tuple[str, ...] | None) -> None:
    """A user's tokens; what opens the door is not shown again."""
    with client() as api:
        rows = api.tokens(user)
    if fields is not None:
        return write_json(rows, fields)
    titles = ["ID", say("column.created", zone=quantities.zone()), say("column.expires")]
    table(titles, [(r["id"], quantities.clock(r["created_at"]), quantities.moment(r["expires_at"])) for r in rows])


@command("revoke", token)
@click.argument("user")
@click.argument("token")
@json_option
def revoke(user: str, token: str, fields: tuple[str, ...] | None) -> None:
    """Let a token open nothing any more, by its id."""
    with client() as api:
        gone = api.revoke_token(user, token)
    if fields is not None:
        return write_json(gone, fields)
    note(say("done.token-revoked", user=user, token=token))


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
