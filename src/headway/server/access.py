"""Who may do what: one table of role × verb × resource, and one question asked of it.

Roles are held in a project, or everywhere (project None). Nothing here reads a database.
"""

from collections.abc import Iterable
from enum import StrEnum

from headway.domain.errors import PlatformError


class Role(StrEnum):
    """Least first."""

    VIEWER = "viewer"
    MEMBER = "member"
    LEAD = "lead"
    OPERATOR = "operator"
    ADMIN = "admin"


class Verb(StrEnum):
    """What is done."""

    READ = "read"
    CREATE = "create"
    STOP = "stop"
    DRILL = "drill"
    PREEMPT = "preempt"
    CHANGE = "change"


EVERYBODY = frozenset(Role)
WORKERS = frozenset({Role.MEMBER, Role.LEAD, Role.ADMIN})
RUNNERS = WORKERS | {Role.OPERATOR}
LEADERS = frozenset({Role.LEAD, Role.ADMIN})
PLANNERS = LEADERS | {Role.OPERATOR}
OPERATORS = frozenset({Role.OPERATOR, Role.ADMIN})
ADMINS = frozenset({Role.ADMIN})

TABLE: dict[str, dict[Verb, frozenset[Role]]] = {
    "job": {
        Verb.READ: EVERYBODY,
        Verb.CREATE: WORKERS,
        Verb.STOP: RUNNERS,
        Verb.DRILL: RUNNERS,
        Verb.PREEMPT: OPERATORS,
    },
    "urgent priority": {Verb.CREATE: PLANNERS},
    "high priority": {Verb.CREATE: PLANNERS},
    "normal priority": {Verb.CREATE: WORKERS},
    "low priority": {Verb.CREATE: WORKERS},
    "idle priority": {Verb.CREATE: WORKERS},
    "service": {Verb.READ: EVERYBODY, Verb.CREATE: WORKERS, Verb.CHANGE: WORKERS, Verb.STOP: RUNNERS},
    "model": {Verb.READ: EVERYBODY, Verb.CREATE: WORKERS},
    "dataset": {Verb.READ: EVERYBODY, Verb.CREATE: WORKERS},
    "template": {Verb.READ: EVERYBODY, Verb.CREATE: OPERATORS},
    "node": {Verb.READ: EVERYBODY, Verb.CHANGE: OPERATORS},
    "engine": {Verb.READ: EVERYBODY, Verb.CHANGE: OPERATORS},
    "alert": {Verb.READ: EVERYBODY, Verb.STOP: RUNNERS, Verb.CHANGE: OPERATORS},
    "statement": {Verb.READ: EVERYBODY},
    "fact": {Verb.READ: EVERYBODY},
    "quota": {Verb.READ: EVERYBODY, Verb.CREATE: PLANNERS, Verb.CHANGE: OPERATORS},
    "quota number": {Verb.CHANGE: ADMINS},
    "grant": {Verb.READ: EVERYBODY, Verb.CREATE: WORKERS, Verb.CHANGE: OPERATORS},
    "window": {Verb.READ: EVERYBODY, Verb.CREATE: OPERATORS, Verb.STOP: OPERATORS},
    "project": {Verb.READ: EVERYBODY, Verb.CREATE: ADMINS, Verb.CHANGE: LEADERS, Verb.STOP: ADMINS},
    "department": {Verb.READ: EVERYBODY, Verb.CREATE: ADMINS},
    "user": {Verb.READ: LEADERS, Verb.CREATE: ADMINS, Verb.CHANGE: ADMINS},
}

Held = tuple[Role, str | None]


def may(held: Iterable[Held], verb: Verb, resource: str, project: str | None) -> bool:
    """Whether any role held in this project, or everywhere, allows it; without a project a role in any project does.

    What only operators and administrators may do concerns the whole site: there a role in one project is not enough.
    """
    allowed = TABLE[resource].get(verb, frozenset())
    if allowed <= OPERATORS:
        return any(role in allowed and scope is None for role, scope in held)
    return any(role in allowed and (scope is None or project is None or scope == project) for role, scope in held)


def check(user: str, held: Iterable[Held], verb: Verb, resource: str, project: str | None) -> None:
    """Raise `forbidden`, naming the role it takes and who gives roles, unless the table allows it."""
    if not may(held, verb, resource, project):
        least = min(TABLE[resource].get(verb, ADMINS), key=list(Role).index)
        raise PlatformError(
            "forbidden",
            user=user,
            verb=verb,
            resource=resource,
            project=project or "*",
            role=least.value,
            who=Role.ADMIN.value,
        )


def readable_projects(held: Iterable[Held]) -> frozenset[str] | None:
    """Projects whose rows may be read; None means all."""
    scopes = [scope for _, scope in held]
    return None if None in scopes else frozenset(scope for scope in scopes if scope is not None)
