"""An engine whose attempts follow written lives on a virtual clock, with the same five verbs as the real ones.

It keeps nothing of its own: everything is in the `World`, as it is on a machine for other engines. Starts no process.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta

from headway.domain.errors import PlatformError, say
from headway.engines.fake.world import Part, World
from headway.engines.protocol import (
    Capability,
    Cause,
    Engine,
    EngineConfig,
    Handle,
    Inventory,
    LaunchOrder,
    Observation,
    Sight,
)

FIRST_PORT = 20000


def open_engine(_config: EngineConfig) -> Engine:
    """A fake engine with a world of its own: for trying a server without starting anything."""
    return FakeEngine()


class FakeEngine:
    """Plays the lives written in a world."""

    def __init__(self, world: World | None = None, name: str = "fake") -> None:
        self.name = name
        self.world = world or World()

    @property
    def can(self) -> frozenset[Capability]:
        return frozenset({Capability.KEEPS}) if self.world.keeps else frozenset()

    async def inventory(self) -> Inventory:
        """The world's nodes."""
        self._reach()
        return Inventory(self.world.nodes, self.world.now)

    async def launch(self, order: LaunchOrder) -> Handle:
        """Begin the attempt's written life now, once."""
        self._reach()
        known = self.world.parts.get(order.attempt)
        if known:
            return known.handle
        life = self.world.lives.get(order.attempt, self.world.default)
        self._check(order, life.refuses)
        endpoint = f"127.0.0.1:{FIRST_PORT + len(self.world.parts)}" if order.wants_port else None
        handle = Handle(order.attempt, self.name, tuple(node.node for node in order.nodes), endpoint)
        self.world.parts[order.attempt] = Part(order, handle, life, self.world.now)
        return handle

    async def observe(self, handles: Sequence[Handle]) -> Sequence[Observation]:
        """What the written lives look like now; `UNKNOWN` while cut off."""
        return [self._look(handle, node) for handle in handles for node in handle.nodes]

    async def stop(self, handle: Handle, grace: timedelta) -> None:
        """Let the attempt end after what it needs to stop, at most `grace`."""
        self._reach()
        part = self.world.parts.get(handle.attempt)
        if part and part.stopped_at is None:
            part.stopped_at, part.grace = self.world.now, grace

    async def logs(self, handle: Handle, node: str) -> AsyncIterator[bytes]:
        """One line for an attempt that was launched on the node."""
        if handle.attempt in self.world.parts and node in handle.nodes:
            yield f"{handle.attempt} on {node}\n".encode()

    def _look(self, handle: Handle, node: str) -> Observation:
        part = self.world.parts.get(handle.attempt)
        if self.world.is_cut_off:
            sight, detail = Sight.UNKNOWN, say("engine-cut-off")
        elif part is None:
            sight, detail = Sight.ABSENT, None
        else:
            sight, detail = part.seen(self.world.now)
        seen = Observation(handle.attempt, node, sight, self.world.now, detail)
        if part and sight is Sight.AGENT_LOST and part.life.node_fails and node == handle.nodes[-1]:
            return replace(seen, cause=Cause.NODE_FAIL)
        if part and sight is Sight.RUNNING and part.life.queued:
            return replace(seen, waiting=part.life.queued, late=True)
        return seen

    def _check(self, order: LaunchOrder, refuses: str | None) -> None:
        sizes = {node.name: node.devices for node in self.world.nodes}
        for node in order.nodes:
            if node.node not in sizes:
                refuses = say("no-such-node", node=node.node)
            elif any(not 0 <= device < sizes[node.node] for device in node.devices):
                refuses = say("devices-of-node", node=node.node, last=sizes[node.node] - 1)
        if refuses:
            raise PlatformError("launch-refused", engine=self.name, attempt=order.attempt, detail=refuses)

    def _reach(self) -> None:
        if self.world.is_cut_off:
            raise PlatformError("engine-unreachable", engine=self.name, detail=say("cut-off"))
