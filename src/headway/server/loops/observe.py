"""Observe: refresh the nodes, look at every live attempt through its engine, and stop what was asked to stop.

The agents' reports are the first witness; this loop notices what no agent can say: that an agent died, never began, or
does not obey. Unknown is not dead.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import cast

import structlog
from pydantic import TypeAdapter
from sqlalchemy import Connection

from headway.domain.attempt import Attempt
from headway.domain.errors import PlatformError
from headway.domain.events import AgentLost, AttemptWaited
from headway.domain.ids import AttemptId
from headway.domain.lifecycle import AttemptState
from headway.domain.resources import NodeState, Occupied
from headway.engines.protocol import (
    START_FAILED,
    WITHDRAWN,
    Capability,
    Cause,
    Engine,
    Handle,
    Inventory,
    Notice,
    Notices,
    Nudges,
    Observation,
    Occupancy,
    Sight,
)
from headway.server.operations.agents.batch_ends import explain, unexplained
from headway.server.operations.agents.batch_words import has_news, heed
from headway.server.operations.agents.report import GANG_GRACE, broken_since
from headway.server.operations.agents.silence import silent_parts, unheard
from headway.server.operations.jobs.drilled_nodes import Away, away, told_of, without
from headway.server.operations.jobs.settle import LOST, settle
from headway.server.operations.jobs.stopping import overdue, stop
from headway.server.platform import Platform
from headway.store import agents, attempts, drills, facts, nodes
from headway.store.agents import NodeReport

log = structlog.get_logger("headway.observe")
HANDLES = TypeAdapter(Handle)
INVENTORY_EVERY = timedelta(seconds=10)
FAILED_NODE = frozenset({Cause.NODE_FAIL, Cause.BOOT_FAIL})
PATIENCE = {Sight.AGENT_LOST: timedelta(seconds=10), Sight.ABSENT: timedelta(seconds=30)}
START_FAILED_PATIENCE = timedelta(seconds=10)  # an agent that lives tells it itself, with its ranks' last words


@dataclass(frozen=True, slots=True)
class Stop:
    """An attempt whose engine is to end it."""

    handle: Handle
    grace: timedelta


@dataclass(slots=True)
class Observe:
    """The loop's own memory: since when a node's part has been seen gone, when the inventory was read, and which
    attempts it has called lost, so that their engines give up what they still hold for them."""

    inventory_at: datetime | None = None
    gone_since: dict[tuple[AttemptId, str], datetime] = field(default_factory=dict)
    lost: set[AttemptId] = field(default_factory=set)

    async def __call__(self, platform: Platform) -> None:
        gone = await asyncio.to_thread(_away, platform)
        await self._inventory(platform, gone)
        await asyncio.to_thread(_enforce_limits, platform)
        handles, stops, waited_for = await asyncio.to_thread(_live, platform)
        live = {handle.attempt for handle in handles}
        self.gone_since = {part: since for part, since in self.gone_since.items() if part[0] in live}
        for handle in waited_for:
            await _nudge(platform, handle)
        for engine in platform.engines.values():
            mine = [handle for handle in handles if handle.engine == engine.name]
            late = await asyncio.to_thread(_unexplained, platform, engine)
            told = told_of(await engine.observe([*mine, *late]), gone)
            await asyncio.to_thread(_explain, platform, told)
            seen = [*(one for one in told if one.attempt in live), *await self._unheard(platform, engine)]
            notices = await _notices(engine, mine)
            await asyncio.to_thread(_heed, platform, seen, notices)
            if await asyncio.to_thread(self._apply, platform, seen):
                platform.wake("diagnose", "schedule", "meter")
        for due in [*stops, *await asyncio.to_thread(self._given_up, platform)]:
            await _stop(platform, due)

    async def _unheard(self, platform: Platform, engine: Engine) -> list[Observation]:
        if Capability.WATCHES_NODES not in engine.can:
            return []
        return await unheard(platform, engine, await asyncio.to_thread(silent_parts, platform, engine.name))

    async def _inventory(self, platform: Platform, gone: Away) -> None:
        now = platform.clock.now()
        if self.inventory_at is not None and now - self.inventory_at < INVENTORY_EVERY:
            return
        for engine in platform.engines.values():
            try:
                inventory = await engine.inventory()
                others = await cast(Occupancy, engine).occupied() if Capability.OCCUPANCY in engine.can else ()
            except PlatformError as error:
                log.warning("inventory unknown", engine=engine.name, error=str(error))
                continue
            shown = replace(inventory, nodes=without(inventory.nodes, gone))
            if await asyncio.to_thread(_put_nodes, platform, engine.name, shown, others):
                platform.wake("schedule")
        self.inventory_at = now

    def _apply(self, platform: Platform, seen: Sequence[Observation]) -> bool:
        """End parts that have been gone for longer than their agent may take to say so itself."""
        over = [observation for observation in seen if self._is_over(platform, observation)]
        if not over:
            return False
        now = platform.clock.now()
        with platform.database.write() as c:
            for observation in over:
                attempt = attempts.get(c, observation.attempt)
                part = {p.node: p for p in agents.of_attempt(c, observation.attempt)}.get(observation.node)
                if attempt is None or (part is not None and part.ended_at is not None):
                    continue
                if _reason(observation) == LOST:
                    self.lost.add(attempt.id)
                    facts.append(c, _lost(attempt, observation, now))
                if observation.cause in FAILED_NODE:
                    # Nothing else is put there before the engine has been asked again.
                    nodes.set_state(c, observation.node, NodeState.DOWN, observation.cause)
                    self.inventory_at = None
                agents.upsert(c, self._silent_part(observation, part, now))
                if attempt.waiting and _is_withdrawn(observation):
                    facts.append(c, _had_nothing(attempt, now))
                settle(c, attempt, at=now, hold=platform.settings.hold)
        return True

    def _is_over(self, platform: Platform, observation: Observation) -> bool:
        if _is_withdrawn(observation):
            return True
        key = (observation.attempt, observation.node)
        if observation.sight in (Sight.RUNNING, Sight.UNKNOWN):
            self.gone_since.pop(key, None)
            return False
        since = self.gone_since.setdefault(key, observation.at)
        return observation.at - since >= _patience(platform, observation)

    def _given_up(self, platform: Platform) -> list[Stop]:
        """Lost attempts that are over: a batch system would keep their other nodes until its own time-outs."""
        if not self.lost:
            return []
        with platform.database.read() as c:
            over = {id for id in self.lost if (one := attempts.get(c, id)) and one.state == AttemptState.ENDED}
            found = [attempts.handle(c, id) for id in over]
        self.lost -= over
        return [Stop(HANDLES.validate_python(value), timedelta(0)) for value in found if value]

    def _silent_part(self, observation: Observation, part: NodeReport | None, now: datetime) -> NodeReport:
        """The end of a part that no agent will tell of: it was over when it was first seen gone."""
        return NodeReport(
            attempt=observation.attempt,
            node=observation.node,
            phase="ended",
            seq=part.seq if part else 0,
            first_at=now,
            last_at=part.last_at if part else now,
            ended_at=self.gone_since.get((observation.attempt, observation.node), observation.at),
            ended_reason=_reason(observation),
            detail=observation.start_failure or observation.detail or observation.sight.value,
            cause=observation.cause,
        )


def _had_nothing(attempt: Attempt, now: datetime) -> AttemptWaited:
    """It was withdrawn from a batch system's queue: it waited to its end."""
    return AttemptWaited(at=now, by=f"engine:{attempt.engine}", job=attempt.job, attempt=attempt.id, until=now)


def _lost(attempt: Attempt, observation: Observation, now: datetime) -> AgentLost:
    return AgentLost(
        at=now, by="server", job=attempt.job, attempt=attempt.id, node=observation.node, cause=observation.cause
    )


def _patience(platform: Platform, observation: Observation) -> timedelta:
    if observation.start_failure is not None:
        return START_FAILED_PATIENCE
    if observation.sight is Sight.AGENT_LOST and observation.cause in FAILED_NODE:
        return timedelta(0)  # its agent can say nothing any more
    return PATIENCE.get(observation.sight, platform.settings.agent_silent)


def _reason(observation: Observation) -> str:
    """How a part ended that no agent will tell of."""
    if _is_withdrawn(observation):
        return WITHDRAWN
    return LOST if observation.start_failure is None else START_FAILED


def _is_withdrawn(observation: Observation) -> bool:
    return observation.sight is Sight.ENDED and observation.detail == WITHDRAWN


async def _stop(platform: Platform, stop: Stop) -> None:
    """An engine that does not answer now is asked again next turn; others are not kept waiting for it."""
    try:
        await platform.engines[stop.handle.engine].stop(stop.handle, stop.grace)
    except PlatformError as error:
        log.warning("stop postponed", attempt=stop.handle.attempt, error=str(error))


async def _nudge(platform: Platform, handle: Handle) -> None:
    """Where the engine can reach them, agents hear what there is to do now instead of at their next report."""
    engine = platform.engines[handle.engine]
    if isinstance(engine, Nudges) and Capability.NUDGES in engine.can:
        await engine.nudge(handle)


async def _notices(engine: Engine, handles: Sequence[Handle]) -> Sequence[Notice]:
    """Ends that a batch system announces."""
    if not handles or Capability.NOTICES not in engine.can:
        return ()
    return await cast(Notices, engine).notices(handles)


def _heed(platform: Platform, seen: Sequence[Observation], notices: Sequence[Notice]) -> None:
    with platform.database.read() as c:
        if not has_news(c, seen, notices):
            return
    with platform.database.write() as c:
        heed(c, seen, notices, platform.clock.now())


def _unexplained(platform: Platform, engine: Engine) -> list[Handle]:
    """Attempts that have broken, of which a batch system may still say why."""
    if Capability.NOTICES not in engine.can:
        return []
    with platform.database.read() as c:
        broken = [one for one in unexplained(c, platform.clock.now()) if one.engine == engine.name]
        found = [attempts.handle(c, attempt.id) for attempt in broken]
    return [HANDLES.validate_python(value) for value in found if value]


def _explain(platform: Platform, told: Sequence[Observation]) -> None:
    if any(one.cause is not None for one in told):
        with platform.database.write() as c:
            explain(c, told, platform.clock.now())


def _away(platform: Platform) -> Away:
    with platform.database.read() as c:
        return away(c, platform.clock.now())


def _enforce_limits(platform: Platform) -> None:
    now = platform.clock.now()
    with platform.database.read() as c:
        if not overdue(c, now):
            return
    with platform.database.write() as c:
        for job in overdue(c, now):
            log.info("time limit", job=job.id, limit=str(job.spec.limit))
            stop(c, job, at=now, by="server", reason="time-limit")


def _put_nodes(platform: Platform, engine: str, found: Inventory, others: Sequence[Occupied]) -> bool:
    with platform.database.write() as c:
        changed = nodes.put(c, found.nodes, found.at)
        return nodes.occupy(c, engine, others) or changed


def _live(platform: Platform) -> tuple[list[Handle], list[Stop], list[Handle]]:
    """Every launched attempt; those to be ended; those whose agents should hear of a drill or of a broken gang."""
    with platform.database.read() as c:
        live = [attempt for attempt in attempts.live(c) if attempt.state != AttemptState.PLACED]
        found = {attempt.id: attempts.handle(c, attempt.id) for attempt in live}
        handles = {key: HANDLES.validate_python(value) for key, value in found.items() if value}
        wished = {attempt.id: _stop_of(platform, c, attempt) for attempt in live if attempt.id in handles}
        waited_for = [handles[a.id] for a in live if a.id in handles and _is_waited_for(c, a)]
    stops = [Stop(handles[key], grace) for key, grace in wished.items() if grace is not None]
    return list(handles.values()), stops, waited_for


def _is_waited_for(c: Connection, attempt: Attempt) -> bool:
    broken_gang = len(attempt.placements) > 1 and broken_since(c, attempt) is not None
    return broken_gang or bool(drills.pending(c, attempt.id, attempt.step))


def _stop_of(platform: Platform, c: Connection, attempt: Attempt) -> timedelta | None:
    """The grace of a wish to stop; a gang broken for long enough is ended by the engine, should an agent not obey."""
    wish = attempts.stop_request(c, attempt.id)
    if wish is not None:
        return wish.grace
    broken_at = broken_since(c, attempt)
    late = platform.clock.now() - 3 * GANG_GRACE
    return GANG_GRACE if broken_at is not None and broken_at < late else None
