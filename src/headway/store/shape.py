"""How a frozen value lies in a table: one column of the same name for each of its fields.

It knows no noun and holds no connection.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection, Executable, Select, Table, select

from headway.domain.errors import PlatformError

T = TypeVar("T")


class Shape(Generic[T]):
    """A dataclass and the table it lies in; `without` names fields kept elsewhere, which must have defaults."""

    def __init__(self, of: type[T], table: Table, *, without: tuple[str, ...] = ()) -> None:
        self._of = of
        self._names = tuple(f.name for f in fields(of) if f.name not in without)  # type: ignore[arg-type]
        self.columns = tuple(table.c[name] for name in self._names)

    def select(self) -> Select[Any]:
        """The value's columns, in its order."""
        return select(*self.columns)

    def row(self, value: T, **more: Any) -> dict[str, Any]:
        """The column values of one row; `more` are columns that are not fields."""
        return {name: getattr(value, name) for name in self._names} | more

    def all(self, c: Connection, statement: Executable, parameters: Mapping[str, Any] | None = None) -> list[T]:
        """Every value that the statement finds."""
        names = self._names
        return [self._of(**dict(zip(names, row, strict=True))) for row in c.execute(statement, parameters)]

    def one(self, c: Connection, statement: Executable, parameters: Mapping[str, Any] | None = None) -> T | None:
        """The first value that the statement finds."""
        row = c.execute(statement, parameters).first()
        return None if row is None else self._of(**dict(zip(self._names, row, strict=True)))


def found(value: T | None, what: str, name: str) -> T:
    """The value, or `not-found`."""
    if value is None:
        raise PlatformError("not-found", what=what, value=name)
    return value
