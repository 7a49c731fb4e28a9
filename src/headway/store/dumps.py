"""A snapshot as JSON text and back: any cycle can be taken home and planned again, to the same plan.

`read(dump(snapshot)) == snapshot`. JSON has no keys but text, so mappings by several names travel as pairs.
"""

from dataclasses import fields
from functools import cache
from typing import Any, get_type_hints

from pydantic import TypeAdapter, ValidationError

from headway.domain.errors import PlatformError
from headway.scheduler.snapshot import Runtimes, Snapshot
from headway.store.columns import as_json

PAIRED = {
    "quotas": list[tuple[tuple[str, str], int]],
    "usage": list[tuple[tuple[str, str], float]],
    "spent": list[tuple[tuple[str, str], float]],
    "runtimes": tuple[dict[str, tuple[float, ...]], list[tuple[tuple[str, ...], tuple[float, ...]]]],
}


def dump(snapshot: Snapshot) -> str:
    """The snapshot as one JSON object."""
    whole = {field.name: getattr(snapshot, field.name) for field in fields(snapshot)}
    whole |= {name: list(whole[name].items()) for name in ("quotas", "usage", "spent")}
    runtimes = snapshot.runtimes
    whole["runtimes"] = (dict(runtimes.by_template), list(runtimes.by_kind.items()))
    return as_json(whole)


def read(text: str) -> Snapshot:
    """The snapshot of a dump. Raises `dump-unreadable`."""
    try:
        whole = TypeAdapter(dict[str, Any]).validate_json(text)
        found = {name: adapter.validate_python(whole[name], strict=False) for name, adapter in _adapters().items()}
    except (ValidationError, KeyError) as problem:
        raise PlatformError("dump-unreadable", detail=str(problem).splitlines()[0][:200]) from None
    by_template, by_kind = found.pop("runtimes")
    found |= {name: dict(found[name]) for name in ("quotas", "usage", "spent")}
    return Snapshot(**found, runtimes=Runtimes(by_template, dict(by_kind)))


@cache
def _adapters() -> dict[str, TypeAdapter[Any]]:
    hints = get_type_hints(Snapshot) | PAIRED
    return {field.name: TypeAdapter(hints[field.name]) for field in fields(Snapshot)}
