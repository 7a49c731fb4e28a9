"""Retests: a verified program on closed nodes, once nothing else runs there, and what its numbers say.

A retest is a job like any other, with its devices in the ledger; only that it goes to exactly these nodes. No plan
orders it: its nodes are closed to every other job, and to any other retest, so there is nobody to be ordered with.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection

from headway.diagnosis.cases.retest import Judgement, Measured, Outcome, RetestShape, judge
from headway.domain.attempt import Attempt
from headway.domain.errors import PlatformError
from headway.domain.ids import JobId
from headway.domain.job import Conditions, Job, JobSpec
from headway.domain.lifecycle import JobState
from headway.domain.node_events import ReferenceSet, RetestEnded, RetestRequested
from headway.domain.resources import Node
from headway.server.operations.jobs.submit import Submission, enqueue, specify
from headway.server.operations.nodes import cordoning
from headway.server.operations.people.directory import Change
from headway.server.platform import Platform
from headway.server.secrets import make_id
from headway.store import facts, nodes, retests
from headway.store.nodes import Cordon
from headway.store.retests import Reference, Retest

TEMPLATE = "retest"
CLOSED_FOR_IT = "retest"
MARK = b"headway-retest "
LAST_BYTES = 64 << 10


@dataclass(frozen=True, slots=True)
class Wish:
    """What an operator asks for. None: all devices that the smallest node has, and the template's own time."""

    nodes: Sequence[str]
    project: str
    devices_per_node: int | None = None
    as_reference: bool = False
    seconds: int | None = None


def request(platform: Platform, c: Connection, change: Change, wish: Wish) -> Retest:
    """Close the nodes, if they are not, and queue the retest.

    Raises `not-found`, `invalid-field` for nodes of several pools or cards that are not there, `retest-open`.
    """
    found = _nodes(c, wish.nodes)
    devices = wish.devices_per_node or min(node.devices for node in found)
    if not 0 < devices <= min(node.devices for node in found):
        rule = f"1 … {min(node.devices for node in found)}"
        raise PlatformError("invalid-field", field="devices_per_node", value=devices, rule=rule)
    names = tuple(node.name for node in found)
    _check_none_open(c, names)
    spec = _specify(platform, c, change, wish, found, devices)
    job = enqueue(c, Job(JobId(make_id("j")), spec, change.by, JobState.QUEUED, change.at), change.at, change.by)
    shape = RetestShape(found[0].engine, found[0].device_type, len(found), devices, spec.template)
    retest = Retest(make_id("r"), job.id, names, shape, wish.as_reference, change.by, change.at)
    retests.insert(c, retest)
    closed = nodes.cordons(c)
    for name in names:
        cordon = closed.get(name, Cordon(CLOSED_FOR_IT))
        cordoning.put(c, change, name, replace(cordon, needs_retest=True))
    facts.append(c, RetestRequested(at=change.at, by=change.by, retest=retest.id, job=job.id, nodes=names))
    return retest


def conclude(platform: Platform, c: Connection, retest: Retest, job: Job, said: Measured | None) -> Outcome | None:
    """Keep the outcome once, with its facts; a passed retest ends the cordon of its nodes. None: kept already."""
    change = Change("server", platform.clock.now())
    usable = said is not None and not said.wrong
    if retest.as_reference and said is not None and usable:
        _set_reference(c, retest, said.speeds)
    judged = _judged(c, retest, job, said)
    if not retests.end(c, retest.id, change.at, said, judged):
        return None
    ended = RetestEnded(
        at=change.at,
        by=change.by,
        retest=retest.id,
        job=job.id,
        nodes=retest.nodes,
        outcome=judged.outcome,
        low=tuple(finding.name for finding in judged.findings if finding.is_low) + judged.missing,
        wrong=judged.wrong,
    )
    facts.append(c, ended)
    if judged.outcome is Outcome.PASSED:
        closed = nodes.cordons(c)
        for name in retest.nodes:
            if name in closed:
                nodes.cordon(c, name, replace(closed[name], needs_retest=False, until=change.at))
    return judged.outcome


def read_result(platform: Platform, attempt: Attempt) -> Measured | None:
    """The numbers that rank 0 printed last; None where it printed none that can be read."""
    size = platform.logs.size(attempt.id, 0)
    start = max(0, size - LAST_BYTES)
    _, tail = platform.logs.read_sound(attempt.id, 0, start, size - start)
    lines = [line for line in tail.splitlines() if line.startswith(MARK)]
    try:
        told: dict[str, Any] = json.loads(lines[-1][len(MARK) :])
        speeds = {str(name): float(value) for name, value in told["speeds"].items()}
        return Measured(speeds, tuple(str(name) for name in told["wrong"]))
    except (IndexError, KeyError, TypeError, ValueError, AttributeError):
        return None


@dataclass(frozen=True, slots=True)
class Standing:
    """What a retest waits for: jobs on its nodes, nodes that somebody outside Headway uses, nodes that are away."""

    jobs: tuple[JobId, ...] = ()
    occupied: tuple[str, ...] = ()
    away: tuple[str, ...] = ()


def in_the_way(c: Connection, wanted: Sequence[str], live: Sequence[Attempt]) -> Standing:
    """What keeps these nodes, closed to all others, from their retest."""
    running = {a.job for a in live if any(placement.node in wanted for placement in a.placements)}
    taken = set(nodes.occupied(c))
    usable = {node.name for node in nodes.all(c) if node.state in ("up", "cordoned")}
    return Standing(
        jobs=tuple(sorted(running)),
        occupied=tuple(name for name in wanted if name in taken),
        away=tuple(name for name in wanted if name not in usable),
    )


def is_idle(c: Connection, retest: Retest, live: Sequence[Attempt]) -> bool:
    """Whether nobody, in Headway or outside it, has a device of these nodes, and all of them can be used."""
    return in_the_way(c, retest.nodes, live) == Standing()


def _judged(c: Connection, retest: Retest, job: Job, said: Measured | None) -> Judgement:
    if said is None and job.state is JobState.STOPPED:
        return Judgement(Outcome.INCONCLUSIVE)
    return judge(said, retests.speeds(c, retest.shape))


def _set_reference(c: Connection, retest: Retest, speeds: dict[str, float]) -> None:
    reference = Reference(str(retest.shape), speeds, retest.id, retest.requested_by, retest.requested_at)
    retests.put_reference(c, reference)
    said = ReferenceSet(
        at=retest.requested_at,
        by=retest.requested_by,
        retest=retest.id,
        shape=str(retest.shape),
        speeds=speeds,
    )
    facts.append(c, said)


def _nodes(c: Connection, names: Sequence[str]) -> list[Node]:
    if not names or len(set(names)) != len(names):
        raise PlatformError("invalid-field", field="nodes", value=", ".join(names), rule="rule-each-once")
    known = nodes.all(c)
    found = [cordoning.find(known, name) for name in sorted(names)]
    if len({(node.engine, node.device_type) for node in found}) > 1:
        shown = ", ".join(f"{node.name} ({node.engine}/{node.device_type})" for node in found)
        raise PlatformError("invalid-field", field="nodes", value=shown, rule="rule-one-pool")
    return found


def _check_none_open(c: Connection, names: Sequence[str]) -> None:
    for retest in retests.still_open(c):
        for name in set(names).intersection(retest.nodes):
            raise PlatformError("retest-open", node=name, retest=retest.id, job=retest.job)


def _specify(
    platform: Platform, c: Connection, change: Change, wish: Wish, found: Sequence[Node], devices: int
) -> JobSpec:
    wanted = {
        "nodes": len(found),
        "devices_per_node": devices,
        "ranks_per_node": devices,
        "device_types": [found[0].device_type],
    }
    blanks = {} if wish.seconds is None else {"seconds": wish.seconds}
    name = f"retest-{found[0].name}"[:60]
    submission = Submission(name, wish.project, TEMPLATE, parameters=blanks, resources=wanted)
    spec = specify(platform, c, submission, change.by)
    return replace(spec, conditions=Conditions(pinned=tuple(node.name for node in found)))
