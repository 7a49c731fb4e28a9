"""Answers to writes by their idempotency keys, so that a repeated request is answered and not done again."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, delete, insert, select

from headway.store import schema

_keys = schema.idempotency
_FIND = select(_keys.c.request_digest, _keys.c.status, _keys.c.body).where(
    _keys.c.user == bindparam("user"), _keys.c.key == bindparam("key")
)
_PUT = insert(_keys)
_PRUNE = delete(_keys).where(_keys.c.at < bindparam("before"))


class Answer(NamedTuple):
    """What was asked, as a digest, and what was answered."""

    request_digest: str
    status: int
    body: str


def find(c: Connection, user: str, key: str) -> Answer | None:
    """What was answered to this user under this key."""
    row = c.execute(_FIND, {"user": user, "key": key}).first()
    return None if row is None else Answer(*row)


def put(c: Connection, user: str, key: str, answer: Answer, at: datetime) -> None:
    """Keep an answer, in the transaction that did what was asked."""
    c.execute(_PUT, {"user": user, "key": key, "at": at} | answer._asdict())


def prune(c: Connection, before: datetime) -> int:
    """Forget answers older than a moment; returns how many."""
    return c.execute(_PRUNE, {"before": before}).rowcount
