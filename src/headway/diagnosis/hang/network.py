"""Whose network failed, by links that are down and by peers that do not answer.

A connection that repeats its bytes in vain is broken, and so is the way to a host that does not answer, but either end
may be at fault: the ranks of the node that stands at the end of more broken ways than any other are. Where two nodes
stand alike nobody is named.
"""

from collections import Counter
from collections.abc import Sequence

from headway.diagnosis.hang.scene import LinkSeen, Scene, SocketSeen

_GONE = frozenset({"down", "lowerlayerdown", "notpresent"})
IN_VAIN = 2
"""A retransmission may happen on any network; two in a row without an answer are silence."""


def unlinked(scenes: Sequence[Scene]) -> tuple[tuple[int, ...], LinkSeen | None]:
    """The ranks all of whose links are down while others have one that is up."""
    down: dict[int, LinkSeen] = {}
    up: set[int] = set()
    for scene in scenes:
        for link in scene.links:
            for rank in link.ranks:
                if link.state in _GONE:
                    down.setdefault(rank, link)
                elif link.state in ("up", "unknown"):
                    up.add(rank)
    ranks = tuple(sorted(set(down) - up))
    everyone = {rank.rank for scene in scenes for rank in scene.ranks}
    return (ranks, down[ranks[0]]) if ranks and len(ranks) < len(everyone) else ((), None)


def broken(scenes: Sequence[Scene]) -> list[tuple[int, int]]:
    """Pairs of ranks between which the network is silent, once each."""
    sockets = [one for scene in scenes for one in scene.sockets]
    ends = {(one.local, one.remote): one.rank for one in sockets}
    pairs = set()
    for one in sockets:
        peer = ends.get((one.remote, one.local))
        if _is_silent(one) and peer is not None and peer != one.rank:
            pairs.add((min(peer, one.rank), max(peer, one.rank)))
    return sorted(pairs | _unreached(scenes, sockets))


def _unreached(scenes: Sequence[Scene], sockets: Sequence[SocketSeen]) -> set[tuple[int, int]]:
    """A rank and those at a host that does not answer it, where other hosts do."""
    at: dict[str, set[int]] = {}
    for one in sockets:
        at.setdefault(one.local.rpartition(":")[0], set()).add(one.rank)
    asked = [one for scene in scenes for one in scene.hosts]
    if not any(one.answers for one in asked):
        return set()
    pairs = {(one.rank, peer) for one in asked if not one.answers for peer in at.get(one.host, ())}
    return {(min(pair), max(pair)) for pair in pairs}


def unanswered(scenes: Sequence[Scene]) -> tuple[int, ...]:
    """The rank at the end of most broken ways, or the ranks, where these are of one node; else none."""
    ends = Counter(rank for pair in broken(scenes) for rank in pair)
    most = max(ends.values(), default=0)
    first = tuple(sorted(rank for rank, count in ends.items() if count == most))
    nodes = {scene.node for scene in scenes for rank in scene.ranks if rank.rank in first}
    return first if len(first) == 1 or len(nodes) == 1 < len(scenes) else ()


def _is_silent(one: SocketSeen) -> bool:
    return one.retransmits >= IN_VAIN and one.unanswered_bytes > 0
