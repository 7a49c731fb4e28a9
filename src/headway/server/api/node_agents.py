"""What node daemons call. A credential opens only its own node, until it is issued anew or revoked."""

from typing import Annotated

from fastapi import APIRouter, Depends, Header

from headway.server.api.asking import PlatformHere
from headway.server.node_wire import NodeReport, Recorded
from headway.server.operations.nodes import node_tokens
from headway.server.operations.nodes.node_reports import take

router = APIRouter(prefix="/agent", tags=["agents"])
REPORT_LIMIT = 8 << 20


def node_of(node: str, platform: PlatformHere, authorization: Annotated[str | None, Header()] = None) -> str:
    """The node whose daemon asks, known before its report is read. Raises `not-logged-in`."""
    node_tokens.check(platform, node, authorization)
    return node


@router.post("/nodes/{node}/report", max_body_size=REPORT_LIMIT)
def report(node: Annotated[str, Depends(node_of)], body: NodeReport, platform: PlatformHere) -> Recorded:
    """Take one report of a node's daemon, once."""
    return take(platform, node, body)
