"""A verdict on what a drill broke: whether it was right without knowing of the drill, and that it is nobody's fault.

Decides by what was done; it never makes a wrong verdict right.
"""

from dataclasses import replace

from headway.diagnosis.cause import Cause, Retry
from headway.diagnosis.verdict import Fault, Owner, Verdict
from headway.domain.drill import Kill

EXPECTED = {
    Kill.RANK: frozenset({Fault.KILLED}),
    Kill.STOP: frozenset({Fault.STALLED}),
    Kill.AGENT: frozenset({Fault.AGENT_LOST, Fault.NODE_DOWN}),
    Kill.NODE: frozenset({Fault.NODE_DOWN}),
}
_OF_NODES = (Kill.AGENT, Kill.NODE)


def is_right(kill: Kill, rank: int, node: str | None, verdict: Verdict) -> bool:
    """Whether a verdict names the class and the place of a drill: its rank; the node of an agent or a node; storage."""
    if kill is Kill.MOUNT:
        return verdict.cause == Cause.STORAGE_IO
    if verdict.fault not in EXPECTED.get(kill, frozenset()):
        return False
    return verdict.node == node if kill in _OF_NODES else verdict.rank == rank


def as_drill(verdict: Verdict) -> Verdict:
    """The verdict as it stands where Headway broke the attempt: nobody's move, and worth another try."""
    if verdict.fault in (Fault.NONE, Fault.STOPPED):
        return verdict
    return replace(verdict, drill=True, owner=Owner.NOBODY, retry=True, advice=Retry.RESTART_SAME_NODES)
