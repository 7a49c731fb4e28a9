"""`headway`: what users type. Lists the commands, runs one, and turns every failure into a message and an exit code."""

import os
import sys
from collections.abc import Sequence

import click

from headway import __version__
from headway.cli import exits
from headway.cli.command import LazyGroup
from headway.cli.language import say

COMMANDS = {
    "login": "account:login",
    "me": "account:me",
    "submit": "submit:submit",
    "ps": "jobs:ps",
    "show": "show:show",
    "why": "why:why",
    "logs": "logs:logs",
    "bundle": "bundle:bundle",
    "beside": "beside:beside",
    "progress": "progress:progress",
    "examine": "examine:examine",
    "attempts": "history:attempts",
    "checkpoints": "history:checkpoints",
    "checkpoint": "checkpoint:checkpoint",
    "facts": "history:facts",
    "bills": "bills:bills",
    "cadence": "cadence:cadence",
    "stop": "jobs:stop",
    "resume": "resume:resume",
    "drill": "drill:drill",
    "release": "jobs:release",
    "top": "machines:top",
    "node": "node:node",
    "incident": "cases:incident",
    "alert": "alert:alert",
    "channel": "alert:channel",
    "follow": "alert:follow",
    "preempt": "queue:preempt",
    "forecast": "queue:forecast",
    "quota": "quota:quota",
    "grant": "grant:grant",
    "window": "window:window",
    "project": "directory:project",
    "department": "directory:department",
    "user": "accounts:user",
    "role": "accounts:role",
    "token": "accounts:token",
    "template": "assets:template",
    "dataset": "assets:dataset",
    "model": "models:model",
    "service": "service:service",
    "usage": "usage:usage",
    "report": "report:report",
    "completion": "completion:completion",
}


def make_cli() -> LazyGroup:
    """The whole command line, with no command loaded yet."""
    version = click.Option(
        ["--version"], is_flag=True, expose_value=False, is_eager=True, callback=_version, help=say("option.version")
    )
    return LazyGroup("headway", lazy=COMMANDS, params=[version], help=say("help.headway"), no_args_is_help=True)


def main(args: Sequence[str] | None = None) -> None:
    """Run one command and end the process with its exit code."""
    sys.exit(run(args))


def run(args: Sequence[str] | None = None) -> int:
    """Run one command; its exit code (see `exits`)."""
    try:
        ended = make_cli().main(args, prog_name="headway", standalone_mode=False)
        sys.stdout.flush()
        return ended if isinstance(ended, int) else exits.DONE
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "", err=True)
        return exits.USAGE
    except click.ClickException as error:
        from headway.cli.failure import report_usage

        return report_usage(error)
    except (click.Abort, KeyboardInterrupt):
        return exits.INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.DONE
    except Exception as error:
        return _platform_error(error)


def _platform_error(error: Exception) -> int:
    from headway.domain.errors import PlatformError

    if not isinstance(error, PlatformError):
        raise error
    from headway.cli.failure import report

    return report(error)


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        click.echo(f"headway {__version__}")
        ctx.exit()


if __name__ == "__main__":
    main()
