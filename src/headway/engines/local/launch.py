"""Starting an attempt, idempotent through the disk: ports, then orders, then agents.

Cut off at any point and called again it goes on where it was: what is chosen once (ports) is on disk before anybody is
told of it, and an agent started twice finds the lock held or `begun` there, so that ranks start once.
"""

import os
from collections.abc import Mapping
from datetime import datetime

from headway.domain.errors import PlatformError, say
from headway.engines.local import cgroups, process
from headway.engines.local.directory import NodeDirectory
from headway.engines.local.discover import LocalNode
from headway.engines.local.order import Meeting, node_order
from headway.engines.local.ports import Ports
from headway.engines.local.settings import LocalSettings
from headway.engines.protocol import Handle, LaunchOrder


class Launching:
    """Takes orders for the nodes of one machine."""

    def __init__(self, settings: LocalSettings, ports: Ports, engine: str) -> None:
        self._settings, self._ports, self._engine = settings, ports, engine

    def launch(self, order: LaunchOrder, nodes: Mapping[str, LocalNode], now: datetime) -> Handle:
        """Start what has not been started of the attempt. Raises `launch-refused` before anything is on disk."""
        self._check(order, nodes)
        places = [NodeDirectory(self._settings.run_dir, order.attempt, part.node) for part in order.nodes]
        for place in places:
            place.make()
        meeting = self._meeting(order, places[0])
        for index, place in enumerate(places):
            self._write_order(order, index, nodes[place.node], place, meeting)
        for place in places:
            if not place.has("begun") and not place.launched():
                self.start_agent(place, now)
        return self._handle(order, meeting)

    def start_agent(self, place: NodeDirectory, now: datetime) -> None:
        """Start an agent on a directory; on one that has begun it only delivers. Raises `engine-unreachable`."""
        argv = self._settings.agent_argv(place.path)
        env = {name: os.environ[name] for name in self._settings.inherited if name in os.environ}
        env |= {"HEADWAY_ATTEMPT": place.attempt, "HEADWAY_NODE": place.node}
        try:
            agent = process.start(argv, env, place.path / "agent.out")
        except OSError as error:
            raise PlatformError("engine-unreachable", engine=self._engine, detail=f"{argv[0]}: {error}") from error
        known = {"pid": agent.pid, "start_ticks": agent.start_ticks} if agent else {}
        starts = place.read("launch.json").get("starts", 0) + 1
        place.write("launch.json", {"at": now.timestamp(), "starts": starts, **known})

    def _meeting(self, order: LaunchOrder, first: NodeDirectory) -> Meeting:
        """The ports in the first node's `handle.json`, chosen and written there if this is the first time."""
        known = first.read("handle.json")
        if not known:
            chosen = self._ports.take(order.attempt, 2 if order.wants_port else 1)
            wish = {"master_port": chosen[0], "port": chosen[1] if order.wants_port else None}
            known = first.write_first("handle.json", wish)
        meeting = Meeting(known["master_port"], known["port"])
        self._ports.keep(order.attempt, [port for port in (meeting.master_port, meeting.port) if port])
        return meeting

    def _write_order(
        self, order: LaunchOrder, index: int, node: LocalNode, place: NodeDirectory, meeting: Meeting
    ) -> None:
        """A token may be new after a crash of the server; the order is written once."""
        place.write("token", order.token)
        if not place.read("order.json"):
            groups = cgroups.create(self._settings.cgroup_root, order.attempt, place.node)
            content = node_order(order, index, node, meeting, self._settings)
            place.write("order.json", {**content, "cgroup": groups or None})

    def _handle(self, order: LaunchOrder, meeting: Meeting) -> Handle:
        endpoint = f"{self._settings.host}:{meeting.port}" if meeting.port else None
        names = tuple(part.node for part in order.nodes)
        return Handle(order.attempt, self._engine, names, endpoint, {"master_port": str(meeting.master_port)})

    def _check(self, order: LaunchOrder, nodes: Mapping[str, LocalNode]) -> None:
        detail = _fault(order, nodes)
        if detail:
            raise PlatformError("launch-refused", engine=self._engine, attempt=order.attempt, detail=detail)


def _fault(order: LaunchOrder, nodes: Mapping[str, LocalNode]) -> str | None:
    """Why this machine can never run the order."""
    if not order.nodes or not all(part.ranks for part in order.nodes):
        return say("no-ranks")
    for part in order.nodes:
        node = nodes.get(part.node)
        if node is None:
            return say("no-such-node-of", node=part.node, nodes=", ".join(nodes))
        if any(not 0 <= device < len(node.cards) for device in part.devices):
            return say("devices-asked", node=part.node, last=len(node.cards) - 1, asked=str(list(part.devices)))
    if order.user and os.geteuid() not in (0, order.user.uid):
        return say("only-root-runs", user=order.user.name)
    return None
