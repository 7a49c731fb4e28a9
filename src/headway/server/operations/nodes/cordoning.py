"""Close a node to new attempts, and open it again. Headway leaves it out at once, whatever its engine can do.

An engine that cordons does so for everybody, as far as the site lets it.
"""

from typing import cast

import structlog
from sqlalchemy import Connection

from headway.domain.errors import PlatformError
from headway.domain.node_events import NodeChanged
from headway.domain.resources import Node, NodeState
from headway.engines.protocol import Capability, CordonKind, Cordons, Engine, Inventory
from headway.server.operations.people.directory import Change
from headway.server.platform import Platform
from headway.store import facts, nodes
from headway.store.nodes import Cordon

log = structlog.get_logger("headway.nodes")


def close(platform: Platform, name: str, cordon: Cordon, by: str) -> str:
    """Leave a node out of every plan from now on; returns its engine.

    Raises `not-found`, and `invalid-field` for an end that is past.
    """
    now = platform.clock.now()
    if cordon.until is not None and cordon.until <= now:
        raise PlatformError("invalid-field", field="until", value=cordon.until.isoformat(), rule=f"> {now.isoformat()}")
    with platform.database.write() as c:
        node = find(nodes.all(c), name)
        put(c, Change(by, now), name, cordon)
    return node.engine


def put(c: Connection, change: Change, name: str, cordon: Cordon) -> None:
    """Keep a cordon, with its fact."""
    nodes.cordon(c, name, cordon)
    said = NodeChanged(
        at=change.at,
        by=change.by,
        node=name,
        state=NodeState.CORDONED,
        reason=cordon.reason,
        until=cordon.until,
        needs_retest=cordon.needs_retest,
    )
    facts.append(c, said)


def check_may_open(c: Connection, name: str) -> None:
    """Raise `retest-needed` for a node that only a passed retest opens."""
    cordon = nodes.cordons(c).get(name)
    if cordon is not None and cordon.needs_retest:
        raise PlatformError("retest-needed", node=name, reason=cordon.reason)


async def close_in_engine(platform: Platform, engine: str, node: str, reason: str) -> CordonKind:
    """Close it for everybody where its engine can, and is reached; how it is closed."""
    found = _cordons(platform.engines.get(engine))
    if found is None:
        return CordonKind.EXCLUDED
    try:
        return await found.cordon(node, reason)
    except PlatformError as error:
        log.warning("cordon left to the queue", node=node, engine=engine, error=str(error))
        return CordonKind.EXCLUDED


async def open_in_engine(platform: Platform, name: str) -> Inventory:
    """Take back what its engine did, and look again. Raises `not-found`, `engine-unreachable`: nothing has changed."""
    with platform.database.read() as c:
        node = find(nodes.all(c), name)
    engine = platform.engines.get(node.engine)
    if engine is None:
        raise PlatformError("not-found", what="engine", value=node.engine, near=", ".join(platform.engines))
    found = _cordons(engine)
    if found is not None:
        await found.uncordon(name)
    return await engine.inventory()


def open_up(platform: Platform, name: str, found: Inventory, by: str) -> Node:
    """Lift Headway's cordon; the node is as its engine shows it."""
    now = platform.clock.now()
    with platform.database.write() as c:
        nodes.set_state(c, name, NodeState.UP, None)
        nodes.put(c, found.nodes, found.at)
        node = find(nodes.all(c), name)
        facts.append(c, NodeChanged(at=now, by=by, node=name, state=node.state, reason=node.reason))
    return node


def _cordons(engine: Engine | None) -> Cordons | None:
    return cast(Cordons, engine) if engine is not None and Capability.CORDONS in engine.can else None


def find(known: list[Node], name: str) -> Node:
    """The node of this name. Raises `not-found`."""
    for node in known:
        if node.name == name:
            return node
    raise PlatformError("not-found", what="node", value=name, near=", ".join(node.name for node in known))
