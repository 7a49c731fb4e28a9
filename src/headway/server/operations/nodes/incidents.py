"""Failures of the last days as incidents: what failed together, and how long how many cards stood idle for it."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import Connection

from headway.diagnosis.cases.incidents import Failure, Incident, incidents
from headway.diagnosis.cases.shared import OF_MOUNTS, Disk, shares
from headway.diagnosis.verdict import Fault, Verdict
from headway.domain.attempt import Attempt
from headway.domain.events import VerdictReached
from headway.domain.ids import JobId
from headway.domain.job import Job
from headway.domain.resources import Node
from headway.server.operations.agents.scenes import scenes_of
from headway.server.platform import Platform
from headway.store import attempts, facts, jobs, nodes, verdicts

NO_FAILURE = frozenset({Fault.NONE, Fault.STOPPED})
SWITCH = "switch"


def recent(platform: Platform, c: Connection, since: datetime, projects: frozenset[str] | None) -> tuple[Incident, ...]:
    """Incidents since a moment, the dearest first; `projects`: only failures of their jobs (None: of all)."""
    known = {node.name: node for node in nodes.all(c)}
    failures = []
    for job_id, tries in _by_job(c, since).items():
        job = jobs.get(c, job_id)
        if job is not None and (projects is None or job.spec.project in projects):
            failures += _failures(platform, c, job, tries, known)
    return incidents(failures, platform.clock.now())


def _by_job(c: Connection, since: datetime) -> dict[JobId, list[Attempt]]:
    """Jobs with a verdict since then, each with all of its attempts."""
    told = facts.all(c, kinds=(VerdictReached.kind,))
    touched = dict.fromkeys(fact.job for fact in told if isinstance(fact, VerdictReached) and fact.at >= since)
    return {job: [a for a in attempts.of_job(c, job) if (a.ended_at or since) >= since] for job in touched}


def _failures(
    platform: Platform, c: Connection, job: Job, tries: list[Attempt], known: Mapping[str, Node]
) -> list[Failure]:
    found = []
    for attempt in tries:
        verdict = verdicts.get(c, attempt.id)
        if verdict is None or verdict.fault in NO_FAILURE or verdict.drill or attempt.ended_at is None:
            continue
        after = next((other for other in tries if other.number == attempt.number + 1), None)
        ended = job.ended_at if job.state.is_terminal else None
        failure = Failure(
            at=verdict.at or attempt.ended_at,
            job=job.id,
            fault=verdict.fault,
            devices=attempt.devices,
            nodes=tuple(placement.node for placement in attempt.placements),
            until=ended if after is None else after.started_at or ended,
            shares=shares(verdict, _switch(verdict, known), job.spec, _disks(platform, verdict)),
        )
        found.append(failure)
    return found


def _switch(verdict: Verdict, known: Mapping[str, Node]) -> str | None:
    node = known.get(verdict.node or "")
    return None if node is None else node.labels.get(SWITCH)


def _disks(platform: Platform, verdict: Verdict) -> list[Disk]:
    """What its agents saw of the mounts where it happened; nothing is read for a fault that no mount can be at."""
    if verdict.cause not in OF_MOUNTS:
        return []
    scenes = scenes_of(platform, verdict.attempt)
    return [disk for scene in scenes if verdict.node in (None, scene.node) for disk in scene.disks]
