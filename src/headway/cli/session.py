"""The client of this invocation, and asking a person before something is lost."""

import os
import sys
from typing import TYPE_CHECKING

import click

from headway.cli import exits
from headway.cli.language import language, say
from headway.cli.screen import note

if TYPE_CHECKING:
    from headway.sdk.client import Client


def client() -> "Client":
    """A client for the server one is logged in to. Raises `not-logged-in`."""
    from headway.sdk.client import find_access

    access = find_access()
    from headway.sdk.client import Client

    return Client(access.url, access.token, language(), ca_file=access.ca_file)


def confirm(question: str, *, yes: bool, no_input: bool) -> None:
    """Ask only where a person can answer; with `--no-input` fail and name the flag. A no ends the command."""
    if yes or (not no_input and not sys.stdin.isatty()):
        return
    if no_input:
        raise click.UsageError(say("error.needs-yes"))
    if not click.confirm(question, err=True):
        note(say("asked.nothing"))
        raise click.exceptions.Exit(exits.FAILED)


def has_environment_token() -> bool:
    """Whether HEADWAY_TOKEN outweighs the file that `login` writes."""
    return bool(os.environ.get("HEADWAY_TOKEN"))
