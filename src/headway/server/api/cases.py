"""Case files of nodes, their retests, and incidents."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import TypeAdapter

from headway.diagnosis.cases.blame import Counted
from headway.diagnosis.cases.incidents import Incident
from headway.diagnosis.cases.suspicion import Record, Suspicion
from headway.domain.errors import PlatformError
from headway.domain.events import Fact
from headway.domain.resources import Node
from headway.server.access import Verb
from headway.server.api.asking import AskerHere, OnceHere
from headway.server.api.bodies import NewRetest
from headway.server.api.paging import PageHere, newest
from headway.server.operations.nodes import cases, incidents, retesting
from headway.server.operations.nodes.cases import Card, CaseFile
from headway.store import retests
from headway.store.nodes import Cordon
from headway.store.retests import Reference, Retest

router = APIRouter(tags=["nodes"])
Days = Annotated[int, Query(ge=1, le=3650)]
PLAIN: TypeAdapter[Any] = TypeAdapter(Any)


@dataclass(frozen=True, slots=True)
class CaseSummary:
    """One node among all: how suspect it is, beside its pool's norm."""

    node: Node
    record: Record
    suspicion: Suspicion
    attempts: int
    cordon: Cordon | None


@dataclass(frozen=True, slots=True)
class CaseView:
    """Everything known of one node; `history` are facts about it, each with its kind."""

    case: CaseSummary
    faults: tuple[Counted, ...]
    cards: tuple[Card, ...]
    history: list[dict[str, Any]]
    retests: list[Retest]


@dataclass(frozen=True, slots=True)
class IncidentView:
    """An incident, with whose jobs and nodes it touched."""

    incident: Incident
    jobs: list[str]
    nodes: list[str]
    idle_device_seconds: float


@router.get("/cases")
def list_cases(asker: AskerHere, page: PageHere, days: Days = 90) -> list[CaseSummary]:
    """Every node, the most suspect first."""
    files = page.of(_files(asker, days), lambda file: (-file.suspicion.score, file.node.name))
    return [_summary(file) for file in files]


@router.get("/nodes/{node}/case")
def show_case(node: str, asker: AskerHere, days: Days = 90) -> CaseView:
    """One node's file."""
    files = {file.node.name: file for file in _files(asker, days)}
    if node not in files:
        raise PlatformError("not-found", what="node", value=node, near=", ".join(sorted(files)))
    with asker.platform.database.read() as c:
        tested = [one for one in retests.all(c) if node in one.nodes]
    file = files[node]
    return CaseView(_summary(file), file.faults, file.cards, [_told(fact) for fact in file.history], tested)


@router.post("/retests", status_code=201)
def request_retest(body: NewRetest, asker: AskerHere, once: OnceHere) -> Retest:
    """Close nodes and test them once nothing runs there; passing opens them again."""
    asker.check(Verb.CHANGE, "node")
    platform, change = asker.platform, asker.change()
    wish = retesting.Wish(body.nodes, body.project, body.devices_per_node, body.as_reference, body.seconds)
    made = once(body, Retest, lambda c: retesting.request(platform, c, change, wish))
    platform.wake("retest")
    return made


@router.get("/retests")
def list_retests(asker: AskerHere, page: PageHere) -> list[Retest]:
    """Every retest, newest first."""
    asker.check(Verb.READ, "node")
    with asker.platform.database.read() as c:
        return page.of(retests.all(c), lambda retest: newest(retest.requested_at, retest.id))


@router.get("/retest-references")
def list_references(asker: AskerHere, page: PageHere) -> list[Reference]:
    """What retests of each shape are compared with."""
    asker.check(Verb.READ, "node")
    with asker.platform.database.read() as c:
        return page.of(retests.references(c), lambda reference: (reference.shape,))


@router.get("/incidents")
def list_incidents(asker: AskerHere, page: PageHere, days: Days = 7) -> list[IncidentView]:
    """What failed together, by cards idle × time, the dearest first; of the projects one may read."""
    asker.check(Verb.READ, "job")
    now = asker.platform.clock.now()
    with asker.platform.database.read() as c:
        found = incidents.recent(asker.platform, c, _since(now, days), asker.projects)
    told = page.of(found, lambda one: (-one.idle.total_seconds(), one.began.isoformat(), one.kind, one.name))
    return [IncidentView(one, list(one.jobs), list(one.nodes), one.idle.total_seconds()) for one in told]


def _files(asker: AskerHere, days: int) -> list[CaseFile]:
    asker.check(Verb.READ, "node")
    now = asker.platform.clock.now()
    with asker.platform.database.read() as c:
        return cases.case_files(c, now, _since(now, days))


def _since(now: datetime, days: int) -> datetime:
    return now - timedelta(days=days)


def _summary(file: CaseFile) -> CaseSummary:
    return CaseSummary(file.node, file.record, file.suspicion, file.attempts, file.cordon)


def _told(fact: Fact) -> dict[str, Any]:
    content: dict[str, Any] = PLAIN.dump_python(fact, mode="json")
    return {"kind": fact.kind} | content
