"""Says what went wrong, on stderr: message, context, hint and code, and what the command ends with."""

import sys
from difflib import get_close_matches

import click

from headway.cli import exits
from headway.cli.language import language, say
from headway.cli.screen import is_coloured, note
from headway.domain.errors import PlatformError, status_of


def report(error: PlatformError) -> int:
    """Print a platform error; the exit code it stands for."""
    _print(error.text(language()), "", error.hint(language()), error.code)
    return exits.exit_of(error.code, getattr(error, "status", status_of(error.code)))


def report_usage(error: click.ClickException) -> int:
    """Print what was typed wrongly, with the command's usage."""
    context = getattr(error, "ctx", None)
    usage = " ".join([context.command_path, *context.command.collect_usage_pieces(context)]) if context else ""
    path = context.command_path if context else "headway"
    _print(_usage_text(error), usage, say("error.see-help", path=path), "usage")
    return exits.USAGE


def _usage_text(error: click.ClickException) -> str:
    if isinstance(error, click.NoSuchOption) and error.option_name[1:2].isdigit():
        return say("error.negative")
    if isinstance(error, click.NoSuchOption):
        near = ", ".join(error.possibilities or ())
        return say("error.no-such-option", option=error.option_name, near=_clause(near))
    if isinstance(error, click.exceptions.NoSuchCommand):
        return say("error.no-such-command", command=error.command_name, near=_clause(_near(error)))
    if isinstance(error, click.MissingParameter):
        name = error.param.make_metavar(error.ctx) if error.param and error.ctx else str(error.param_hint)
        options = "/".join(error.param.opts) if isinstance(error.param, click.Option) else name
        return say("error.missing", parameter=options)
    if isinstance(error, click.BadParameter):
        return _bad_value(error)
    return error.format_message()


def _bad_value(error: click.BadParameter) -> str:
    """click says in English what is wrong with a choice or a number; the rest are our own words already."""
    name = "/".join(error.param.opts) if error.param else str(error.param_hint)
    kind = error.param.type if error.param else None
    if isinstance(kind, click.Choice):
        return say("error.bad-choice", parameter=name, choices=", ".join(map(str, kind.choices)))
    if isinstance(kind, click.IntRange):
        bounds = f" ≥ {kind.min}" if kind.max is None else f" {kind.min} … {kind.max}"
        return say("error.bad-number", parameter=name, bounds=bounds)
    if kind is click.INT:
        return say("error.bad-number", parameter=name, bounds="")
    return say("error.bad-value", parameter=name, detail=error.message)


def _clause(near: str) -> str:
    """What is spelt alike, where there is anything."""
    return say("error.near", near=near) if near else ""


def _near(error: click.exceptions.NoSuchCommand) -> str:
    context = error.ctx
    there = context.command.list_commands(context) if context and isinstance(context.command, click.Group) else []
    return ", ".join(get_close_matches(error.command_name, there)) or ", ".join(there)


def _print(text: str, context: str, hint: str, code: str) -> None:
    def styled(words: str, **style: object) -> str:
        return click.style(words, **style) if is_coloured(sys.stderr) else words  # type: ignore[arg-type]

    note(f"{styled('×', fg='red', bold=True)} {text}")
    if context:
        note(f"╰─> {context}")
    if hint:
        note(f"{styled(say('error.hint'), fg='cyan')}{hint}")
    note(styled(f"[{code}]", dim=True))
