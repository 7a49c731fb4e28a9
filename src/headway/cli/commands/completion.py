"""`completion`: the script that makes a shell complete `headway`."""

import click
from click.shell_completion import get_completion_class

from headway.cli.command import command
from headway.cli.screen import out

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_HEADWAY_COMPLETE"


@command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script; it asks this program for each completion."""
    from headway.cli.main import make_cli

    made = get_completion_class(shell)
    assert made is not None
    complete = made(make_cli(), {}, "headway", VARIABLE)
    out(complete.source_template % complete.source_vars())
