"""Nodes that a drill has taken away: for a while they are down in everything that Headway is told of them.

The engine's word is played, so that detection, verdict and placement are those of a real loss. Nothing is to be undone:
a node is back as soon as its drill is scored, or a minute after it was struck, whoever restarts in between.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import Connection

from headway.domain.drill import Drill, Kill
from headway.domain.ids import AttemptId
from headway.domain.resources import Node, NodeState
from headway.engines.protocol import Cause, Observation, Sight
from headway.server.operations.agents.ranks import ranks_of
from headway.store import attempts, drills, jobs

AWAY = timedelta(seconds=60)
REASON = "drill"
Away = dict[str, AttemptId]
"""Which attempt each node was taken from."""


def away(c: Connection, now: datetime) -> Away:
    """The nodes that are away now."""
    struck = [each for each in drills.still_open(c) if each.kill is Kill.NODE and each.sent_at is not None]
    found = {node_of(c, each): each.attempt for each in struck if each.sent_at and now < each.sent_at + AWAY}
    return {node: attempt for node, attempt in found.items() if node is not None and attempt is not None}


def node_of(c: Connection, drill: Drill) -> str | None:
    """The node whose rank is named; None: the attempt is not known yet."""
    attempt = attempts.get(c, drill.attempt) if drill.attempt else None
    job = jobs.get(c, drill.job)
    if attempt is None or job is None:
        return None
    return next((node for node, ranks in ranks_of(job, attempt).items() if drill.rank in ranks), None)


def without(nodes: Iterable[Node], gone: Away) -> tuple[Node, ...]:
    """An inventory in which these nodes are down."""
    return tuple(replace(node, state=NodeState.DOWN, reason=REASON) if node.name in gone else node for node in nodes)


def told_of(seen: Sequence[Observation], gone: Away) -> list[Observation]:
    """What is seen of attempts, with the word that an engine has for the loss of a node."""
    return [
        replace(one, cause=Cause.NODE_FAIL)
        if one.sight is Sight.AGENT_LOST and gone.get(one.node) == one.attempt
        else one
        for one in seen
    ]
