"""The local engine's five verbs: work that may block goes to threads, everything that must last is on disk.

An engine object holds nothing that a new one on the same `run_dir` could not read again.
"""

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from headway.domain.errors import PlatformError, say
from headway.domain.ids import AttemptId, check_name
from headway.engines import leftovers
from headway.engines.local import process
from headway.engines.local.directory import DIRECTORY_MODE, NodeDirectory, directories, directories_of
from headway.engines.local.discover import LocalNode, discover
from headway.engines.local.launch import Launching
from headway.engines.local.ports import Ports
from headway.engines.local.settings import LocalSettings, parse_nodes
from headway.engines.local.watch import Seen, Watch
from headway.engines.protocol import (
    Capability,
    Engine,
    EngineConfig,
    Handle,
    Inventory,
    LaunchOrder,
    Observation,
    Sight,
)

LOG_PIECE = 65536
Key = tuple[AttemptId, str]


def utc_now() -> datetime:
    """The machine's clock."""
    return datetime.now(UTC)


def open_engine(config: EngineConfig) -> Engine:
    """The local engine of a server. Option `nodes` divides the machine, as in `n1:2,n2:2`."""
    settings = LocalSettings(
        run_dir=config.run_dir,
        agent=config.agent,
        python=config.python,
        nodes=parse_nodes(config.options.get("nodes", "")),
        ca_file=config.ca_file,
        report=config.report,
    )
    return LocalEngine(settings)


class LocalEngine:
    """This machine as one or several virtual nodes."""

    name = "local"
    can: frozenset[Capability] = frozenset({Capability.NUDGES, Capability.CLEARS, Capability.KEEPS, Capability.SHARES})
    shares = ("/",)  # its nodes are this machine

    def __init__(self, settings: LocalSettings, clock: Callable[[], datetime] = utc_now) -> None:
        self._settings, self._clock = settings, clock
        self._ports = Ports(settings.ports, self.name)
        self._launching = Launching(settings, self._ports, self.name)
        self._watch = Watch(settings, self._launching)
        self._guard = threading.Lock()
        self._nodes: dict[str, LocalNode] = {}
        if not settings.run_dir.is_dir():
            settings.run_dir.mkdir(parents=True, exist_ok=True)
            settings.run_dir.chmod(DIRECTORY_MODE)
        self._open = self._adopt()

    async def inventory(self) -> Inventory:
        """The virtual nodes; looked for once. Raises `engine-unreachable`, `invalid-field`."""
        nodes = await asyncio.to_thread(self._discover)
        return Inventory(tuple(node.node(self.name) for node in nodes.values()), self._clock())

    async def launch(self, order: LaunchOrder) -> Handle:
        """One directory and one agent per node of the attempt; again: what was not started yet, and the same handle."""
        return await asyncio.to_thread(self._launch, order)

    async def observe(self, handles: Sequence[Handle]) -> Sequence[Observation]:
        """What is seen of each node's part; besides, whatever is due for any attempt of this engine is done."""
        return await asyncio.to_thread(self._observe, handles)

    async def stop(self, handle: Handle, grace: timedelta) -> None:
        """SIGTERM to the agents now; later calls of any verb kill what outlives `grace` and a little."""
        await asyncio.to_thread(self._stop, handle, grace)

    async def nudge(self, handle: Handle) -> None:
        """SIGURG to the agents: of all signals one that does nothing to a process that does not know it yet."""
        await asyncio.to_thread(self._nudge, handle)

    async def logs(self, handle: Handle, node: str) -> AsyncIterator[bytes]:
        """What the agent and its interpreter said themselves: `agent.out`, then `agent.log`."""
        place = self._place(handle.attempt, node)
        for name in ("agent.out", "agent.log"):
            offset = 0
            while piece := await asyncio.to_thread(_read, place.path / name, offset):
                offset += len(piece)
                yield piece

    async def kept(self) -> Sequence[AttemptId]:
        """Every attempt that has a directory."""
        with self._reaching():
            return await asyncio.to_thread(leftovers.kept, self._settings.run_dir)

    async def clear(self, attempt: AttemptId) -> int | None:
        """Remove an attempt's directories, unless one is not finished with or has something untold."""
        with self._reaching():
            return await asyncio.to_thread(self._clear, attempt)

    def _clear(self, attempt: AttemptId) -> int | None:
        with self._guard:
            places = directories_of(self._settings.run_dir, attempt)
            if not all(place.is_finished for place in places):
                return None
            for place in places:
                self._forget(place)
            return leftovers.remove(self._settings.run_dir, attempt)

    def _launch(self, order: LaunchOrder) -> Handle:
        check_name("attempt", order.attempt)
        with self._reaching():
            handle = self._launching.launch(order, self._discover(), self._clock())
        places = [self._place(order.attempt, node) for node in handle.nodes]
        self._open.update({(place.attempt, place.node): place for place in places})
        for place in places:
            if place.has("closed.json"):
                self._forget(place)
        return handle

    def _observe(self, handles: Iterable[Handle]) -> list[Observation]:
        asked = [(handle.attempt, node) for handle in handles for node in handle.nodes]
        with self._guard:
            process.reap()
            places = self._open | {key: self._place(*key) for key in asked}
            seen = {key: self._look(place) for key, place in places.items()}
        now = self._clock()
        return [Observation(key[0], key[1], seen[key][0], now, seen[key][1]) for key in asked]

    def _look(self, place: NodeDirectory) -> Seen:
        if not self._settings.run_dir.is_dir():
            return Sight.UNKNOWN, say("not-there", path=str(self._settings.run_dir))
        try:
            seen = self._watch.look(place, self._clock())
        except (OSError, PlatformError) as error:
            return Sight.UNKNOWN, str(error)
        if place.has("closed.json"):
            self._forget(place)
        return seen

    def _stop(self, handle: Handle, grace: timedelta) -> None:
        with self._guard, self._reaching():
            for node in handle.nodes:
                self._watch.stop(self._place(handle.attempt, node), grace, self._clock())

    def _nudge(self, handle: Handle) -> None:
        for node in handle.nodes:
            if agent := self._place(handle.attempt, node).agent():
                agent.send(signal.SIGURG)

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        """Say `engine-unreachable` where the disk does not answer."""
        try:
            if not self._settings.run_dir.is_dir():
                raise FileNotFoundError(say("not-there", path=str(self._settings.run_dir)))
            yield
        except OSError as error:
            raise PlatformError("engine-unreachable", engine=self.name, detail=str(error)) from error

    def _discover(self) -> dict[str, LocalNode]:
        if not self._nodes:
            self._nodes = {node.name: node for node in discover(self._settings.nodes, self.name)}
        return self._nodes

    def _adopt(self) -> dict[Key, NodeDirectory]:
        """Every directory that is not finished with, whoever began it, and the ports it has."""
        found: dict[Key, NodeDirectory] = {}
        for place in directories(self._settings.run_dir):
            if not place.has("closed.json"):
                found[place.attempt, place.node] = place
                if known := place.read("handle.json"):
                    self._ports.keep(place.attempt, [port for port in (known["master_port"], known["port"]) if port])
        return found

    def _forget(self, place: NodeDirectory) -> None:
        self._open.pop((place.attempt, place.node), None)
        if not any(attempt == place.attempt for attempt, _ in list(self._open)):
            self._ports.release(place.attempt)

    def _place(self, attempt: AttemptId, node: str) -> NodeDirectory:
        return NodeDirectory(self._settings.run_dir, attempt, node)


def _read(path: Path, offset: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(offset)
            return file.read(LOG_PIECE)
    except FileNotFoundError:
        return b""
