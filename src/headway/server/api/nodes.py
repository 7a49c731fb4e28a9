"""Closing nodes to new attempts and opening them again: with the engine's own means where it has them."""

from dataclasses import dataclass

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool

from headway.server.access import Verb
from headway.server.api.asking import Asker, AskerHere
from headway.server.api.bodies import NewCordon
from headway.server.operations.nodes import cordoning
from headway.server.platform import Platform
from headway.store.nodes import Cordon

router = APIRouter(tags=["nodes"])


@dataclass(frozen=True, slots=True)
class CordonView:
    """How a node is closed: `drained` or `reserved` by its engine, for everybody, or `excluded`, for Headway only."""

    node: str
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class UncordonView:
    """A node that is open again, as far as Headway had closed it."""

    node: str
    state: str
    reason: str | None


@router.put("/nodes/{node}/cordon")
async def close(node: str, body: NewCordon, asker: AskerHere) -> CordonView:
    """Keep a node from new attempts; what runs there goes on."""
    _check(asker)
    platform = asker.platform
    cordon = Cordon(body.reason, body.until, body.needs_retest)
    engine = await run_in_threadpool(cordoning.close, platform, node, cordon, asker.name)
    kind = await cordoning.close_in_engine(platform, engine, node, body.reason)
    platform.wake("schedule", "observe")
    return CordonView(node, kind, body.reason)


@router.delete("/nodes/{node}/cordon")
async def uncordon(node: str, asker: AskerHere, force: bool = False) -> UncordonView:
    """Take Headway's own cordon back; what the site has closed stays closed, as does what needs a retest (`force`)."""
    _check(asker)
    platform = asker.platform
    if not force:
        await run_in_threadpool(_check_may_open, platform, node)
    found = await cordoning.open_in_engine(platform, node)
    shown = await run_in_threadpool(cordoning.open_up, platform, node, found, asker.name)
    platform.wake("schedule", "observe")
    return UncordonView(shown.name, shown.state, shown.reason)


def _check_may_open(platform: Platform, node: str) -> None:
    with platform.database.read() as c:
        cordoning.check_may_open(c, node)


def _check(asker: Asker) -> None:
    asker.check(Verb.CHANGE, "node")
