"""A snapshot as JSON and back, so that any cycle can be replayed elsewhere to the same plan.

Pure encoding: field by field, by the types the values declare. Decides nothing, reads and writes no file.
"""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from headway.domain.errors import PlatformError, say
from headway.scheduler.snapshot import Snapshot

FORMAT = 1


def dumps(snapshot: Snapshot) -> str:
    """The snapshot as JSON text; `loads` gives back an equal one."""
    return json.dumps({"format": FORMAT, "snapshot": _plain(snapshot)}, ensure_ascii=False)


def loads(text: str) -> Snapshot:
    """The snapshot of a dump. Raises `snapshot-unreadable`."""
    try:
        table = json.loads(text)
        if table["format"] != FORMAT:
            raise PlatformError("snapshot-unreadable", detail=say("format", number=str(table["format"])))
        read: Snapshot = _typed(table["snapshot"], Snapshot)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise PlatformError("snapshot-unreadable", detail=f"{type(error).__name__}: {error}") from None
    return read


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return [value.days, value.seconds, value.microseconds]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return [[_plain(key), _plain(item)] for key, item in value.items()]
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, frozenset):
        return sorted(_plain(item) for item in value)
    return value


def _typed(value: Any, kind: Any) -> Any:
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return None if value is None else _typed(value, next(part for part in parts if part is not NoneType))
    if is_dataclass(kind) and isinstance(kind, type):
        hints = get_type_hints(kind)
        return kind(**{field.name: _typed(value[field.name], hints[field.name]) for field in fields(kind)})
    if kind is datetime:
        return datetime.fromisoformat(value)
    if kind is timedelta:
        return timedelta(*value)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    return _collection(value, kind, origin, parts)


def _collection(value: Any, kind: Any, origin: Any, parts: tuple[Any, ...]) -> Any:
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {_typed(key, parts[0]): _typed(item, parts[1]) for key, item in value}
    if origin is frozenset:
        return frozenset(_typed(item, parts[0]) for item in value)
    if origin is tuple and len(parts) == 2 and parts[1] is Ellipsis:
        return tuple(_typed(item, parts[0]) for item in value)
    if origin is tuple:
        return tuple(_typed(item, part) for item, part in zip(value, parts, strict=True))
    if isinstance(value, list):
        return tuple(value)
    return kind.__supertype__(value) if hasattr(kind, "__supertype__") else value
