"""How far each loop has read the facts."""

from sqlalchemy import Connection, bindparam, select

from headway.store import schema
from headway.store.upsert import Upsert

_cursors = schema.cursors
_SET = Upsert(_cursors)
_GET = select(_cursors.c.value).where(_cursors.c.name == bindparam("name"))


def get(c: Connection, name: str) -> int:
    """A loop's place; 0 before its first."""
    return c.execute(_GET, {"name": name}).scalar() or 0


def set(c: Connection, name: str, value: int) -> None:
    """Note a loop's place, in the transaction that holds its work."""
    _SET(c, {"name": name, "value": value})
