"""What is known of the file systems of the nodes that a job could get: by their engines, by the agents there last."""

from collections.abc import Collection, Mapping
from typing import Any, cast

from sqlalchemy import Connection

from headway.domain.resources import Node
from headway.domain.seeing import Mount, Pool, View
from headway.engines.protocol import Capability, Shares
from headway.server.platform import Platform
from headway.store import agents


def pool_of(platform: Platform, c: Connection, wanted: Collection[Node], before: str | None) -> Pool:
    """Those nodes as one place to be seen from; `before`: the engine the job ran under. Not one of them is asked."""
    told = agents.newest_facts(c, [node.name for node in wanted])
    views = [_view(platform, node, told.get(node.name, {})) for node in wanted]
    names = sorted({f"{node.engine}/{node.device_type}" for node in wanted})
    stays = {node.engine for node in wanted} == {before}
    return Pool(", ".join(names), tuple(view for view in views if view.mounts or view.shares), stays)


def _view(platform: Platform, node: Node, told: Mapping[str, Any]) -> View:
    engine = platform.engines.get(node.engine)
    shares = cast(Shares, engine).shares if engine is not None and Capability.SHARES in engine.can else ()
    return View(node.name, told.get("boot"), tuple(_mounts(told.get("file_systems"))), tuple(shares))


def _mounts(told: Any) -> list[Mount]:
    """As the agent tells them; what has another shape is passed over."""
    rows = told if isinstance(told, list) else []
    keys = ("at", "kind", "source", "folder")
    return [Mount(*(str(row[key]) for key in keys)) for row in rows if isinstance(row, dict) and row.keys() >= {*keys}]
