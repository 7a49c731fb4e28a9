"""The rules the queue goes by, told to everybody: who may use which class, in which order, what is taken back and when.

Each rule is a sentence with this site's own numbers, read from the very settings and the very table that decide.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from headway.domain.errors import Language, Param, message
from headway.domain.job import Priority
from headway.server.access import TABLE, Role, Verb
from headway.server.settings import Settings

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@dataclass(frozen=True, slots=True)
class ClassView:
    """A priority class, most urgent first, and the roles that may submit in it."""

    name: Priority
    roles: list[Role]


@dataclass(frozen=True, slots=True)
class RuleView:
    """One rule in words, with its numbers."""

    name: str
    sentence: str
    numbers: dict[str, Param]


@dataclass(frozen=True, slots=True)
class RulesView:
    """Every rule of this site."""

    classes: list[ClassView]
    rules: list[RuleView]


def rules_of(settings: Settings, language: Language) -> RulesView:
    """The rules in force on a site."""
    submitters = who_may(Verb.CREATE, "job")
    allowed = {name: who_may(Verb.CREATE, f"{name} priority") for name in Priority}
    classes = [ClassView(name, [role for role in roles if role in submitters]) for name, roles in allowed.items()]
    told = [RuleView(name, _told(name, found, language), found) for name, found in _numbers(settings)]
    return RulesView(classes, told)


def who_may(verb: Verb, resource: str) -> list[Role]:
    """The roles that may do it, least first."""
    return [role for role in Role if role in TABLE[resource].get(verb, ())]


def _numbers(settings: Settings) -> Iterator[tuple[str, dict[str, Param]]]:
    policy = settings.policy
    yield (
        "order",
        {
            "stretch": policy.stretch,
            "short_first_h": policy.short_first / HOUR,
            "fair_bound_h": policy.fair_bound / HOUR,
            "half_life_days": policy.half_life / DAY,
        },
    )
    yield "backfill", {"reservations": policy.reservations, "firm_after_h": policy.firm_after / HOUR}
    if policy.reclaim:
        yield "reclaim", {"min_run_min": policy.min_run / timedelta(minutes=1)}
    yield "protected", {}
    yield "budget", {"timezone": settings.timezone}
    yield (
        "quota",
        {
            "proposers": _names(Verb.CREATE, "quota"),
            "approvers": _names(Verb.CHANGE, "quota"),
            "mode": settings.mode,
        },
    )
    yield (
        "grant",
        {
            "askers": _names(Verb.CREATE, "grant"),
            "approvers": _names(Verb.CHANGE, "grant"),
            "warning_days": settings.grant_warning / DAY,
        },
    )
    yield "window", {"setters": _names(Verb.CREATE, "window")}
    yield "preempt", {"operators": _names(Verb.PREEMPT, "job")}


def _names(verb: Verb, resource: str) -> str:
    return ", ".join(who_may(verb, resource))


def _told(name: str, numbers: dict[str, Param], language: Language) -> str:
    shown: dict[str, Param] = {k: f"{v:g}" if isinstance(v, float) else v for k, v in numbers.items()}
    return message(f"queue-rule-{name}", shown, language)
