"""Nodes closed and opened by operators, with the engine's own means and without."""

from datetime import UTC, datetime

import pytest
from fastapi.testclient import TestClient

from headway.domain.errors import PlatformError
from headway.domain.resources import Node, NodeState
from headway.engines.fake.engine import FakeEngine
from headway.engines.fake.world import World
from headway.engines.protocol import Capability, CordonKind
from headway.server.access import Role
from headway.server.platform import Platform
from headway.store import facts, nodes
from tests.server.conftest import People

MENDING = {"reason": "fan of card 3"}


class Cordoning(FakeEngine):
    """An engine that may close its nodes, as long as it is reached."""

    can = frozenset({Capability.CORDONS})
    closed: set[str]
    reached = True

    async def cordon(self, node: str, reason: str) -> CordonKind:
        if not self.reached:
            raise PlatformError("engine-unreachable", engine=self.name, detail="away")
        self.closed.add(node)
        return CordonKind.DRAINED

    async def uncordon(self, node: str) -> None:
        if not self.reached:
            raise PlatformError("engine-unreachable", engine=self.name, detail="away")
        self.closed.discard(node)


@pytest.fixture
def engine(platform: Platform) -> Cordoning:
    """The nodes n1 and n2, of an engine that cordons; n2 is drained by the site."""
    shown = (Node("n1", "fake", "cpu", 2), Node("n2", "fake", "cpu", 2, state=NodeState.CORDONED, reason="site: dusty"))
    made = Cordoning(World(nodes=shown, now=datetime(2026, 11, 3, tzinfo=UTC)))
    made.closed = set()
    platform.engines = {"fake": made}
    with platform.database.write() as c:
        nodes.put(c, list(shown), platform.clock.now())
    return made


def state(http: TestClient, headers: dict[str, str], name: str) -> tuple[str, str | None]:
    (found,) = (row["node"] for row in http.get("nodes", headers=headers).json() if row["node"]["name"] == name)
    return found["state"], found["reason"]


def test_a_cordoned_node_is_closed_in_its_engine_and_in_the_queue(
    http: TestClient, admin: dict[str, str], engine: Cordoning, platform: Platform
) -> None:
    told = http.put("nodes/n1/cordon", json=MENDING, headers=admin)
    assert told.json() == {"node": "n1", "kind": "drained", "reason": "fan of card 3"}
    assert engine.closed == {"n1"}
    assert state(http, admin, "n1") == ("cordoned", "fan of card 3")
    opened = http.delete("nodes/n1/cordon", headers=admin)
    assert opened.json() == {"node": "n1", "state": "up", "reason": None}
    assert engine.closed == set()
    with platform.database.read() as c:
        told_facts = [recorded.fact for recorded in facts.since(c, 0, kinds={"node-changed"})]
    assert [(fact.node, fact.state) for fact in told_facts] == [  # type: ignore[union-attr]
        ("n1", "cordoned"),
        ("n1", "up"),
    ]


def test_a_node_the_site_has_closed_stays_closed(http: TestClient, admin: dict[str, str], engine: Cordoning) -> None:
    http.put("nodes/n2/cordon", json=MENDING, headers=admin)
    assert state(http, admin, "n2") == ("cordoned", "fan of card 3")
    http.delete("nodes/n2/cordon", headers=admin)
    assert state(http, admin, "n2") == ("cordoned", "site: dusty")


def test_an_engine_out_of_reach_leaves_the_node_out_and_does_not_open_it(
    http: TestClient, admin: dict[str, str], engine: Cordoning
) -> None:
    engine.reached = False
    assert http.put("nodes/n1/cordon", json=MENDING, headers=admin).json()["kind"] == "excluded"
    assert http.delete("nodes/n1/cordon", headers=admin).json()["code"] == "engine-unreachable"
    assert state(http, admin, "n1") == ("cordoned", "fan of card 3")


def test_an_engine_that_cannot_cordon_has_its_node_left_out(http: TestClient, admin: dict[str, str]) -> None:
    assert http.put("nodes/n1/cordon", json=MENDING, headers=admin).json()["kind"] == "excluded"
    assert state(http, admin, "n1")[0] == "cordoned"


def test_only_operators_close_nodes(http: TestClient, people: People) -> None:
    member = people.headers(people.token("ann", Role.MEMBER, "nlp"))
    assert http.put("nodes/n1/cordon", json=MENDING, headers=member).status_code == 403
    assert http.delete("nodes/n1/cordon", headers=member).status_code == 403
    operator = people.headers(people.token("olga", Role.OPERATOR))
    assert http.put("nodes/n1/cordon", json=MENDING, headers=operator).status_code == 200


@pytest.mark.parametrize("body", [{}, {"reason": ""}, {"reason": "x" * 201}, {"reason": "x", "force": True}])
def test_a_cordon_needs_a_reason(http: TestClient, admin: dict[str, str], body: dict[str, object]) -> None:
    assert http.put("nodes/n1/cordon", json=body, headers=admin).status_code == 422


def test_an_unknown_node_is_not_found(http: TestClient, admin: dict[str, str]) -> None:
    for answer in (
        http.put("nodes/n9/cordon", json=MENDING, headers=admin),
        http.delete("nodes/n9/cordon", headers=admin),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "not-found")
