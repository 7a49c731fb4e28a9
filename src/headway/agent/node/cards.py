"""The node's cards: whose they are, their readings, and the inventory that is told again whenever it changes."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import sys

import headway
from headway.agent import files
from headway.agent.probes import exporter, nvml
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
    """The cards of one maker, read beside the loop by its own tool, or by an exporter's URL where that is not there.

    `devices`: only these, None: all. `told`: the inventory as it was told last, which says where the cards sit before
    the tool has answered.
    """

    def __init__(
        self,
        maker: str | None,
        devices: frozenset[int] | None,
        told: dict[str, Any] | None,
        exporter_url: str | None = None,
    ) -> None:
        self._devices = devices
        self._places = _places((told or {}).get("cards") or [])
        self.maker = maker or find_maker()
        self._exporter = None if exporter_url is None or _has_tool(self.maker) else exporter_url
        self._tool = _tool(self.maker) if self._exporter is None else self._exported(self._exporter)
        self._more: list[CardTool] = []
        self._asked: CardTool | None = None
        self._seen: list[Card] = []
        self.hangs = False

    def read(self, clock: float, at: float) -> list[tuple[float, int, str, float]]:
        """`(epoch seconds, card, name, value)` of the tool's last run that is done; starts the next run.

        What a maker tells only when asked for it (`more`) is asked beside that, one question a call, in turn.
        """
        if self._tool is None:
            return []
        cards = self._answer(self._tool, clock)
        self.hangs = self._tool.hangs
        if cards:
            self._seen = cards
            self._places = _places([{"index": card.index, "bus": card.others.get("bus")} for card in cards])
        found = _readings(cards, at - (clock - self._tool.started_at))
        if self._asked is not None:
            found += _readings(self._answer(self._asked, clock), at - (clock - self._asked.started_at))
        self._tool.start(clock)
        self._ask_more(clock)
        return found

    def _exported(self, url: str) -> CardTool:
        def read(text: str) -> list[Card]:
            self.maker = exporter.maker_of(text) or self.maker
            return exporter.parse(text)

        return CardTool(_agent_command("read-exporter", url), read)

    def _answer(self, tool: CardTool, clock: float) -> list[Card]:
        return [card for card in tool.collect(clock) if self._devices is None or card.index in self._devices]

    def _ask_more(self, clock: float) -> None:
        """The next question, once the last is answered; a tool that lacks it answers nothing."""
        if self._asked is not None and self._asked.is_running:
            return
        if self._exporter is not None:
            return
        if not self._more and self._seen and hasattr(module_of(self.maker), "more"):
            self._more = [CardTool(command, read) for command, read in module_of(self.maker).more(self._seen)]
        self._asked = self._more.pop(0) if self._more else None
        if self._asked is not None:
            self._asked.start(clock)

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
        for tool in (self._tool, self._asked):
            if tool is not None:
                tool.close()


def find_maker() -> str:
    """The maker whose tool is on the path; `cpu` where there is none."""
    for maker in SEARCHED:
        if _has_command(maker):
            return maker
    return "nvidia" if nvml.is_there() else "cpu"


def module_of(maker: str) -> Any:
    """A maker's probe."""
    return importlib.import_module(f"headway.agent.probes.{maker}")


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


def _readings(cards: Iterable[Card], at: float) -> list[tuple[float, int, str, float]]:
    return [
        (at, card.index, name, value)
        for card in cards
        if isinstance(card.index, int)
        for name, value in card.readings()
    ]


def _tool(maker: str) -> CardTool | None:
    """The maker's own tool; NVIDIA's library, in a process of its own, where it is there."""
    if maker not in SEARCHED:
        return None
    module = module_of(maker)
    if maker == "nvidia" and nvml.is_there():
        return CardTool(_agent_command("read-nvml"), module.parse)
    return CardTool(module.COMMAND, module.parse)


def _has_tool(maker: str) -> bool:
    return maker in SEARCHED and (_has_command(maker) or (maker == "nvidia" and nvml.is_there()))


def _has_command(maker: str) -> bool:
    return shutil.which(module_of(maker).COMMAND[0]) is not None


def _agent_command(*words: str) -> tuple[str, ...]:
    """This very agent, to do one thing in a process of its own."""
    start = f"import sys; sys.path.insert(0, {package_path()!r}); from headway.agent.main import main; sys.exit(main())"
    return (sys.executable, "-c", start, *words)


def package_path() -> str:
    """Where `import headway` finds this very package: the zipapp, or the folder it was started from."""
    return os.path.dirname(os.path.dirname(os.path.abspath(headway.__file__)))
