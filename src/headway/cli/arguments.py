"""The kinds of words that commands take, and what a shell completes them with."""

from typing import Any

import click
from click.shell_completion import CompletionItem

from headway.cli.language import say
from headway.cli.quantities import MINUTE, moment_of, seconds_of


class Named(click.ParamType[str]):
    """A name of something on the server: any text; a shell completes it with what there is."""

    def __init__(self, what: str) -> None:
        self.name = what.rstrip("s")

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        from headway.cli.known import known

        return [CompletionItem(name) for name in known(f"{self.name}s") if name.startswith(incomplete)]


class Duration(click.ParamType[float]):
    """`90`, `90s`, `30m`, `2h` or `1d`, in seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            return seconds_of(str(value))
        except ValueError:
            self.fail(say("error.duration", value=value), param, ctx)


class Interval(click.ParamType[dict[str, Any]]):
    """`500` steps, `20m` and its like, or `advised`, as a table of a checkpoint policy."""

    name = "interval"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, Any]:
        text = str(value).strip()
        if text == "advised":
            return {"advised": True}
        try:
            return {"every_steps": int(text)} if text.isdecimal() else {"every_minutes": seconds_of(text) / MINUTE}
        except ValueError:
            self.fail(say("error.interval", value=value), param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        return [CompletionItem("advised")] if "advised".startswith(incomplete) else []


class Moment(click.ParamType[str]):
    """`2026-12-01`, `2026-12-01T14:00` in the reader's zone unless it names one, or `+7d` from now; as ISO 8601."""

    name = "moment"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return moment_of(str(value))
        except ValueError:
            self.fail(say("error.moment", value=value), param, ctx)


class Setting(click.ParamType[tuple[str, str]]):
    """`KEY=VALUE`."""

    name = "key=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        key, separator, text = str(value).partition("=")
        if not key or not separator:
            self.fail(say("error.setting", value=value), param, ctx)
        return key, text


JOB = Named("jobs")
PROJECT = Named("projects")
TEMPLATE = Named("templates")
NODE = Named("nodes")
SERVICE = Named("services")
MODEL = Named("models")
DURATION = Duration()
INTERVAL = Interval()
MOMENT = Moment()
SETTING = Setting()
