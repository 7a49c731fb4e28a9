"""The agent's `order.json` on this machine. A pure function: it touches nothing."""

from dataclasses import dataclass
from typing import Any

from headway.domain.resources import Maker
from headway.engines.local.discover import LocalNode
from headway.engines.local.settings import LocalSettings
from headway.engines.order import Site, agent_order, share
from headway.engines.protocol import LaunchOrder

__all__ = ["Meeting", "node_order", "share"]

VISIBLE = {Maker.NVIDIA: "CUDA_VISIBLE_DEVICES", Maker.ASCEND: "ASCEND_RT_VISIBLE_DEVICES"}


@dataclass(frozen=True, slots=True)
class Meeting:
    """What an attempt's nodes share: where ranks meet, and where a service listens (None: no service)."""

    master_port: int
    port: int | None


def node_order(
    order: LaunchOrder, index: int, node: LocalNode, meeting: Meeting, settings: LocalSettings
) -> dict[str, Any]:
    """What the agent of node `index` is told, but for its cgroups. Devices are the machine's own numbers."""
    cards = tuple(node.cards[device] for device in order.nodes[index].devices)
    variable = VISIBLE.get(node.maker)
    site = Site(
        maker=node.maker,
        cards=cards,
        master_addr=settings.host,
        master_port=meeting.master_port,
        port=meeting.port,
        visible={variable: ",".join(map(str, cards))} if variable else {},
        user=order.user,
        ca_file=settings.ca_file,
        readings=settings.readings,
        report=settings.report,
    )
    return agent_order(order, index, site)
