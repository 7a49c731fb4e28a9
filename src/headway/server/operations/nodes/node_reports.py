"""Take one report of a node's daemon: its readings under the node's own key, its faults and inventory as facts.

A report that was recorded before changes nothing: `seq` and the facts are written in one transaction, the readings
before it, and the same reading twice is one. Readings of a node are kept apart from those of the attempts on it, whose
agents measure the same cards: nothing ever adds the two.
"""

from headway.domain.events import Fact
from headway.domain.node_events import NodeFaultSeen, NodeInventoried
from headway.server.node_wire import NodeReport, Recorded
from headway.server.platform import Platform
from headway.store import cursors, facts
from headway.store.readings import Reading

SEEN = "node-report:"


def key_of(node: str) -> str:
    """Where a node's own readings are kept; no attempt's id looks like this."""
    return f"@{node}"


def take(platform: Platform, node: str, report: NodeReport) -> Recorded:
    """Record a report once, however often it comes."""
    with platform.database.read() as c:
        known = cursors.get(c, SEEN + node)
    if report.seq <= known:
        return Recorded(seq=known)
    key = key_of(node)
    readings = [Reading(key, node, None, r.device, r.name, r.t, r.value) for r in report.readings]
    if readings:
        platform.readings.add(readings)
    with platform.database.write() as c:
        known = cursors.get(c, SEEN + node)
        if report.seq > known:
            facts.append(c, *_facts(node, report))
            cursors.set(c, SEEN + node, report.seq)
    return Recorded(seq=max(known, report.seq))


def _facts(node: str, report: NodeReport) -> list[Fact]:
    by = f"node:{node}"
    told: list[Fact] = [
        NodeFaultSeen(
            at=fault.t,
            by=by,
            node=node,
            fault=fault.kind,
            code=fault.code,
            device=fault.card,
            place=fault.device,
            pid=fault.pid,
            process=fault.process,
            count=fault.count,
            text=fault.text,
        )
        for fault in report.events
    ]
    made = report.inventory
    if made is not None:
        told.append(
            NodeInventoried(
                at=report.at,
                by=by,
                node=node,
                engine=report.engine,
                maker=made.maker,
                driver=made.driver,
                kernel=made.kernel,
                cores=made.cores,
                cards=made.cards,
            )
        )
    return told
