"""Job templates: launch parameters with a few blanks, and how the blanks are filled.

A template is a TOML table. Filling checks every value against its parameter and puts it into the command and the
environment; a placeholder that nobody fills is an error of the template, found when it is added.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from string import Formatter
from typing import Any, TypeVar

from headway.domain.errors import PlatformError
from headway.domain.ids import check_name
from headway.domain.job import CheckpointPolicy, JobKind, Launcher, RecoveryPolicy, WhenStalled
from headway.domain.parse import known_keys, number, positive, seconds, table, text, text_list
from headway.domain.resources import Request

TYPES = ("string", "integer", "number", "boolean", "dataset", "model")
BUILTIN = frozenset({"python", "source", "port", "name"})
SECTIONS = (
    *("name", "description", "kind", "launcher", "command", "parameters", "env", "resources", "checkpoint"),
    *("recovery", "ready_path", "workdir"),
)
INTERVALS = frozenset({"every_steps", "every_minutes", "advised"})
POLICY = (
    *("every_steps", "every_minutes", "advised", "shortest_minutes", "longest_minutes"),
    *("keep", "keep_every_steps", "keep_best", "metric", "highest", "resume"),
)
RESUME = ("checkpoint", "checkpoint_parent", "checkpoint_name", "checkpoint_step")
"""What the words of `checkpoint.resume` may hold: the checkpoint's path, its folder, its name, its step."""
MINUTE = timedelta(minutes=1)
E = TypeVar("E", JobKind, Launcher, WhenStalled)
VERSIONED = re.compile(r"[A-Za-z0-9._-]+@[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One blank. `default` None: it must be filled."""

    name: str
    type: str
    default: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    help: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Template:
    """How a kind of job is launched. `command` and `env` values may hold `{parameter}` placeholders."""

    name: str
    kind: JobKind
    launcher: Launcher
    command: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    env: dict[str, str]
    request: Request
    checkpoint: CheckpointPolicy
    recovery: RecoveryPolicy
    ready_path: str | None
    workdir: str | None
    description: dict[str, str]


def parse(content: Mapping[str, Any]) -> Template:
    """Read a template's table. Raises `unknown-field`, `missing-field`, `invalid-field` or `invalid-name`."""
    known_keys("template", content, SECTIONS)
    parameters = tuple(_parameter(name, raw) for name, raw in table("parameters", content.get("parameters")).items())
    template = Template(
        name=check_name("template.name", text("template.name", content.get("name"))),
        kind=_choice("template.kind", content.get("kind", "training"), JobKind),
        launcher=_choice("template.launcher", content.get("launcher", "ranks"), Launcher),
        command=_command(content.get("command")),
        parameters=parameters,
        env={key: str(value) for key, value in table("env", content.get("env")).items()},
        request=_request(content.get("resources", {})),
        checkpoint=checkpoint_policy(content.get("checkpoint", {})),
        recovery=_recovery(content.get("recovery", {})),
        ready_path=content.get("ready_path"),
        workdir=content.get("workdir"),
        description=dict(table("description", content.get("description"))),
    )
    _check_placeholders(template)
    return template


def values(template: Template, given: Mapping[str, Any]) -> dict[str, str]:
    """Every parameter's value as text: the given ones checked, the others by default."""
    known_keys("parameters", given, [parameter.name for parameter in template.parameters])
    return {parameter.name: _value(parameter, given.get(parameter.name)) for parameter in template.parameters}


def fill(parts: Mapping[str, str], pattern: str) -> str:
    """Put values into one command word or environment value."""
    return pattern.format_map(dict(parts))


def _parameter(name: str, raw: Mapping[str, Any]) -> Parameter:
    where = f"parameters.{name}"
    known_keys(where, raw, ("type", "default", "minimum", "maximum", "choices", "help"))
    kind = raw.get("type", "string")
    if kind not in TYPES:
        raise PlatformError("invalid-field", field=f"{where}.type", value=str(kind), rule=" | ".join(TYPES))
    default = raw.get("default")
    return Parameter(
        name=name,
        type=kind,
        default=None if default is None else _shown(default),
        minimum=number(f"{where}.minimum", raw.get("minimum")),
        maximum=number(f"{where}.maximum", raw.get("maximum")),
        choices=_choices(f"{where}.choices", raw.get("choices", [])),
        help=dict(table(f"{where}.help", raw.get("help"))),
    )


def _command(value: object) -> tuple[str, ...]:
    words = text_list("template.command", value)
    if not words:
        raise PlatformError("invalid-field", field="template.command", value="[]", rule="rule-text-list")
    return words


def _choices(where: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        raise PlatformError("invalid-field", field=where, value=str(value)[:80], rule="rule-list")
    return tuple(_shown(choice) for choice in value)


def _value(parameter: Parameter, given: object) -> str:
    where = f"parameters.{parameter.name}"
    if given is None:
        if parameter.default is None:
            raise PlatformError("missing-field", field=where)
        return parameter.default
    shown = _shown(given)
    if parameter.choices and shown not in parameter.choices:
        raise PlatformError("invalid-field", field=where, value=shown, rule=" | ".join(parameter.choices))
    if parameter.type in ("integer", "number"):
        _check_number(parameter, where, shown)
    if parameter.type == "boolean" and shown not in ("true", "false"):
        raise PlatformError("invalid-field", field=where, value=shown, rule="true | false")
    if parameter.type in ("dataset", "model") and not VERSIONED.fullmatch(shown):
        raise PlatformError("invalid-field", field=where, value=shown, rule="rule-reference")
    return shown


def _check_number(parameter: Parameter, where: str, shown: str) -> None:
    try:
        number = int(shown) if parameter.type == "integer" else float(shown)
    except ValueError:
        rule = f"rule-{parameter.type}"
        raise PlatformError("invalid-field", field=where, value=shown, rule=rule) from None
    low, high = parameter.minimum, parameter.maximum
    if (low is not None and not number >= low) or (high is not None and not number <= high):
        raise PlatformError("invalid-field", field=where, value=shown, rule=f"{low} … {high}")


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _choice(where: str, value: object, kind: type[E]) -> E:
    try:
        return kind(str(value))
    except ValueError:
        rule = " | ".join(kind)
        raise PlatformError("invalid-field", field=where, value=str(value), rule=rule) from None


def _request(raw: Mapping[str, Any]) -> Request:
    known_keys("resources", raw, ("nodes", "devices_per_node", "ranks_per_node", "device_types"))
    devices = positive("resources.devices_per_node", raw.get("devices_per_node", 1))
    return Request(
        nodes=positive("resources.nodes", raw.get("nodes", 1)),
        devices_per_node=devices,
        ranks_per_node=positive("resources.ranks_per_node", raw.get("ranks_per_node", devices)),
        device_types=text_list("resources.device_types", raw.get("device_types", [])),
    )


def checkpoint_policy(raw: Mapping[str, Any], plain: CheckpointPolicy | None = None) -> CheckpointPolicy:
    """A policy from a table; what it does not name is as in `plain`, and another interval replaces that one's."""
    known_keys("checkpoint", raw, POLICY)
    policy = plain or CheckpointPolicy()
    if INTERVALS & raw.keys():
        policy = replace(policy, **{"every_steps": None, "every": None, "advised": False, **_interval(raw)})
    policy = replace(policy, **_rest(raw))
    if policy.shortest > policy.longest:
        rule = f"≤ {policy.longest / MINUTE:g} (longest_minutes)"
        raise PlatformError(
            "invalid-field", field="checkpoint.shortest_minutes", value=f"{policy.shortest / MINUTE:g}", rule=rule
        )
    return policy


def _interval(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The one interval it names: in steps, in minutes, or as advised."""
    named = [key for key in INTERVALS & raw.keys() if raw[key] is not None and raw[key] is not False]
    if len(named) > 1:
        raise PlatformError(
            "invalid-field", field="checkpoint", value=", ".join(sorted(named)), rule=" | ".join(sorted(INTERVALS))
        )
    if "every_steps" in named:
        return {"every_steps": positive("checkpoint.every_steps", raw["every_steps"])}
    if "every_minutes" in named:
        return {"every": _minutes("every_minutes", raw["every_minutes"])}
    return {"advised": _flag("advised", raw.get("advised", False))}


def _rest(raw: Mapping[str, Any]) -> dict[str, Any]:
    """All but the interval: bounds, what is kept, and the words that resume."""
    named = {"shortest": "shortest_minutes", "longest": "longest_minutes"}
    found: dict[str, Any] = {name: _minutes(key, raw[key]) for name, key in named.items() if key in raw}
    if "keep" in raw:
        found["keep"] = positive("checkpoint.keep", raw["keep"])
    if raw.get("keep_every_steps") is not None:
        found["keep_every_steps"] = positive("checkpoint.keep_every_steps", raw["keep_every_steps"])
    if "keep_best" in raw:
        found["keep_best"] = positive("checkpoint.keep_best", raw["keep_best"], least=0)
    if "metric" in raw:
        found["metric"] = text("checkpoint.metric", raw["metric"])
    if "highest" in raw:
        found["highest"] = _flag("highest", raw["highest"])
    if "resume" in raw:
        found["resume"] = text_list("checkpoint.resume", raw["resume"])
        _check_resume(found["resume"])
    return found


def _check_resume(words: tuple[str, ...]) -> None:
    for word in words:
        try:
            fill(dict.fromkeys(RESUME, ""), word)
        except (KeyError, ValueError, IndexError):
            rule = " | ".join(f"{{{name}}}" for name in RESUME)
            raise PlatformError("invalid-field", field="checkpoint.resume", value=word[:80], rule=rule) from None


def _minutes(key: str, value: object) -> timedelta:
    """A number of minutes from one second to ten days."""
    field = f"checkpoint.{key}"
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 1 / 60 <= value <= 14400:
        raise PlatformError("invalid-field", field=field, value=str(value)[:80], rule="1/60 … 14400")
    return timedelta(minutes=value)


def _flag(key: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise PlatformError("invalid-field", field=f"checkpoint.{key}", value=str(value)[:80], rule="true | false")
    return value


def _recovery(raw: Mapping[str, Any]) -> RecoveryPolicy:
    known_keys("recovery", raw, ("retries", "grace_s", "when_stalled", "stall_after_s"))
    plain = RecoveryPolicy()
    return RecoveryPolicy(
        retries=positive("recovery.retries", raw.get("retries", plain.retries), least=0),
        grace=seconds("recovery.grace_s", raw.get("grace_s", plain.grace.total_seconds())),
        when_stalled=_choice("recovery.when_stalled", raw.get("when_stalled", "restart"), WhenStalled),
        stall_after=seconds("recovery.stall_after_s", raw.get("stall_after_s", plain.stall_after.total_seconds())),
    )


def _parts(pattern: str) -> list[tuple[str, str, str | None, str | None]]:
    return [(text, name, spec, how) for text, name, spec, how in Formatter().parse(pattern) if name is not None]


def _check_placeholders(template: Template) -> None:
    names = {parameter.name for parameter in template.parameters} | BUILTIN
    for where, pattern in [("command", word) for word in template.command] + list(template.env.items()):
        try:
            used = {name + (f"!{how}" if how else "") + (spec or "") for _, name, spec, how in _parts(pattern)}
        except ValueError as problem:
            raise PlatformError("invalid-field", field=where, value=pattern, rule=str(problem)) from None
        if used - names:
            rule = " | ".join(f"{{{name}}}" for name in sorted(names))
            raise PlatformError("invalid-field", field=where, value=pattern, rule=rule)
