"""Takes all readings every `readings_s`. A card tool runs beside the loop and is read when it is done.

A tool that hangs (a broken driver) is killed after ten seconds and, as long as it will not die, not started again.
"""

from __future__ import annotations

import os
import signal
import subprocess

from headway.agent.probes import ascend, nvidia
from headway.agent.probes.machine import Machine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headway.agent.order import Order
    from headway.agent.probes.cards import Card

_PATIENCE_S = 10.0
_MAKERS: dict[str, tuple[Sequence[str], Callable[[str], list[Card]]]] = {
    "nvidia": (nvidia.COMMAND, nvidia.parse),
    "ascend": (ascend.COMMAND, ascend.parse),
}


class Sampler:
    """One node's readings as the protocol writes them."""

    def __init__(self, order: Order, directory: str) -> None:
        self._order = order
        self._machine = Machine(order.checkpoint_dir or directory, order.cgroup)
        self._tool = CardTool(*_MAKERS[order.device_maker]) if order.device_maker in _MAKERS else None

    def sample(self, ranks: Sequence[tuple[int, int]], clock: float, at: float) -> list[dict[str, object]]:
        """What there is to read now. `ranks`: (rank, pid); `clock`: monotonic; `at`: epoch seconds."""
        readings = [_reading(at, name, rank, None, value) for name, rank, value in self._machine.read(ranks, clock)]
        if self._tool is None:
            return readings
        for card in self._tool.collect(clock):
            if card.index in self._order.devices:
                seen_at = at - (clock - self._tool.started_at)
                readings += [_reading(seen_at, name, None, card.index, value) for name, value in card.readings()]
        self._tool.start(clock)
        return readings


class CardTool:
    """A maker's tool, started at one sample and read at the next."""

    def __init__(self, command: Sequence[str], parse: Callable[[str], list[Card]]) -> None:
        self._command = command
        self._parse = parse
        self._process: subprocess.Popen[bytes] | None = None
        self._output = b""
        self.started_at = 0.0

    def start(self, clock: float) -> None:
        """Start it, unless the last one still runs or the tool is not there."""
        if self._process is not None:
            return
        try:
            self._process = subprocess.Popen(
                self._command,
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
        """The cards of a run that is done; none while it runs."""
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
                self._process.send_signal(signal.SIGKILL)
            return []
        self._process.stdout.close()
        self._process.poll()
        self._process = None
        return self._parse(self._output.decode("utf-8", "replace"))


def _reading(at: float, name: str, rank: int | None, device: int | None, value: float) -> dict[str, object]:
    return {"t": at, "name": name, "rank": rank, "device": device, "value": round(value, 3)}
