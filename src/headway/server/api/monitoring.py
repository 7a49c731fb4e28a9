"""What nodes measure, whether a job runs there or not: one node over time, one measurement across nodes."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import AwareDatetime

from headway.domain.card import CardFound
from headway.domain.errors import PlatformError
from headway.domain.node_events import NodeInventoried
from headway.server.access import Verb
from headway.server.api.asking import Asker, AskerHere
from headway.server.api.paging import PageHere
from headway.server.operations.nodes import node_tokens
from headway.server.operations.nodes.cards import Card, CardState, cards
from headway.server.operations.nodes.node_reports import key_of
from headway.store import facts, nodes
from headway.store.readings import Point, Series

router = APIRouter(tags=["nodes"])
Since = Annotated[AwareDatetime | None, Query()]
Points = Annotated[int, Query(ge=1, le=5000)]
Name = Annotated[str, Query(min_length=1, max_length=200)]


@dataclass(frozen=True, slots=True)
class Measured:
    """The newest reading of one quantity of a node or of one of its cards."""

    name: str
    device: int | None
    at: datetime
    value: float


@dataclass(frozen=True, slots=True)
class Latest:
    """What a node measured last, and what it is made of; null where its daemon never told."""

    node: str
    readings: list[Measured]
    maker: str | None
    driver: str | None
    kernel: str | None
    cards: tuple[CardFound, ...]


@dataclass(frozen=True, slots=True)
class NodeSeries:
    """One quantity of a node, or of one of its cards, over time."""

    node: str
    device: int | None
    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Credential:
    """A node daemon's credential, shown this once."""

    node: str
    token: str


@router.get("/cards")
def list_cards(
    asker: AskerHere,
    page: PageHere,
    state: CardState | None = None,
    project: str | None = None,
    node: str | None = None,
) -> list[Card]:
    """Every card with its holder, step and end, held but idle ones with since when: readable by every member."""
    asker.check(Verb.READ, "node")
    with asker.platform.database.read() as c:
        found = list(cards(asker.platform, c, asker.platform.clock.now()))
    wanted = (
        card
        for card in found
        if state in (None, card.state) and project in (None, card.project) and node in (None, card.node)
    )
    return page.of(wanted, lambda card: (card.node, card.device))


@router.get("/nodes/{node}/latest")
def latest(node: str, asker: AskerHere) -> Latest:
    """The newest reading of everything a node measures."""
    _check_known(asker, node)
    platform = asker.platform
    found = [Measured(r.name, r.device, r.at, r.value) for r in platform.readings.latest(key_of(node))]
    made = _inventory(asker, node)
    if made is None:
        return Latest(node, found, None, None, None, ())
    return Latest(node, found, made.maker, made.driver, made.kernel, made.cards)


@router.get("/nodes/{node}/readings")
def node_readings(
    node: str, name: Name, asker: AskerHere, since: Since = None, until: Since = None, points: Points = 500
) -> list[NodeSeries]:
    """One measurement of a node, and of each of its cards, over time."""
    _check_known(asker, node)
    return [_shown(series) for series in _series(asker, node, name, (since, until), points)]


@router.get("/readings")
def metric(
    name: Name, asker: AskerHere, page: PageHere, since: Since = None, until: Since = None, points: Points = 100
) -> list[NodeSeries]:
    """One measurement across all nodes over time."""
    asker.check(Verb.READ, "node")
    with asker.platform.database.read() as c:
        names = page.of((node.name for node in nodes.all(c)), lambda name: (name,))
    found = [series for node in names for series in _series(asker, node, name, (since, until), points)]
    return [_shown(series) for series in found]


@router.post("/nodes/{node}/credential", status_code=201)
def issue(node: str, asker: AskerHere) -> Credential:
    """A new credential for the node's daemon; the earlier one ends."""
    asker.check(Verb.CHANGE, "node")
    return Credential(node, node_tokens.issue(asker.platform, node, asker.name))


@router.delete("/nodes/{node}/credential", status_code=204)
def revoke(node: str, asker: AskerHere) -> None:
    """Take nothing more from the node's daemon."""
    asker.check(Verb.CHANGE, "node")
    node_tokens.revoke(asker.platform, node, asker.name)


def _check_known(asker: Asker, node: str) -> None:
    asker.check(Verb.READ, "node")
    with asker.platform.database.read() as c:
        names = [known.name for known in nodes.all(c)]
    if node not in names:
        raise PlatformError("not-found", what="node", value=node, near=", ".join(names[:10]))


def _series(
    asker: Asker, node: str, name: str, span: tuple[datetime | None, datetime | None], points: int
) -> list[Series]:
    since, until = span
    return asker.platform.readings.series(key_of(node), name, since=since, until=until, points=points)


def _shown(series: Series) -> NodeSeries:
    return NodeSeries(series.node, series.device, series.name, series.points)


def _inventory(asker: Asker, node: str) -> NodeInventoried | None:
    """What the node's daemon told last."""
    with asker.platform.database.read() as c:
        told = facts.all(c, kinds={NodeInventoried.kind})
    mine = [fact for fact in told if isinstance(fact, NodeInventoried) and fact.node == node]
    return mine[-1] if mine else None
