"""Takes all readings every `readings_s`. A card tool runs beside the loop and is read when it is done.

A tool that hangs (a broken driver) is killed after ten seconds and, as long as it will not die, not started again.
"""

from __future__ import annotations

import importlib
import os
import signal
import subprocess

from headway.agent.granted import granted
from headway.agent.probes.machine import Machine
from headway.agent.probes.port import MAKERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headway.agent.order import Order
    from headway.agent.printouts.cards import Card

_PATIENCE_S = 10.0


class Sampler:
    """One node's readings as the protocol writes them."""

    def __init__(self, order: Order, directory: str) -> None:
        self._cards = granted(order, os.environ)
        self._machine = Machine(order.checkpoint_dir or directory, order.cgroup)
        self._tool = tool_of(order.device_maker)

    def sample(self, ranks: Sequence[tuple[int, int]], clock: float, at: float) -> list[dict[str, object]]:
        """What there is to read now. `ranks`: (rank, pid); `clock`: monotonic; `at`: epoch seconds."""
        readings = [reading(at, name, rank, None, value) for name, rank, value in self._machine.read(ranks, clock)]
        if self._tool is None:
            return readings
        for card in self._tool.collect(clock):
            if isinstance(card.index, int) and card.index in self._cards:
                seen_at, number = at - (clock - self._tool.started_at), self._cards[card.index]
                readings += [reading(seen_at, name, None, number, value) for name, value in card.readings()]
        self._tool.start(clock)
        return readings


class CardTool:
    """A maker's tool, started at one sample and read at the next."""

    def __init__(self, command: Sequence[str], parse: Callable[[str], list[Card]]) -> None:
        self.command = command
        self._parse = parse
        self._process: subprocess.Popen[bytes] | None = None
        self._output = b""
        self.started_at = 0.0
        self.hangs = False

    @property
    def is_running(self) -> bool:
        """Whether the last run has not been collected yet."""
        return self._process is not None

    def start(self, clock: float) -> None:
        """Start it, unless the last one still runs or the tool is not there."""
        if self._process is not None:
            return
        try:
            self._process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            return
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)
        self._output = b""
        self.started_at = clock

    def collect(self, clock: float) -> list[Card]:
        """The cards of a run that is done; none while it runs. `hangs` tells that the last run had to be killed."""
        if self._process is None or self._process.stdout is None:
            return []
        try:
            while True:
                chunk = os.read(self._process.stdout.fileno(), 65536)
                self._output += chunk
                if not chunk:
                    break
        except BlockingIOError:
            if clock > self.started_at + _PATIENCE_S:
                self.hangs = True
                self._end()
            return []
        self._process.stdout.close()
        self._process.poll()
        self._process = None
        cards = self._parse(self._output.decode("utf-8", "replace"))
        self.hangs = self.hangs and not cards
        return cards

    def close(self) -> None:
        """End the tool if it runs, and wait for it unless it will not die."""
        if self._process is None or self._process.stdout is None:
            return
        self._end()
        self._process.stdout.close()
        try:
            self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            return

    def _end(self) -> None:
        """Kill the tool and what it started: its session is its own."""
        assert self._process is not None
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except OSError:
            self._process.send_signal(signal.SIGKILL)


def tool_of(maker: str) -> CardTool | None:
    """The tool that reads a maker's cards; None for a maker without (`cpu`)."""
    if maker not in MAKERS:
        return None
    module = importlib.import_module(f"headway.agent.probes.{maker}")
    return CardTool(module.COMMAND, module.parse) if hasattr(module, "COMMAND") else None


def reading(at: float, name: str, rank: int | None, device: int | None, value: float) -> dict[str, object]:
    """One reading as the protocol writes it."""
    return {"t": at, "name": name, "rank": rank, "device": device, "value": round(value, 3)}
