"""Nodes from which two witnesses hear nothing: the server from the agent, and the engine from the node itself.

One alone proves nothing: an agent may be stopped, a batch system's own daemon restarted. Both together are a node that
is down, long before the batch system's time-outs say so.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import cast

from headway.domain.attempt import Attempt
from headway.domain.errors import PlatformError, say
from headway.domain.lifecycle import AttemptState
from headway.engines.protocol import Capability, Cause, Engine, Observation, Sight, WatchesNodes
from headway.server.platform import Platform
from headway.store import agents, attempts

Part = tuple[Attempt, str]


async def unheard(platform: Platform, engine: Engine, silent: Sequence[Part]) -> list[Observation]:
    """Parts among the `silent` whose nodes do not answer their engine either; none while it cannot be asked."""
    if not silent or Capability.WATCHES_NODES not in engine.can:
        return []
    try:
        down = await cast(WatchesNodes, engine).unresponsive({node for _, node in silent})
    except PlatformError:
        return []
    now = platform.clock.now()
    return [
        Observation(attempt.id, node, Sight.AGENT_LOST, now, say("no-answer"), Cause.NODE_FAIL)
        for attempt, node in silent
        if node in down
    ]


def silent_parts(platform: Platform, engine: str) -> list[Part]:
    """Parts of an engine's running attempts whose agents have spoken, and then been silent for too long."""
    now = platform.clock.now()
    with platform.database.read() as c:
        running = [one for one in attempts.live(c) if one.engine == engine and one.state == AttemptState.RUNNING]
        parts = {attempt: agents.of_attempt(c, attempt.id) for attempt in running}
    return [
        (attempt, part.node)
        for attempt, told in parts.items()
        for part in told
        if part.ended_at is None and _is_silent(platform, part.last_at, now)
    ]


def _is_silent(platform: Platform, last_at: datetime, now: datetime) -> bool:
    return now - last_at >= platform.settings.node_silent
