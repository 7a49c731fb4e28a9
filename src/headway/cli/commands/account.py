"""`login` and `me`: whose token the command line carries."""

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from headway.cli import quantities
from headway.cli.command import command, json_option, option
from headway.cli.language import language, say, word
from headway.cli.screen import note, pairs, write_json
from headway.cli.session import client, has_environment_token

if TYPE_CHECKING:
    from headway.sdk.client import Access

USUAL = "http://127.0.0.1:8470"


@command("login")
@option("--url")
@option("--user")
@option("--password-stdin", is_flag=True)
@option("--token", says="token")
@option("--ca-file", type=click.Path(exists=True, dir_okay=False, resolve_path=True))
def login(url: str | None, user: str | None, password_stdin: bool, token: str | None, ca_file: str | None) -> None:
    """Get a token for a user, or check a given one, and keep it in a private file."""
    from headway.sdk.client import Access, Client, client_file, save_access

    chosen = url or os.environ.get("HEADWAY_URL") or _known().url
    trusted = ca_file or os.environ.get("HEADWAY_CA_FILE") or _known(chosen).ca_file
    if token == "-":
        token = sys.stdin.readline().strip()
    if token is None:
        name = user or click.prompt(say("login.user"), err=True)
        password = sys.stdin.readline().rstrip("\n") if password_stdin else _ask_password()
        with Client(chosen, None, language(), ca_file=trusted) as api:
            token = str(api.log_in(name, password)["token"])
    with Client(chosen, token, language(), ca_file=trusted) as api:
        me = api.me()
    save_access(Access(chosen, token, trusted and os.path.abspath(trusted)), client_file())
    note(say("login.done", user=me["user"], url=chosen, path=client_file()))
    if has_environment_token():
        note(say("login.environment"))


@command("me")
@json_option
def me(fields: tuple[str, ...] | None) -> None:
    """Who a token belongs to."""
    with client() as api:
        found = api.me()
        if fields is not None:
            return write_json(found, fields)
        roles = ", ".join(f"{word('word', role)} @ {project}" for role, project in found["roles"])
        pairs([(say("column.user"), found["user"]), (say("column.roles"), roles or "—"), ("URL", api.url)])
    for grant in found.get("grants_ending", ()):
        note(say("grant.ends-soon", grant=grant["id"], ends=quantities.moment(grant["ends"])))


def _ask_password() -> str:
    return str(click.prompt(say("login.password"), hide_input=True, err=True))


def _known(url: str | None = None) -> "Access":
    """How one got in last, if that was at this address (None: at any); else the usual address and no more."""
    from headway.domain.errors import PlatformError
    from headway.sdk.client import Access, find_access

    with suppress(PlatformError):
        known = find_access()
        if url in (None, known.url):
            return known
    return Access(url or USUAL)
