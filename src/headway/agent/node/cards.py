"""The node's cards: whose they are, their readings, and the inventory that is told again whenever it changes."""

from __future__ import annotations

import importlib
import re
import shutil

from headway.agent import files
from headway.agent.probes.sampler import CardTool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from headway.agent.printouts.cards import Card

# In the order they are looked for: makers whose tools also answer to another's name come first.
SEARCHED = (
    "hygon",
    "nvidia",
    "ascend",
    "cambricon",
    "metax",
    "mthreads",
    "iluvatar",
    "enflame",
    "kunlun",
    "amd",
    "intel",
)
_DRIVERS = {
    "nvidia": ("/proc/driver/nvidia/version", r"\b(\d+\.\d+(?:\.\d+)?)\b"),
    "ascend": ("/usr/local/Ascend/driver/version.info", r"^Version=(\S+)"),
    "amd": ("/sys/module/amdgpu/version", r"(\S+)"),
    "hygon": ("/sys/module/hydcu/version", r"(\S+)"),
    "cambricon": ("/sys/module/cambricon_drv/version", r"(\S+)"),
    "metax": ("/sys/module/metax/version", r"(\S+)"),
    "mthreads": ("/sys/module/mtgpu/version", r"(\S+)"),
}


class Cards:
    """The cards of one maker, read by its own tool beside the loop. `devices`: only these, None: all.

    `told`: the inventory as it was told last, which says where the cards sit before the tool has answered.
    """

    def __init__(self, maker: str | None, devices: frozenset[int] | None, told: dict[str, Any] | None) -> None:
        self._devices = devices
        self._places = _places((told or {}).get("cards") or [])
        self.maker = maker or find_maker()
        self._tool = _tool(self.maker)
        self._seen: list[Card] = []
        self.hangs = False

    def read(self, clock: float, at: float) -> list[tuple[float, int, str, float]]:
        """`(epoch seconds, card, name, value)` of the tool's last run that is done; starts the next run."""
        if self._tool is None:
            return []
        cards = [card for card in self._tool.collect(clock) if self._mine(card)]
        seen_at = at - (clock - self._tool.started_at)
        self.hangs = self._tool.hangs
        if cards:
            self._seen = cards
            self._places = _places([{"index": card.index, "bus": card.others.get("bus")} for card in cards])
        self._tool.start(clock)
        return [
            (seen_at, card.index, name, value)
            for card in cards
            if isinstance(card.index, int)
            for name, value in card.readings()
        ]

    def inventory(self) -> dict[str, Any] | None:
        """Maker, driver and cards as last seen; None before any card was seen."""
        if not self._seen:
            return None
        cards = [
            {"index": card.index, "name": card.name, "bus": card.others.get("bus"), "health": card.health}
            for card in self._seen
        ]
        return {"maker": self.maker, "driver": driver_of(self.maker), "cards": cards}

    def index_at(self, bus: str | None) -> int | None:
        """Which card sits at a PCI address, however it is written."""
        place = address(bus)
        return None if place is None else self._places.get(place)

    @property
    def known(self) -> bool:
        """Whether it can be said which card sits where, or there are none to be seen."""
        return bool(self._places) or self._tool is None

    def close(self) -> None:
        """End the tool if it runs."""
        if self._tool is not None:
            self._tool.close()

    def _mine(self, card: Card) -> bool:
        return self._devices is None or card.index in self._devices


def find_maker() -> str:
    """The maker whose tool is on the path; `cpu` where there is none."""
    for maker in SEARCHED:
        command = importlib.import_module(f"headway.agent.probes.{maker}").COMMAND
        if shutil.which(command[0]):
            return maker
    return "cpu"


def driver_of(maker: str) -> str | None:
    """The driver's version, where its files tell it."""
    path, pattern = _DRIVERS.get(maker, ("", ""))
    found = re.search(pattern, files.read_text(path) or "", re.MULTILINE) if path else None
    return found.group(1) if found else None


def address(bus: str | None) -> tuple[int, int, int] | None:
    """`0000:9b:00`, `00000000:9B:00.0` and `9b:00.0` as domain, bus and device."""
    found = re.fullmatch(r"(?:([0-9A-Fa-f]+):)?([0-9A-Fa-f]{1,2}):([0-9A-Fa-f]{1,2})(?:\.\d+)?", (bus or "").strip())
    if found is None:
        return None
    domain, number, device = found.groups()
    return int(domain or "0", 16), int(number, 16), int(device, 16)


def _places(cards: Iterable[dict[str, Any]]) -> dict[tuple[int, int, int], int]:
    found = {address(card.get("bus")): card.get("index") for card in cards}
    return {place: index for place, index in found.items() if place is not None and isinstance(index, int)}


def _tool(maker: str) -> CardTool | None:
    if maker not in SEARCHED:
        return None
    module = importlib.import_module(f"headway.agent.probes.{maker}")
    return CardTool(module.COMMAND, module.parse)
