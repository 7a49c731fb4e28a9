"""Credentials of node daemons: derived from the server's secret, the node's name and a generation that grows.

Issuing anew ends the one before; revoking ends it without a next. Only the generation is stored: below zero, revoked.
"""

import hmac

from sqlalchemy import Connection

from headway.domain.errors import PlatformError
from headway.domain.node_events import NodeCredentialIssued, NodeCredentialRevoked
from headway.server.platform import Platform
from headway.store import cursors, facts, nodes

GENERATION = "node-credential:"


def issue(platform: Platform, node: str, by: str) -> str:
    """A new credential for a node; the earlier one opens nothing from now on. Raises `not-found`."""
    with platform.database.write() as c:
        _find(c, node)
        generation = abs(cursors.get(c, GENERATION + node)) + 1
        cursors.set(c, GENERATION + node, generation)
        facts.append(c, NodeCredentialIssued(at=platform.clock.now(), by=by, node=node))
    return platform.tokens.of_node(node, generation)


def revoke(platform: Platform, node: str, by: str) -> None:
    """Take nothing more from a node's daemon. Raises `not-found`."""
    with platform.database.write() as c:
        _find(c, node)
        generation = cursors.get(c, GENERATION + node)
        if generation > 0:
            cursors.set(c, GENERATION + node, -generation)
            facts.append(c, NodeCredentialRevoked(at=platform.clock.now(), by=by, node=node))


def check(platform: Platform, node: str, authorization: str | None) -> None:
    """Let a node's daemon in with its own credential only. Raises `not-logged-in`."""
    _, _, token = (authorization or "").partition(" ")
    with platform.database.read() as c:
        generation = cursors.get(c, GENERATION + node)
    expected = platform.tokens.of_node(node, generation)
    if generation <= 0 or not hmac.compare_digest(token.strip().encode(), expected.encode()):
        raise PlatformError("not-logged-in")


def _find(c: Connection, node: str) -> None:
    names = [known.name for known in nodes.all(c)]
    if node not in names:
        raise PlatformError("not-found", what="node", value=node, near=", ".join(names[:10]))
