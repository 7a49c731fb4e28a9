"""Serve: follow the replicas of every service, and give the gateway its routes when they change.

The gateway serves on while this server is away: it reads one file that is replaced atomically.
"""

import asyncio
import json
import os
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http.client import HTTPConnection, HTTPException
from typing import Any

import structlog

from headway.domain.asset_events import ReplicaReady
from headway.domain.ids import JobId
from headway.domain.job import Job
from headway.domain.lifecycle import JobState
from headway.domain.service import Replica, ReplicaState
from headway.registry.routes import routes
from headway.server.gateway_process import ensure
from headway.server.platform import Platform
from headway.store import attempts, facts, jobs, services

log = structlog.get_logger("headway.serve")
PROBE_S = 2.0
GATEWAY_EVERY = timedelta(seconds=5)
PROBE_EVERY = timedelta(seconds=10)
FAILURES_BORNE = 2  # in a row; the next one takes a ready replica off the routes


@dataclass(slots=True)
class Health:
    """What the probes of a ready replica said lately."""

    probed_at: datetime
    failures: int = 0


@dataclass(slots=True)
class Serve:
    """The loop's own memory: how ready replicas answer, and the routes as the gateway has them."""

    health: dict[JobId, Health] = field(default_factory=dict)
    written: list[dict[str, Any]] | None = None
    generation: int = 0
    gateway_at: datetime | None = None

    async def __call__(self, platform: Platform) -> None:
        found = await asyncio.to_thread(_changing, platform)
        self.health = {job.id: self.health[job.id] for _, job, _ in found if job.id in self.health}
        await asyncio.gather(*(asyncio.to_thread(self._follow, platform, *each) for each in found))
        await asyncio.to_thread(self._write_routes, platform)
        await asyncio.to_thread(self._keep_gateway, platform)

    def _follow(self, platform: Platform, replica: Replica, job: Job, endpoint: str | None) -> None:
        state = self._state_of(platform, replica, job, endpoint)
        if state != replica.state:
            _record(platform, replica, state, endpoint)

    def _state_of(self, platform: Platform, replica: Replica, job: Job, endpoint: str | None) -> ReplicaState:
        if job.state.is_terminal or job.state == JobState.STOPPING:
            return ReplicaState.GONE
        if job.state != JobState.RUNNING or endpoint is None:
            return ReplicaState.STARTING
        path = job.spec.ready_path or "/health"
        if replica.state == ReplicaState.READY and replica.endpoint == endpoint:
            well = self._is_well(platform.clock.now(), job.id, endpoint, path)
        elif well := _answers(endpoint, path):
            self.health[job.id] = Health(platform.clock.now())
        return ReplicaState.READY if well else ReplicaState.STARTING

    def _is_well(self, now: datetime, job: JobId, endpoint: str, path: str) -> bool:
        """Whether a ready replica still counts as such: asked now and then, and given a few chances."""
        known = self.health.get(job)
        if known is not None and known.probed_at <= now < known.probed_at + PROBE_EVERY:
            return True
        failures = 0 if _answers(endpoint, path) else 1 + (known.failures if known else 0)
        self.health[job] = Health(now, failures)
        return failures <= FAILURES_BORNE

    def _keep_gateway(self, platform: Platform) -> None:
        now = platform.clock.now()
        if self.gateway_at is None or now - self.gateway_at >= GATEWAY_EVERY:
            if ensure(platform.settings):
                log.warning("gateway started")
            self.gateway_at = now

    def _write_routes(self, platform: Platform) -> None:
        path = platform.gateway / "routes.json"
        if self.written is None:
            self.written, self.generation = _read_routes(path)
        with platform.database.read() as c:
            wanted = routes(services.all(c), services.replicas(c), self.generation + 1)
        if wanted["services"] == self.written:
            return
        temporary = path.with_suffix(".new")
        temporary.write_text(json.dumps(wanted))
        os.replace(temporary, path)
        self.written, self.generation = wanted["services"], wanted["generation"]


def _read_routes(path: os.PathLike[str]) -> tuple[list[dict[str, Any]], int]:
    try:
        with open(path, encoding="utf-8") as file:
            known = json.load(file)
        return known["services"], known["generation"]
    except (OSError, ValueError, KeyError):
        return [], 0


def _changing(platform: Platform) -> list[tuple[Replica, Job, str | None]]:
    """Every replica that is not gone, with its job and where its newest attempt listens."""
    found = []
    with platform.database.read() as c:
        for replica in services.replicas(c):
            job = jobs.get(c, replica.job)
            if replica.state == ReplicaState.GONE or job is None:
                continue
            tries = attempts.of_job(c, job.id)
            handle = attempts.handle(c, tries[-1].id) if tries else None
            found.append((replica, job, handle["endpoint"] if handle else None))
    return found


def _answers(endpoint: str, path: str) -> bool:
    host, _, port = endpoint.rpartition(":")
    connection = HTTPConnection(host, int(port), timeout=PROBE_S)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _record(platform: Platform, replica: Replica, state: ReplicaState, endpoint: str | None) -> None:
    """Write how a replica stands now, unless somebody changed it since it was looked at."""
    now = platform.clock.now()
    with platform.database.write() as c:
        if replica not in services.replicas(c, replica.service):
            return
        log.info("replica", service=replica.service, version=replica.version, state=state, endpoint=endpoint)
        changed = Replica(replica.service, replica.version, replica.job, state, endpoint)
        services.put_replica(c, changed)
        if state == ReplicaState.READY and endpoint is not None:
            ready = ReplicaReady(
                at=now,
                by="server",
                service=replica.service,
                version=replica.version,
                job=replica.job,
                endpoint=endpoint,
            )
            facts.append(c, ready)
