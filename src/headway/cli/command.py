"""How a command is declared: help and usage in the reader's language, modules loaded when they are called for.

`headway --help` reads one line a command from the message tables, so that listing commands imports none of them.
"""

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

import click

from headway.cli.language import language as reader
from headway.cli.language import say, texts

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class Localised(click.Command):
    """A command whose help has its headings in the reader's language."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.params.append(
            click.Option(
                ["--no-color"], is_flag=True, expose_value=False, callback=_no_color, help=say("option.no-color")
            )
        )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """A bare `--json` never swallows the word after it."""
        return super().parse_args(ctx, ["--json=" if word == "--json" else word for word in args])

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        pieces = " ".join(self.collect_usage_pieces(ctx))
        formatter.write_usage(ctx.command_path, pieces, prefix=say("heading.usage"))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        records = [record for record in (option.get_help_record(ctx) for option in options) if record]
        with formatter.section(say("heading.options")):
            formatter.write_dl(records)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        option = super().get_help_option(ctx)
        if option is not None:
            option.help = say("option.help")
        return option


class Group(Localised, click.Group):
    """A noun with verbs."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        prefix = f"{self.name}-" if ctx.parent is not None else ""
        rows = [(name, _summary(prefix + name)) for name in self.list_commands(ctx)]
        with formatter.section(say("heading.commands")):
            formatter.write_dl(rows)


class WithDefault(Group):
    """A noun whose one verb may be left out: `headway drill JOB` is `headway drill order JOB`."""

    def __init__(self, *args: Any, default: str, **options: Any) -> None:
        super().__init__(*args, context_settings={"ignore_unknown_options": True}, **options)
        self._default = default

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] in self.commands:
            return super().resolve_command(ctx, args)
        return self._default, self.commands[self._default], args


class LazyGroup(Group):
    """The door: each command is imported when it is asked for. `lazy` maps its name to `module:attribute`."""

    def __init__(self, *args: Any, lazy: dict[str, str], **options: Any) -> None:
        super().__init__(*args, **options)
        self._lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self._lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        where = self._lazy.get(cmd_name)
        if where is None:
            return None
        module, _, attribute = where.partition(":")
        found = getattr(import_module(f"headway.cli.commands.{module}"), attribute)
        assert isinstance(found, click.Command)
        return found


def command(name: str, group: click.Group | None = None) -> Callable[[Callable[..., Any]], click.Command]:
    """Declare a command; its help is `help.<name>`, or `help.<group>-<name>` for a verb of a noun."""
    key = f"{group.name}-{name}" if group is not None else name
    declare = group.command if group is not None else click.command
    return declare(name, cls=Localised, help=say(f"help.{key}"))


def noun(name: str, **options: Any) -> Group:
    """Declare a noun; verbs are added with `command(…, group=…)`."""
    return Group(name, help=say(f"help.{name}"), **options)


def noun_with(name: str, default: str) -> Group:
    """Declare a noun whose verb `default` may be left out."""
    return WithDefault(name, help=say(f"help.{name}"), default=default)


def option(*names: str, says: str | None = None, **settings: Any) -> Decorator:
    """Declare an option; its help is `option.<says>`, by default by its long name."""
    key = says or next(name for name in names if name.startswith("--")).lstrip("-")
    return click.option(*names, help=say(f"option.{key}"), **settings)


def json_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--json`, or `--json=job.id,job.state` for some fields; None when it was not asked for."""
    return click.option(
        "--json",
        "fields",
        metavar="[=FIELDS]",
        default=None,
        callback=lambda _ctx, _param, value: None if value is None else tuple(filter(None, value.split(","))),
        help=say("option.json"),
    )(function)


def _summary(key: str) -> str:
    return texts(reader())[f"help.{key}"].splitlines()[0]


def _no_color(_ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        os.environ["NO_COLOR"] = "1"
