"""Errors in the reader's language, whatever was asked; the schema that says what can be asked."""

from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx import Response

from headway.server.access import Role
from headway.server.app import create_app
from headway.server.platform import Platform
from headway.store import facts
from tests.server.conftest import People, Placed
from tests.server.test_bad_input import GOOD

SERVICE = {"name": "chat", "project": "nlp", "version": "tiny@1"}

REFUSED: list[tuple[str, str, dict[str, Any] | None, int]] = [
    ("GET", "nope", None, 404),
    ("DELETE", "jobs", None, 404),
    ("GET", "jobs/nope", None, 404),
    ("GET", "jobs?cursor=nonsense", None, 422),
    ("GET", "jobs?state=dancing", None, 422),
    ("GET", "jobs?limit=0", None, 422),
    ("GET", "jobs/nope/attempts", None, 404),
    ("GET", "jobs/nope/checkpoints", None, 404),
    ("GET", "jobs/nope/bills", None, 404),
    ("GET", "jobs/nope/readings?name=loss", None, 404),
    ("GET", "jobs/nope/logs", None, 404),
    ("POST", "jobs/nope/stop", {}, 404),
    ("POST", "jobs/nope/drills", {"rank": 0}, 404),
    ("POST", "jobs", GOOD | {"priority": 7}, 422),
    ("POST", "jobs", GOOD | {"env": []}, 422),
    ("POST", "jobs", GOOD | {"name": ""}, 422),
    ("POST", "jobs", GOOD | {"resources": {"ranks_per_node": 10**9}}, 422),
    ("POST", "jobs", GOOD | {"resources": {"nodes": 10**30}}, 422),
    ("POST", "jobs", GOOD | {"limit_s": 1e300}, 422),
    ("POST", "jobs", GOOD | {"parameters": {"command": "echo a\0b"}}, 422),
    ("POST", "jobs", GOOD | {"env": {"X": "a\0b"}}, 422),
    ("POST", "jobs", GOOD | {"env": {"A=B": "x"}}, 422),
    ("POST", "jobs", GOOD | {"workdir": "/tmp/\0"}, 422),
    ("POST", "jobs", GOOD | {"template": "command@0"}, 404),
    ("POST", "jobs", GOOD | {"template": "command@99999999999999999999999"}, 422),
    ("POST", "jobs", GOOD | {"template": "command@x"}, 422),
    ("POST", "departments", {"name": "research"}, 409),
    ("POST", "departments", {"name": "a b"}, 422),
    ("POST", "projects", {"name": "new", "department": "nope"}, 404),
    ("POST", "projects", {"name": "nlp", "department": "research"}, 409),
    ("PUT", "projects/nope/quotas/cpu", {"devices": 1}, 404),
    ("PUT", "projects/nlp/quotas/cpu", {"devices": "many"}, 422),
    ("PUT", "projects/nlp/quotas/cpu", {"devices": 10**30}, 422),
    ("POST", "users", {"name": "ann", "password": "short"}, 422),
    ("POST", "users/nope/roles", {"role": "member"}, 404),
    ("POST", "users/ada/roles", {"role": "king"}, 422),
    ("POST", "users/nope/tokens", {}, 404),
    ("POST", "users/ada/tokens", {"days": 0}, 422),
    ("POST", "login", {"user": "nope", "password": "nope"}, 401),
    ("POST", "templates", {"content": {}}, 422),
    ("POST", "templates", {"content": {"name": "x", "command": ["{nobody}"]}}, 422),
    ("POST", "templates", {"content": {"name": "x", "command": ["a"], "parameters": []}}, 422),
    ("POST", "templates", {"content": {"name": "x", "command": ["a"], "parameters": {"p": "q"}}}, 422),
    ("POST", "templates", {"content": {"name": "x", "command": ["a"], "env": []}}, 422),
    ("POST", "templates", {"content": {"name": "x", "command": ["{name!x}"]}}, 422),
    ("POST", "templates", {"content": {"name": "x", "command": ["{name.upper}"]}}, 422),
    ("POST", "templates", {"content": {"name": "x", "command": []}}, 422),
    ("POST", "datasets", {"name": "text", "path": "/no/such/folder"}, 422),
    ("POST", "datasets", {"name": "../x", "path": "/etc"}, 422),
    ("GET", "models/tiny/1", None, 404),
    ("GET", f"models/tiny/{10**30}", None, 422),
    ("POST", "models", {"name": "tiny", "job": "nope"}, 404),
    ("POST", "services", SERVICE, 404),
    ("POST", "services", SERVICE | {"version": "tiny"}, 422),
    ("POST", "services", SERVICE | {"version": "tiny@99999999999999999999999"}, 422),
    ("POST", "services", SERVICE | {"project": "nope"}, 404),
    ("GET", "services/nlp/chat", None, 404),
    ("GET", "services/nlp/chat/history", None, 404),
    ("POST", "services/nlp/chat/shift", {"shares": {"tiny@1": 100}}, 404),
    ("POST", "services/nlp/chat/rollback", {}, 404),
    ("POST", "services/nlp/chat/stop", None, 404),
    ("GET", "facts?after=x", None, 422),
    ("GET", f"facts?after={10**30}", None, 422),
    ("GET", "facts?job=nope", None, 404),
    ("GET", "projects/nlp/statement?month=never", None, 422),
    ("GET", "projects/nlp/statement", None, 422),
]


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_refusal_is_a_problem_in_words(people: People, platform: Platform, language: str) -> None:
    app = create_app(platform, with_loops=False)
    http = TestClient(app, base_url="http://headway.test/api/v1", raise_server_exceptions=False)
    headers = people.headers(people.token("ada", Role.ADMIN), language)
    before = _last(platform)
    wrong = []
    for method, address, body, status in REFUSED:
        answer = http.request(method, address, json=body, headers=headers)
        if answer.status_code != status or not _is_problem(answer, language):
            wrong.append((method, address, body, answer.status_code, answer.text[:300]))
    assert wrong == []
    assert _last(platform) == before


def _is_problem(answer: Response, language: str) -> bool:
    """Whether it is problem+json, whole, and in this language."""
    told = answer.json()
    chinese = [any("\u4e00" <= letter <= "\u9fff" for letter in told[part]) for part in ("detail", "hint")]
    whole = told.keys() >= {"type", "title", "status", "detail", "hint", "code", "params"}
    media = answer.headers["content-type"] == "application/problem+json"
    return whole and media and told["status"] == answer.status_code and chinese == [language == "zh"] * 2


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"name": 7}, "字符串"),
        ({"parameters": 7}, "表"),
        ({"limit_s": "soon"}, "数"),
        ({"limit_s": 0}, "> 0"),
        ({"priority": "asap"}, "urgent | high | normal | low | idle"),
        ({"env": {"X": 1}}, "字符串"),
        ({"name": ""}, "长度至少 1"),
        ({"commit": "x" * 300}, "长度至多 256"),
    ],
)
def test_a_rule_is_said_in_the_readers_language(
    http: TestClient, people: People, change: dict[str, Any], rule: str
) -> None:
    headers = people.headers(people.token("ada", Role.ADMIN), "zh-CN,zh;q=0.9")
    problem = http.post("jobs", json=GOOD | change, headers=headers).json()
    assert problem["code"] == "invalid-field"
    assert rule in problem["detail"], problem["detail"]


def test_why_a_path_is_not_readable_is_said_in_the_readers_language(http: TestClient, people: People) -> None:
    headers = people.headers(people.token("ada", Role.ADMIN), "zh")
    problem = http.post("jobs", json=GOOD | {"workdir": "/no/such/place"}, headers=headers).json()
    assert "路径不存在" in problem["detail"]
    assert "no such" not in problem["detail"]


def test_serving_errors_of_a_version_that_does_not_exist_name_those_that_do(
    http: TestClient, placed: Placed, admin: dict[str, str]
) -> None:
    problem = http.post("services", json=SERVICE, headers=admin).json()
    assert (problem["code"], problem["params"]["what"]) == ("not-found", "model version")


def test_the_schema_is_served_and_every_operation_says_what_it_does(http: TestClient) -> None:
    schema = http.get("openapi.json").json()
    assert schema["openapi"].startswith("3.1")
    operations = [
        (method, path, operation)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
        if method in ("get", "post", "put", "patch", "delete")
    ]
    assert len(operations) > 35
    for method, path, operation in operations:
        assert path.startswith("/api/v1/")
        assert operation.get("summary"), (method, path)
        assert operation.get("tags"), (method, path)
    assert http.get("docs").status_code == 200
    identifiers = [operation["operationId"] for _, _, operation in operations]
    assert len(set(identifiers)) == len(identifiers)


def _last(platform: Platform) -> int:
    with platform.database.read() as c:
        kinds = {"user-created", "role-granted", "token-issued"}
        return len([recorded for recorded in facts.since(c, 0) if recorded.fact.kind not in kinds])
