"""How tables are declared: one collection of them, and the three kinds of columns. It names no table."""

from typing import Any

from sqlalchemy import BigInteger, Column, Integer, MetaData

METADATA = MetaData(
    naming_convention={
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)
# SQLite numbers rows by itself only in a column declared INTEGER.
SEQUENCE = BigInteger().with_variant(Integer, "sqlite")


def key(name: str, of: Any, *rest: Any) -> Column[Any]:
    return Column(name, of, *rest, primary_key=True)


def must(name: str, of: Any, *rest: Any) -> Column[Any]:
    return Column(name, of, *rest, nullable=False)


def may(name: str, of: Any) -> Column[Any]:
    return Column(name, of, nullable=True)
