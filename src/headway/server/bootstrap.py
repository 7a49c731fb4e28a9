"""What a new home gets: a first administrator with a token, and the templates that ship with Headway."""

import json
import os
import tomllib
from importlib.resources import files
from pathlib import Path

from sqlalchemy import Connection

from headway.server.access import Role
from headway.server.operations.assets.assets import add_template
from headway.server.operations.people.directory import Change, create_user, grant_role, issue_token
from headway.server.platform import Platform
from headway.store import accounts

FIRST = "admin"
SERVER = "server"


def prepare(platform: Platform) -> None:
    """Safe to repeat: what is there stays."""
    change = Change(SERVER, platform.clock.now())
    with platform.database.write() as c:
        for template in shipped_templates():
            add_template(c, change, template)
        if not accounts.users(c):
            _first_user(platform, c, change)


def shipped_templates() -> list[dict[str, object]]:
    """The templates in this package."""
    folder = files("headway.server").joinpath("templates")
    found = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".toml")), key=lambda entry: entry.name)
    return [tomllib.loads(entry.read_text(encoding="utf-8")) for entry in found]


def _first_user(platform: Platform, c: Connection, change: Change) -> None:
    """The administrator's token goes to a file that only the server's account can read, for the command line here."""
    create_user(c, change, FIRST, None, None)
    grant_role(c, change, FIRST, Role.ADMIN, None)
    token = issue_token(c, change, FIRST, days=3650)
    told = {"url": platform.url, "token": token, "ca_file": platform.settings.ca_file}
    write_private(platform.home / "client.json", json.dumps(told))


def write_private(path: Path, text: str) -> None:
    """Replace a file with one of mode 0600."""
    temporary = path.with_suffix(".new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    os.replace(temporary, path)
