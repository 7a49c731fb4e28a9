"""Alert rules and what fired, oldest condition first; a record is never removed once it has fired."""

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sql
from sqlalchemy import Connection, bindparam, delete, select, update

from headway.domain.alert import AlertRecord, AlertRule
from headway.store import schema
from headway.store.shape import Shape
from headway.store.upsert import Upsert

_rules, _alerts = schema.alert_rules, schema.alerts
_SHAPE = Shape(AlertRecord, _alerts)
_PUT_RULE = Upsert(_rules)
_RULES = select(_rules.c.content).order_by(_rules.c.name)
_RULE = select(_rules.c.content).where(_rules.c.name == bindparam("of"))
_DROP_RULE = delete(_rules).where(_rules.c.name == bindparam("of"))
_INSERT = sql.insert(_alerts)
_OPEN = _SHAPE.select().where(_alerts.c.ended_at.is_(None)).order_by(_alerts.c.began, _alerts.c.id)
_GET = _SHAPE.select().where(_alerts.c.id == bindparam("id"))
_FIRED = (
    _SHAPE.select()
    .where(_alerts.c.fired_at.is_not(None), _alerts.c.began >= bindparam("since"))
    .order_by(_alerts.c.began.desc(), _alerts.c.id)
)
_OF = update(_alerts).where(_alerts.c.id == bindparam("of"))
_MOVE = _OF.values(
    fired_at=bindparam("fires"), ended_at=bindparam("ends"), value=bindparam("now_at"), worst=bindparam("most")
)
_ACKNOWLEDGE = _OF.values(
    acknowledged_by=bindparam("who"), acknowledged_at=bindparam("at"), note=bindparam("why")
).where(_alerts.c.acknowledged_at.is_(None))
_FORGET = delete(_alerts).where(_alerts.c.id == bindparam("of"), _alerts.c.fired_at.is_(None))
_TO_PUSH = (
    _SHAPE.select()
    .where(
        _alerts.c.fired_at.is_not(None),
        _alerts.c.ended_at.is_(None) | _alerts.c.pushed_at.is_(None) | (_alerts.c.pushed_at < _alerts.c.ended_at),
        _alerts.c.began >= bindparam("since"),
    )
    .order_by(_alerts.c.began, _alerts.c.id)
)
_PUSHED = _OF.values(pushed_at=bindparam("at"))


def put_rule(c: Connection, rule: AlertRule) -> None:
    """Keep a rule, in place of an earlier one of its name."""
    _PUT_RULE(c, {"name": rule.name, "content": rule})


def rule(c: Connection, name: str) -> AlertRule | None:
    """One rule."""
    found: AlertRule | None = c.execute(_RULE, {"of": name}).scalar_one_or_none()
    return found


def rules(c: Connection) -> list[AlertRule]:
    """Every rule by name."""
    return list(c.execute(_RULES).scalars())


def drop_rule(c: Connection, name: str) -> bool:
    """Take a rule away; whether there was one. What it fired stays."""
    return c.execute(_DROP_RULE, {"of": name}).rowcount > 0


def insert(c: Connection, record: AlertRecord) -> None:
    """Keep a new record."""
    c.execute(_INSERT, _SHAPE.row(record))


def get(c: Connection, id: str) -> AlertRecord | None:
    """One record."""
    return _SHAPE.one(c, _GET, {"id": id})


def still_open(c: Connection) -> list[AlertRecord]:
    """Records whose condition holds, fired or not."""
    return _SHAPE.all(c, _OPEN)


def fired(c: Connection, since: datetime) -> list[AlertRecord]:
    """Records that fired and whose condition began after a moment, newest first."""
    return _SHAPE.all(c, _FIRED, {"since": since})


def move(c: Connection, record: AlertRecord) -> None:
    """Keep a record as it is now."""
    values = {"fires": record.fired_at, "ends": record.ended_at, "now_at": record.value, "most": record.worst}
    c.execute(_MOVE, {"of": record.id, **values})


def forget(c: Connection, id: str) -> None:
    """Remove a record that never fired."""
    c.execute(_FORGET, {"of": id})


def acknowledge(c: Connection, id: str, by: str, at: datetime, note: str) -> bool:
    """Note who has seen it; whether this was the first, which stands."""
    return c.execute(_ACKNOWLEDGE, {"of": id, "who": by, "at": at, "why": note}).rowcount > 0


def to_push(c: Connection, since: datetime) -> list[AlertRecord]:
    """What an outside system is to be told (again): all that stand, and those whose end it has not heard of."""
    return _SHAPE.all(c, _TO_PUSH, {"since": since})


def pushed(c: Connection, ids: Sequence[str], at: datetime) -> None:
    """Note that an outside system has taken these."""
    for id in ids:
        c.execute(_PUSHED, {"of": id, "at": at})
