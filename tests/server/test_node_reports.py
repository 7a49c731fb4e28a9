"""Node daemons over HTTP: their credentials, reports that are recorded once, and what is asked of them afterwards."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient

from headway.domain.node_events import NodeFaultSeen, NodeInventoried
from headway.server.access import Role
from headway.server.platform import Platform
from headway.store import facts
from tests.server.conftest import People, Placed

AT = 1762156800.0
XID = {"t": AT, "kind": "xid", "code": 79, "card": 3, "device": "0000:91:00", "text": "NVRM: Xid", "count": 2}
CARDS = [{"index": 0, "name": "NVIDIA H200", "bus": "00000000:04:00.0", "health": None}]
INVENTORY = {"maker": "nvidia", "driver": "550.54", "kernel": "6.1", "cores": 8, "cards": CARDS}


def reading(name: str, value: float, t: float = AT, device: int | None = None) -> dict[str, Any]:
    return {"t": t, "name": name, "device": device, "value": value}


@pytest.fixture
def token(http: TestClient, admin: dict[str, str]) -> dict[str, str]:
    answer = http.post("nodes/n1/credential", json={}, headers=admin)
    assert answer.status_code == 201
    assert answer.json()["token"].startswith("hwn_")
    return {"Authorization": f"Bearer {answer.json()['token']}"}


def report(http: TestClient, token: dict[str, str], node: str = "n1", **parts: Any) -> Any:
    body = {"seq": 1, "at": AT, "engine": "local", **parts}
    return http.post(f"agent/nodes/{node}/report", json=body, headers=token)


def told(platform: Platform, kind: str) -> list[Any]:
    with platform.database.read() as c:
        return facts.all(c, kinds={kind})


def test_a_report_is_recorded_once_however_often_it_comes(
    http: TestClient, platform: Platform, token: dict[str, str], admin: dict[str, str]
) -> None:
    parts = {"readings": [reading("cpu_percent", 5.0)], "events": [XID], "inventory": INVENTORY}
    for _ in range(3):
        assert report(http, token, **parts).json() == {"seq": 1}
    assert report(http, token, seq=2, readings=[reading("cpu_percent", 7.0, AT + 15)]).json() == {"seq": 2}
    (fault,) = told(platform, NodeFaultSeen.kind)
    assert (fault.node, fault.fault, fault.code, fault.device, fault.count) == ("n1", "xid", 79, 3, 2)
    assert fault.at == datetime.fromtimestamp(AT, UTC)
    assert len(told(platform, NodeInventoried.kind)) == 1
    (series,) = http.get("nodes/n1/readings", params={"name": "cpu_percent"}, headers=admin).json()
    assert [point["mean"] for point in series["points"]] == [5.0, 7.0]
    assert all(point["count"] == 1 for point in series["points"])


def test_one_measurement_is_shown_across_nodes_and_within_a_stretch_of_time(
    http: TestClient, token: dict[str, str], admin: dict[str, str]
) -> None:
    second = http.post("nodes/n2/credential", json={}, headers=admin).json()["token"]
    readings = [reading("device_power_watts", 100.0 + i, AT + 60 * i, device=d) for i in range(5) for d in (0, 1)]
    report(http, token, readings=readings)
    report(http, {"Authorization": f"Bearer {second}"}, "n2", readings=[reading("device_power_watts", 7.0, device=0)])
    found = http.get("readings", params={"name": "device_power_watts"}, headers=admin).json()
    assert [(series["node"], series["device"]) for series in found] == [("n1", 0), ("n1", 1), ("n2", 0)]
    since = (datetime.fromtimestamp(AT, UTC) + timedelta(seconds=90)).isoformat()
    until = (datetime.fromtimestamp(AT, UTC) + timedelta(seconds=190)).isoformat()
    query = {"name": "device_power_watts", "since": since, "until": until}
    (first, _) = http.get("nodes/n1/readings", params=query, headers=admin).json()
    assert [point["mean"] for point in first["points"]] == [102.0, 103.0]


def test_the_newest_reading_of_everything_and_the_inventory_are_shown(
    http: TestClient, token: dict[str, str], admin: dict[str, str]
) -> None:
    empty = http.get("nodes/n1/latest", headers=admin).json()
    assert (empty["readings"], empty["maker"], empty["cards"]) == ([], None, [])
    report(http, token, readings=[reading("cpu_percent", 5.0), reading("nic_up:eth0", 1.0)], inventory=INVENTORY)
    shown = http.get("nodes/n1/latest", headers=admin).json()
    assert {row["name"]: row["value"] for row in shown["readings"]} == {"cpu_percent": 5.0, "nic_up:eth0": 1.0}
    assert (shown["maker"], shown["driver"], shown["cards"]) == ("nvidia", "550.54", CARDS)


def test_a_nodes_readings_and_those_of_the_attempts_on_it_are_never_added(
    http: TestClient, token: dict[str, str], admin: dict[str, str], placed: Placed
) -> None:
    """A job's agent measures the very card that the node's daemon measures."""
    card = {"name": "device_utilisation_percent", "device": 0, "t": AT, "value": 90.0}
    placed.says(http, ranks=[{"rank": 0, "pid": 10, "started_at": AT}], readings=[card])
    report(http, token, readings=[card])
    (of_node,) = http.get("nodes/n1/readings", params={"name": card["name"]}, headers=admin).json()
    (of_job,) = http.get(f"jobs/{placed.job}/readings", params={"name": card["name"]}, headers=admin).json()
    (across,) = http.get("readings", params={"name": card["name"]}, headers=admin).json()
    for series in (of_node, of_job, across):
        assert [(point["count"], point["mean"]) for point in series["points"]] == [(1, 90.0)]


def test_a_credential_opens_its_own_node_until_it_is_issued_anew_or_revoked(
    http: TestClient, token: dict[str, str], admin: dict[str, str]
) -> None:
    assert report(http, token).status_code == 200
    assert report(http, token, "n2").status_code == 401
    assert report(http, {}).status_code == 401
    assert report(http, admin).status_code == 401
    newer = {"Authorization": f"Bearer {http.post('nodes/n1/credential', json={}, headers=admin).json()['token']}"}
    assert report(http, token, seq=5).status_code == 401
    assert report(http, newer, seq=5).status_code == 200
    assert http.delete("nodes/n1/credential", headers=admin).status_code == 204
    assert report(http, newer, seq=6).status_code == 401
    again = http.post("nodes/n1/credential", json={}, headers=admin).json()["token"]
    assert report(http, {"Authorization": f"Bearer {again}"}, seq=6).status_code == 200
    assert report(http, newer, seq=7).status_code == 401


def test_only_operators_issue_credentials_and_only_for_nodes_there_are(
    http: TestClient, people: People, admin: dict[str, str]
) -> None:
    member = people.headers(people.token("mia", Role.MEMBER, "nlp"))
    assert http.post("nodes/n1/credential", json={}, headers=member).status_code == 403
    assert http.delete("nodes/n1/credential", headers=member).status_code == 403
    answer = http.post("nodes/n9/credential", json={}, headers=admin)
    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")
    assert http.get("nodes/n9/latest", headers=admin).json()["code"] == "not-found"
    operator = people.headers(people.token("olga", Role.OPERATOR))
    assert http.post("nodes/n1/credential", json={}, headers=operator).status_code == 201


@pytest.mark.parametrize(
    "wrong",
    [
        {"seq": -1},
        {"readings": [{"t": AT, "name": "", "value": 1.0}]},
        {"readings": [{"t": AT, "name": "x", "value": "NaN"}]},
        {"events": [{"t": 1e30, "kind": "xid"}]},
        {"events": [{"t": AT, "kind": "a\x00b"}]},
        {"inventory": {"maker": 3}},
    ],
)
def test_a_report_that_makes_no_sense_is_refused_whole(
    http: TestClient, platform: Platform, token: dict[str, str], wrong: dict[str, Any]
) -> None:
    answer = report(http, token, **{"events": [XID], **wrong})
    assert answer.status_code == 422
    assert told(platform, NodeFaultSeen.kind) == []
    assert report(http, token).json() == {"seq": 1}
