"""Nodes, facts, statements and health."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import TypeAdapter
from starlette.concurrency import run_in_threadpool

from headway import __version__
from headway.domain.attempt import Attempt
from headway.domain.events import field_names
from headway.domain.resources import Node, Occupied
from headway.metering.entries import Interval, Statement
from headway.metering.months import parse_month
from headway.metering.statement import csv_lines
from headway.server.access import Verb
from headway.server.api.asking import Asker, AskerHere, PlatformHere
from headway.server.api.jobs import find
from headway.server.api.listening import ListenerHere
from headway.server.api.paging import PageHere
from headway.server.api.views import Recorded
from headway.server.operations.ledger.usage import intervals_of, statement_of
from headway.server.platform import Platform
from headway.store import attempts, facts, nodes

router = APIRouter()
POLL_S = 0.5
After = Annotated[int, Query(ge=-(1 << 53), le=1 << 53)]
VALUES: TypeAdapter[Any] = TypeAdapter(Any)


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node, which attempt has which of its devices, and how many others than Headway use, who and until when."""

    node: Node
    taken: dict[int, str]
    occupied: list[Occupied]


@dataclass(frozen=True, slots=True)
class Health:
    """Whether the server is up, and its version."""

    status: str
    version: str


@router.get("/health", tags=["health"])
def health(platform: PlatformHere) -> Health:
    """Answers while the database does."""
    with platform.database.read() as c:
        facts.last_seq(c)
    return Health("ok", __version__)


@router.get("/nodes", tags=["nodes"])
def list_nodes(asker: AskerHere, page: PageHere) -> list[NodeView]:
    """Every node, with who has its devices."""
    asker.check(Verb.READ, "node")
    with asker.platform.database.read() as c:
        live = attempts.live(c)
        others = nodes.occupied(c)
        found = page.of(nodes.all(c), lambda node: (node.name,))
    return [NodeView(node, _taken(node, live), list(others.get(node.name, ()))) for node in found]


@router.get("/facts", tags=["facts"])
def list_facts(
    asker: AskerHere,
    after: After = 0,
    job: str | None = None,
    project: str | None = None,
    kind: Annotated[list[str] | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> list[Recorded]:
    """Facts in the order they were recorded; a negative `after` counts from the newest."""
    return _since(asker, _place(asker.platform, after), job, project, kind, limit)


Pages = Callable[[Asker, int, int], list[Recorded]]


def pages_of(listener: ListenerHere, job: str | None = None, project: str | None = None) -> Pages:
    """The pages of a stream; one is asked for before the answer begins, so that errors are told."""

    def page(asker: Asker, after: int, limit: int) -> list[Recorded]:
        return _since(asker, after, job, project, None, limit)

    page(listener.asker, 0, 1)
    return page


@router.get("/facts/stream", tags=["facts"], response_class=EventSourceResponse)
async def stream_facts(
    listener: ListenerHere, page: Annotated[Pages, Depends(pages_of)], after: After = 0
) -> AsyncIterator[ServerSentEvent]:
    """Facts as they are recorded; a negative `after` counts from the newest."""
    place = await run_in_threadpool(_place, listener.platform, listener.place(after))
    while await listener.may_hear(lambda asker: page(asker, 0, 1)):
        found = await run_in_threadpool(page, listener.asker, place, 200)
        for recorded in found:
            place = recorded.seq
            yield ServerSentEvent(data=recorded, event=recorded.kind, id=str(place))
        if not found:
            await asyncio.sleep(POLL_S)


@router.get("/projects/{project}/statement", tags=["usage"])
def statement(project: str, month: str, asker: AskerHere) -> Statement:
    """The project's month: device-seconds by job, waiting at zero."""
    asker.check(Verb.READ, "statement", project)
    parse_month(month)
    platform = asker.platform
    with platform.database.read() as c:
        return statement_of(c, project, month, platform.settings.timezone, platform.clock.now())


@router.get("/projects/{project}/statement.csv", tags=["usage"])
def statement_csv(project: str, month: str, asker: AskerHere) -> Response:
    """The same as CSV."""
    lines = csv_lines(statement(project, month, asker))
    return Response("".join(lines), media_type="text/csv; charset=utf-8")


@router.get("/projects/{project}/intervals", tags=["usage"])
def intervals(project: str, asker: AskerHere, page: PageHere) -> list[Interval]:
    """Every interval in which the project had devices: what a statement's totals open into."""
    asker.check(Verb.READ, "statement", project)
    with asker.platform.database.read() as c:
        found = intervals_of(c, project)
    return page.of(found, lambda each: (each.start.timestamp(), each.attempt))


def _place(platform: Platform, after: int) -> int:
    """The `seq` that `after` means."""
    if after >= 0:
        return after
    with platform.database.read() as c:
        return max(0, facts.last_seq(c) + after)


def _since(
    asker: Asker, after: int, job: str | None, project: str | None, kinds: list[str] | None, limit: int
) -> list[Recorded]:
    with asker.platform.database.read() as c:
        found = find(c, asker, job) if job else None
        asker.check(Verb.READ, "fact", found.spec.project if found else project)
        if found is None and project is None and asker.projects is not None:
            asker.check(Verb.READ, "fact", "*")
        page = facts.since(c, after, job=found.id if found else None, project=project, kinds=kinds, limit=limit)
    return [
        Recorded(
            seq=recorded.seq,
            kind=recorded.fact.kind,
            at=recorded.fact.at,
            by=recorded.fact.by,
            data={
                name: VALUES.dump_python(getattr(recorded.fact, name), mode="json")
                for name in field_names(recorded.fact.kind)
            },
        )
        for recorded in page
    ]


def _taken(node: Node, live: list[Attempt]) -> dict[int, str]:
    return {
        device: attempt.id
        for attempt in live
        for placement in attempt.placements
        if placement.node == node.name
        for device in placement.devices
    }
