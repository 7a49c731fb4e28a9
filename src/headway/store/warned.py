"""What people were told once and are not told again."""

from datetime import datetime

from sqlalchemy import Connection

from headway.store import schema
from headway.store.upsert import InsertNew

_FIRST = InsertNew(schema.warned)


def first(c: Connection, key: str, at: datetime) -> bool:
    """Whether this is the first time."""
    return _FIRST(c, {"key": key, "at": at}) > 0
