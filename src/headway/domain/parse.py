"""Reading untyped tables: each check names the field, the value and the rule when it refuses."""

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any

from headway.domain.errors import PlatformError

MOST = 1_000_000
LONGEST_S = 100 * 365 * 86400


def known_keys(where: str, table: Mapping[str, Any], allowed: Collection[str]) -> None:
    """Raise `unknown-field` for the first key that is not allowed."""
    if not isinstance(table, Mapping):
        raise PlatformError("invalid-field", field=where, value=str(table)[:80], rule="rule-table")
    for key in table:
        if key not in allowed:
            field = f"{where}.{key}"
            raise PlatformError("unknown-field", field=field, value=str(table[key])[:80], allowed=", ".join(allowed))


def text(field: str, value: object) -> str:
    """A non-empty string."""
    if value is None:
        raise PlatformError("missing-field", field=field)
    if not isinstance(value, str) or not value:
        raise PlatformError("invalid-field", field=field, value=str(value)[:80], rule="rule-text")
    return value


def text_list(field: str, value: object) -> tuple[str, ...]:
    """A list of strings."""
    if value is None:
        raise PlatformError("missing-field", field=field)
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise PlatformError("invalid-field", field=field, value=str(value)[:80], rule="rule-text-list")
    return tuple(value)


def table(field: str, value: object) -> Mapping[str, Any]:
    """A table; None is an empty one."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise PlatformError("invalid-field", field=field, value=str(value)[:80], rule="rule-table")
    return value


def number(field: str, value: object) -> float | None:
    """A number, or None."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
        raise PlatformError("invalid-field", field=field, value=str(value)[:80], rule="rule-number")
    return value


def positive(field: str, value: object, least: int = 1) -> int:
    """A whole number from `least` to a million."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MOST:
        raise PlatformError("invalid-field", field=field, value=str(value)[:80], rule=f"{least} … {MOST}")
    return value


def seconds(field: str, value: object) -> timedelta:
    """A finite number of seconds, not negative, at most a century."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= LONGEST_S:
        raise PlatformError("invalid-field", field=field, value=str(value)[:80], rule="rule-seconds")
    return timedelta(seconds=value)
