"""Which devices this machine has: by the makers' own tools where they are, else CPU slots; then divided into nodes.

A tool that is there and fails is an error, never «no cards»: CPU slots on a machine with cards would hide them.
Readings of the cards are the agent's business, not this file's.
"""

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headway.domain.errors import PlatformError, say
from headway.domain.resources import Maker, Node
from headway.engines.local.settings import VirtualNode

TOOL_TIMEOUT_S = 30


@dataclass(frozen=True, slots=True)
class Card:
    """One accelerator: its number on this machine and its model as printed."""

    index: int
    model: str


@dataclass(frozen=True, slots=True)
class Tool:
    """A maker's tool: what to run and how to read it."""

    maker: Maker
    argv: tuple[str, ...]
    read: Callable[[str], tuple[Card, ...]]


@dataclass(frozen=True, slots=True)
class LocalNode:
    """A node of this machine: `cards[i]` is the machine's number of the node's device `i`."""

    name: str
    device_type: str
    maker: Maker
    cards: tuple[int, ...]

    def node(self, engine: str) -> Node:
        """The node as everybody else sees it."""
        return Node(self.name, engine, self.device_type, len(self.cards), self.maker)


def read_nvidia(text: str) -> tuple[Card, ...]:
    """Read `nvidia-smi --query-gpu=index,name,... --format=csv`, with or without its header line."""
    rows = [[cell.strip() for cell in line.split(",")] for line in text.splitlines()]
    return tuple(Card(int(row[0]), row[1]) for row in rows if len(row) > 1 and row[0].isdecimal())


def read_ascend(text: str) -> tuple[Card, ...]:
    """Read `npu-smi info`: two rows a chip, numbered by a `Phy-ID` or `Device` column, else by their order."""
    upper = re.compile(r"^\|\s*\d+\s+([A-Za-z]\w*|\d+[A-Za-z]\w*)\s*\|\s*[A-Za-z]+\s*\|")
    lower = re.compile(r"^\|\s*\d+(?:\s+(\d+))?\s*\|\s*[0-9A-Fa-f]{4}:[0-9A-Fa-f:.]+\s*\|")
    cards: list[Card] = []
    model = ""
    for line in text.splitlines():
        if found := upper.match(line):
            model = found[1]
        elif (found := lower.match(line)) and model:
            cards.append(Card(int(found[1] or len(cards)), model))
    return tuple(cards)


TOOLS = (
    Tool(Maker.NVIDIA, ("nvidia-smi", "--query-gpu=index,name", "--format=csv,noheader"), read_nvidia),
    Tool(Maker.ASCEND, ("npu-smi", "info"), read_ascend),
)


def device_type(maker: Maker, model: str) -> str:
    """A model's name as a device type: `NVIDIA H100 80GB HBM3` is `h100-80gb-hbm3`, `910B3` is `ascend-910b3`."""
    slug = re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-").removeprefix("nvidia-")
    return f"ascend-{slug}" if maker is Maker.ASCEND and not slug.startswith("ascend") else slug


def discover(virtual: Sequence[VirtualNode], engine: str, tools: Sequence[Tool] = TOOLS) -> tuple[LocalNode, ...]:
    """The nodes of this machine.

    Raises `engine-unreachable` when a tool fails, `invalid-field` when `virtual` asks for more cards than there are.
    """
    for tool in tools:
        if shutil.which(tool.argv[0]):
            cards = tool.read(_ask(tool, engine))
            if cards:
                return _divide_cards(tool.maker, cards, virtual)
    return _divide_cpus(virtual)


def _ask(tool: Tool, engine: str) -> str:
    try:
        answer = subprocess.run(tool.argv, capture_output=True, text=True, timeout=TOOL_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PlatformError("engine-unreachable", engine=engine, detail=str(error)) from error
    if answer.returncode:
        detail = (answer.stderr or answer.stdout).strip()[:200] or f"exit {answer.returncode}"
        raise PlatformError("engine-unreachable", engine=engine, detail=f"{tool.argv[0]}: {detail}")
    return answer.stdout


def _divide_cards(maker: Maker, cards: Sequence[Card], virtual: Sequence[VirtualNode]) -> tuple[LocalNode, ...]:
    """A node has one device type: cards of several models become one node each, unless the settings divide them."""
    types = {card.index: device_type(maker, card.model) for card in cards}
    if virtual:
        return _cut(maker, types, virtual)
    found = sorted(set(types.values()))
    name = _host()
    return tuple(
        LocalNode(
            name if len(found) == 1 else f"{name}-{kind}", kind, maker, tuple(i for i in types if types[i] == kind)
        )
        for kind in found
    )


def _cut(maker: Maker, types: dict[int, str], virtual: Sequence[VirtualNode]) -> tuple[LocalNode, ...]:
    free = list(types)
    nodes = []
    for wanted in virtual:
        kind = wanted.device_type or (types[free[0]] if free else "")
        cards = [index for index in free if types[index] == kind][: wanted.devices]
        if len(cards) < wanted.devices:
            rule = say("machine-cards", count=len(types), types=", ".join(sorted(set(types.values()))))
            raise PlatformError("invalid-field", field="nodes", value=f"{wanted.name}:{wanted.devices}", rule=rule)
        free = [index for index in free if index not in cards]
        nodes.append(LocalNode(wanted.name, kind, maker, tuple(cards)))
    return tuple(nodes)


def _divide_cpus(virtual: Sequence[VirtualNode]) -> tuple[LocalNode, ...]:
    """CPU slots are not owned by anything, so more of them may be set than there are CPUs."""
    wanted = virtual or (VirtualNode(_host(), os.cpu_count() or 1),)
    return tuple(
        LocalNode(node.name, node.device_type or "cpu", Maker.CPU, tuple(range(node.devices))) for node in wanted
    )


def _host() -> str:
    """The host's short name as a legal node name."""
    return re.sub(r"[^A-Za-z0-9-]+", "-", socket.gethostname().partition(".")[0]).strip("-")[:63] or "local"
