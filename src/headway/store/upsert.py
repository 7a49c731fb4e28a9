"""`INSERT … ON CONFLICT (primary key)` for both databases, built once at import.

SQLAlchemy has this statement twice, once per database; this file is the only one that knows.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, CursorResult, Table
from sqlalchemy.dialects import postgresql, sqlite

from headway.domain.errors import PlatformError

Rows = Mapping[str, Any] | Sequence[Mapping[str, Any]]
Change = Callable[[Any], dict[str, Any]]
Condition = Callable[[Any], ColumnElement[bool]]


class Upsert:
    """Insert a row, or change the one that has its key.

    `change` gives the new column values from the row that was refused (default: all of it); `when`: only then.
    """

    def __init__(self, table: Table, *, change: Change | None = None, when: Condition | None = None) -> None:
        keys = [column.name for column in table.primary_key]

        def build(statement: Any) -> Any:
            refused = statement.excluded
            rest = {column.name: refused[column.name] for column in table.c if column.name not in keys}
            changes = rest | (change(refused) if change else {})
            return statement.on_conflict_do_update(
                index_elements=keys, set_=changes, where=when(refused) if when else None
            )

        self._by_dialect = {"sqlite": build(sqlite.insert(table)), "postgresql": build(postgresql.insert(table))}

    def __call__(self, c: Connection, rows: Rows) -> int:
        """How many rows were inserted or changed."""
        return _run(c, self._by_dialect[c.dialect.name], rows)


class InsertNew:
    """Insert a row unless its key exists."""

    def __init__(self, table: Table) -> None:
        self._by_dialect: dict[str, Any] = {
            "sqlite": sqlite.insert(table).on_conflict_do_nothing(),
            "postgresql": postgresql.insert(table).on_conflict_do_nothing(),
        }

    def __call__(self, c: Connection, rows: Rows) -> int:
        """How many rows were new."""
        return _run(c, self._by_dialect[c.dialect.name], rows)

    def or_refuse(self, c: Connection, row: Mapping[str, Any], field: str, value: str) -> None:
        """Insert one row, or raise `already-exists`."""
        if not self(c, row):
            raise PlatformError("already-exists", field=field, value=value)


def _run(c: Connection, statement: Any, rows: Rows) -> int:
    if not rows:
        return 0
    # SQLAlchemy counts the rows of an insert only when asked.
    result: CursorResult[Any] = c.execute(statement, rows, execution_options={"preserve_rowcount": True})
    return result.rowcount
