"""Bad input: every refusal names the field, the value and the way out, in zh and en, and nothing is created."""

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fastapi.testclient import TestClient

from headway.engines.protocol import Capability
from headway.server.access import Role
from headway.server.platform import Platform
from headway.store import facts
from tests.server.conftest import People

GOOD = {"name": "first", "project": "nlp", "template": "command", "parameters": {"command": "true"}}


class Case(NamedTuple):
    """What is wrong, and what the refusal must name."""

    what: str
    change: dict[str, Any]
    code: str
    value: str
    way_out: str


CASES = [
    Case("an unknown template", {"template": "nope"}, "not-found", "nope", "command"),
    Case("an unknown project", {"project": "nope"}, "not-found", "nope", "nlp"),
    Case("more nodes than exist", {"resources": {"nodes": 3}}, "impossible-request", "3", "2"),
    Case("more cards a node than exist", {"resources": {"devices_per_node": 9}}, "impossible-request", "9", "2"),
    Case("more ranks than cards", {"resources": {"ranks_per_node": 2}}, "invalid-field", "2", "devices_per_node"),
    Case("no nodes", {"resources": {"nodes": 0}}, "invalid-field", "0", "1 …"),
    Case("a name with spaces", {"name": "my job"}, "invalid-name", "my job", "63"),
    Case("a name that climbs", {"name": "../etc"}, "invalid-name", "../etc", "63"),
    Case("an unknown key", {"replicas": 3}, "unknown-field", "replicas", "resources, env, checkpoint, priority"),
    Case("an unknown resource", {"resources": {"gpus": 3}}, "unknown-field", "resources.gpus", "devices_per_node"),
    Case("an unknown parameter", {"parameters": {"comand": "x"}}, "unknown-field", "parameters.comand", "command"),
    Case("a missing parameter", {"parameters": {}}, "missing-field", "parameters.command", "parameters.command"),
    Case("an unknown priority", {"priority": "asap"}, "invalid-field", "asap", "priority"),
    Case("a negative limit", {"limit_s": -5}, "invalid-field", "-5", "limit_s"),
    Case("a path that does not exist", {"workdir": "/no/such/place"}, "not-readable", "/no/such/place", "workdir"),
]


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("case", CASES, ids=[case.what for case in CASES])
def test_a_bad_submission_is_refused_in_words(
    http: TestClient, people: People, platform: Platform, language: str, case: Case
) -> None:
    headers = people.headers(people.token("ann", Role.ADMIN), language)
    before = _last(platform)
    answer = http.post("jobs", json=GOOD | case.change, headers=headers)
    problem = answer.json()
    assert 400 <= answer.status_code < 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["code"] == case.code
    assert case.value in problem["detail"]
    assert case.way_out in problem["detail"] + problem["hint"]
    assert problem["hint"]
    assert (language == "zh") == any("\u4e00" <= character <= "\u9fff" for character in problem["detail"])
    assert _last(platform) == before


def test_a_negative_quota_is_refused(http: TestClient, admin: dict[str, str], platform: Platform) -> None:
    before = _last(platform)
    answer = http.put("projects/nlp/quotas/cpu", json={"devices": -1}, headers=admin)
    assert answer.status_code == 422
    assert answer.json()["params"] == {"field": "devices", "value": -1, "rule": "≥ 0"}
    assert _last(platform) == before


def test_a_quota_for_a_card_type_that_no_node_has_is_refused(
    http: TestClient, admin: dict[str, str], platform: Platform
) -> None:
    before = _last(platform)
    problem = http.put("projects/nlp/quotas/h2OO", json={"devices": 1}, headers=admin).json()
    assert (problem["code"], problem["params"]["value"]) == ("not-found", "h2OO")
    assert "cpu" in problem["hint"]
    assert _last(platform) == before


def test_before_any_node_is_known_any_card_type_may_come(
    http: TestClient, admin: dict[str, str], platform: Platform
) -> None:
    with platform.database.write() as c:
        c.exec_driver_sql("DELETE FROM nodes")
    assert http.put("projects/nlp/quotas/h200", json={"devices": 1}, headers=admin).status_code == 200


def test_a_five_megabyte_body_is_refused(http: TestClient, admin: dict[str, str], platform: Platform) -> None:
    before = _last(platform)
    body = json.dumps(GOOD | {"env": {"X": "y" * (5 << 20)}})
    answer = http.post("jobs", content=body, headers=admin | {"Content-Type": "application/json"})
    assert answer.status_code == 413
    assert answer.json()["code"] == "body-too-large"
    assert str(len(body)) in answer.json()["detail"]
    assert _last(platform) == before


def test_a_body_that_declares_no_length_is_cut_off_in_words(http: TestClient, admin: dict[str, str]) -> None:
    pieces = (b" " * 65536 for _ in range(80))
    answer = http.post("jobs", content=pieces, headers=admin | {"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (413, "body-too-large")
    assert str(1 << 20) in answer.json()["detail"]


@pytest.mark.parametrize("content", [json.dumps(GOOD).encode(), b"hello", b"\xff\xfe"])
@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_body_without_a_content_type_is_told_what_is_wanted(
    http: TestClient, people: People, content: bytes, language: str
) -> None:
    headers = people.headers(people.token("ann", Role.ADMIN), language)
    problem = http.post("jobs", content=content, headers=headers).json()
    assert problem["code"] == "invalid-json"
    assert "application/json" in problem["detail"]
    assert "b'" not in problem["detail"]


@pytest.mark.parametrize("content", ["[1, 2]", "7", '"words"'])
def test_json_that_is_no_object_is_told_what_is_wanted(http: TestClient, admin: dict[str, str], content: str) -> None:
    answer = http.post("jobs", content=content, headers=admin | {"Content-Type": "application/json"})
    assert answer.json()["code"] == "invalid-json"
    assert "object" in answer.json()["detail"]


def test_a_body_that_is_no_json_is_refused(http: TestClient, admin: dict[str, str]) -> None:
    answer = http.post("jobs", content=b"{nope", headers=admin | {"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid-json")


@pytest.mark.skipif(os.geteuid() != 0, reason="absent: root: only root can try as another user")
def test_a_path_the_mapped_user_cannot_read_is_refused(
    http: TestClient, people: People, platform: Platform, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.mkdir(mode=0o700)
    headers = people.headers(people.token("ann", Role.MEMBER, "nlp", unix="nobody"))
    before = _last(platform)
    answer = http.post("jobs", json=GOOD | {"workdir": str(secret)}, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (422, "not-readable")
    assert str(secret) in answer.json()["detail"]
    assert _last(platform) == before


def test_an_unmapped_user_is_refused_in_production(http: TestClient, people: People, platform: Platform) -> None:
    platform.settings = platform.settings.model_copy(update={"mode": "production"})
    headers = people.headers(people.token("ann", Role.MEMBER, "nlp"))
    answer = http.post("jobs", json=GOOD, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (422, "unmapped-user")


def test_root_is_refused_in_production(http: TestClient, people: People, platform: Platform) -> None:
    platform.settings = platform.settings.model_copy(update={"mode": "production"})
    headers = people.headers(people.token("ann", Role.MEMBER, "nlp", unix="root"))
    answer = http.post("jobs", json=GOOD, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (422, "unmapped-user")


def test_a_mapped_user_is_refused_in_production_where_the_server_cannot_become_them(
    http: TestClient, people: People, platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = people.headers(people.token("ann", Role.MEMBER, "nlp", unix="nobody"))
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert http.post("jobs", json=GOOD, headers=headers).status_code == 201, "in development"
    platform.settings = platform.settings.model_copy(update={"mode": "production"})
    answer = http.post("jobs", json=GOOD, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (422, "cannot-become")
    assert "not root" in answer.json()["detail"]
    (engine,) = platform.engines.values()
    monkeypatch.setattr(type(engine), "can", frozenset({Capability.BECOMES}))
    assert http.post("jobs", json=GOOD, headers=headers).status_code == 201


def test_an_unknown_address_is_a_problem_too(http: TestClient, admin: dict[str, str]) -> None:
    answer = http.get("nope", headers=admin)
    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")


def _last(platform: Platform) -> int:
    with platform.database.read() as c:
        return len(
            [r for r in facts.since(c, 0) if r.fact.kind not in ("user-created", "role-granted", "token-issued")]
        )
