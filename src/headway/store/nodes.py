"""Nodes as the engines last showed them, and which of them an operator has cordoned."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Update, bindparam, select, update

from headway.domain.errors import PlatformError
from headway.domain.resources import Node, NodeState, Occupied
from headway.store import schema, world
from headway.store.shape import Shape
from headway.store.upsert import Upsert

_nodes = schema.nodes
_SHAPE = Shape(Node, _nodes)
GONE = "not-shown"
"""Why a node is down that its engine does not show any more."""
# An operator's cordon is kept beside what the engine shows, so that the next inventory does not lift it.
_KEPT = ("cordon", "cordon_until", "needs_retest", "occupied")
_PUT = Upsert(_nodes, change=lambda _new: {name: _nodes.c[name] for name in _KEPT})
_ALL = select(*_SHAPE.columns, _nodes.c.cordon).order_by(_nodes.c.name)
_ONE = update(_nodes).where(_nodes.c.name == bindparam("of"))
_CORDON = _ONE.values(cordon=bindparam("why"), cordon_until=bindparam("until"), needs_retest=bindparam("retest"))
_CORDONED = select(_nodes.c.name, _nodes.c.cordon, _nodes.c.cordon_until, _nodes.c.needs_retest).where(
    _nodes.c.cordon.is_not(None)
)
_SET = _ONE.values(state=bindparam("after"), reason=bindparam("why"))
_UNCORDON = _SET.values(cordon=None, cordon_until=None, needs_retest=None)
_SET_OCCUPIED = _ONE.values(occupied=bindparam("by_others"))
_ALL_OCCUPIED = select(_nodes.c.name, _nodes.c.occupied).where(_nodes.c.occupied.is_not(None))
_OCCUPIED = select(_nodes.c.name, _nodes.c.occupied).where(_nodes.c.engine == bindparam("engine"))


@dataclass(frozen=True, slots=True)
class Cordon:
    """Why an operator has closed a node.

    `until`: it opens by itself then; `needs_retest`: only a passed retest opens it.
    """

    reason: str
    until: datetime | None = None
    needs_retest: bool = False


def put(c: Connection, nodes: Sequence[Node], at: datetime) -> bool:
    """Keep whole inventories: a node that its engine no longer lists is down. Returns whether anything changed."""
    before = _shown(c)
    now = {node.name: node for node in nodes}
    engines = {node.engine for node in nodes}
    for name, node in before.items():
        if node.engine in engines and name not in now:
            now[name] = replace(node, state=NodeState.DOWN, reason=GONE)
    changed = any(before.get(name) != node for name, node in now.items())
    if changed:
        _PUT(c, [_SHAPE.row(node, **dict.fromkeys(_KEPT), seen_at=at) for node in now.values()])
        world.bump(c)
    return changed


def occupy(c: Connection, engine: str, occupied: Sequence[Occupied]) -> bool:
    """Keep what others than Headway use of an engine's nodes now; whether anything changed."""
    by_node: dict[str, list[Occupied]] = {}
    for one in sorted(occupied, key=lambda one: (one.by, one.devices, str(one.until))):
        by_node.setdefault(one.node, []).append(one)
    known = {row.name: row.occupied or () for row in c.execute(_OCCUPIED, {"engine": engine})}
    now = {name: tuple(by_node.get(name, ())) for name in known}
    changed = [name for name in known if known[name] != now[name]]
    for name in changed:
        c.execute(_SET_OCCUPIED, {"of": name, "by_others": now[name] or None})
    if changed:
        world.bump(c)
    return bool(changed)


def occupied(c: Connection) -> dict[str, tuple[Occupied, ...]]:
    """What others than Headway use, by node; nodes of which they use nothing are left out."""
    return {row.name: row.occupied for row in c.execute(_ALL_OCCUPIED)}


def all(c: Connection) -> list[Node]:
    """Every node by name; one that is cordoned and not down says so, with the operator's reason."""
    return [_effective(Node(*row[:-1]), row[-1]) for row in c.execute(_ALL)]


def cordon(c: Connection, name: str, cordon: Cordon) -> None:
    """Close a node until it is set up again here. Raises `not-found`."""
    values = {"of": name, "why": cordon.reason, "until": cordon.until, "retest": cordon.needs_retest}
    _change(c, _CORDON, values)


def cordons(c: Connection) -> dict[str, Cordon]:
    """What operators have closed, by node."""
    return {name: Cordon(why, until, bool(retest)) for name, why, until, retest in c.execute(_CORDONED)}


def set_state(c: Connection, name: str, state: NodeState, reason: str | None) -> None:
    """Note a state until the next inventory; `up` ends a cordon. Raises `not-found`."""
    statement = _UNCORDON if state is NodeState.UP else _SET
    _change(c, statement, {"of": name, "why": reason, "after": state})


def _change(c: Connection, statement: Update, values: dict[str, Any]) -> None:
    if not c.execute(statement, values).rowcount:
        raise PlatformError("not-found", what="node", value=values["of"])
    world.bump(c)


def _shown(c: Connection) -> dict[str, Node]:
    return {node.name: node for node in _SHAPE.all(c, _SHAPE.select())}


def _effective(node: Node, cordon: str | None) -> Node:
    if cordon is None or node.state is NodeState.DOWN:
        return node
    return replace(node, state=NodeState.CORDONED, reason=cordon or None)
