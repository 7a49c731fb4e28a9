"""Whose network failed, by links that are down and by connections whose peer does not answer.

A connection that repeats its bytes in vain is broken, but either end may be at fault: the rank that stands at the end
of more broken connections than any other is. Where two stand alike nobody is named.
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
    """Pairs of ranks whose connection is silent, once each."""
    sockets = [one for scene in scenes for one in scene.sockets]
    ends = {(one.local, one.remote): one.rank for one in sockets}
    pairs = set()
    for one in sockets:
        peer = ends.get((one.remote, one.local))
        if _is_silent(one) and peer is not None and peer != one.rank:
            pairs.add((min(peer, one.rank), max(peer, one.rank)))
    return sorted(pairs)


def unanswered(scenes: Sequence[Scene]) -> tuple[int, ...]:
    """The rank at the end of most broken connections; none where it is not one alone."""
    ends = Counter(rank for pair in broken(scenes) for rank in pair)
    if not ends:
        return ()
    (first, most), *others = ends.most_common()
    return (first,) if not others or others[0][1] < most else ()


def _is_silent(one: SocketSeen) -> bool:
    return one.retransmits >= IN_VAIN and one.unanswered_bytes > 0
