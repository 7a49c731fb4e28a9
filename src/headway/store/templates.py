"""Job templates, each version kept as it was."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select

from headway.store import schema
from headway.store.shape import Shape

_templates = schema.templates


@dataclass(frozen=True, slots=True)
class TemplateRow:
    """One version of a template; `digest` is of its content."""

    name: str
    version: int
    content: dict[str, Any]
    digest: str


_SHAPE = Shape(TemplateRow, _templates)
_ADD = insert(_templates)
_NEWEST = _SHAPE.select().where(_templates.c.name == bindparam("name")).order_by(_templates.c.version.desc()).limit(1)
_NAMES = select(_templates.c.name).distinct().order_by(_templates.c.name)


def add(c: Connection, name: str, content: Mapping[str, Any], digest: str, at: datetime, by: str) -> int:
    """Keep a new version and return its number; the newest one's digest again: nothing new, its number."""
    newest = get(c, name)
    if newest and newest.digest == digest:
        return newest.version
    version = newest.version + 1 if newest else 1
    row = TemplateRow(name, version, dict(content), digest)
    c.execute(_ADD, _SHAPE.row(row, added_at=at, added_by=by))
    return version


def get(c: Connection, name: str, version: int | None = None) -> TemplateRow | None:
    """One version of a template, or its newest."""
    statement = _NEWEST if version is None else _NEWEST.where(_templates.c.version == version)
    return _SHAPE.one(c, statement, {"name": name})


def names(c: Connection) -> list[str]:
    """Every template's name."""
    return list(c.execute(_NAMES).scalars())
