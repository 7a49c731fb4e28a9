"""What belongs to a project is neither read, nor served, nor named to who may not read there."""

from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx import Response

from headway.domain.errors import PlatformError
from headway.domain.ids import AttemptId, JobId
from headway.domain.service import Service
from headway.domain.version import Lineage, ModelVersion
from headway.server.access import Role
from headway.server.operations.assets.models import check_name_is_free
from headway.server.platform import Platform
from headway.store import assets, facts, services
from tests.server.conftest import People
from tests.server.test_bad_input import GOOD

TEMPLATE = {
    "name": "reader",
    "command": ["cat", "{model}"],
    "parameters": {"model": {"type": "model"}},
}
Headers = dict[str, str]


@pytest.fixture
def bob(people: People) -> Headers:
    """A member of vision, who may not read in nlp."""
    return people.headers(people.token("bob", Role.MEMBER, "vision"))


@pytest.fixture(autouse=True)
def secret(platform: Platform, http: TestClient, admin: Headers) -> None:
    """A version and a service of nlp."""
    lineage = Lineage(JobId("j"), AttemptId("j.1"), 1, "/c", "d", "command@1", {}, None, None, None)
    at = platform.clock.now()
    with platform.database.write() as c:
        assets.add_model(c, ModelVersion("secret", 1, "nlp", "/tmp", "d", 1, at, "ann", lineage))
        services.add(c, Service("hidden", "nlp", at, "ann"))
    assert http.post("templates", json={"content": TEMPLATE}, headers=admin).status_code == 201


def _deploy(http: TestClient, headers: Headers, version: str) -> Response:
    return http.post("services", json={"name": "s", "project": "vision", "version": version}, headers=headers)


def _submit(http: TestClient, headers: Headers, model: str) -> Response:
    body: dict[str, Any] = {"project": "vision", "template": "reader", "parameters": {"model": model}}
    return http.post("jobs", json=GOOD | body, headers=headers)


def test_a_model_of_another_project_is_neither_deployed_nor_read_by_a_job(
    http: TestClient, bob: Headers, platform: Platform
) -> None:
    with platform.database.read() as c:
        before = facts.last_seq(c)
    for answer in (_deploy(http, bob, "secret@1"), _submit(http, bob, "secret@1")):
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert http.get("models/secret/1", headers=bob).status_code == 403
    with platform.database.read() as c:
        assert facts.last_seq(c) == before


def test_names_of_another_project_are_not_told_as_near(http: TestClient, bob: Headers, admin: Headers) -> None:
    for headers, told in ((bob, False), (admin, True)):
        answers = [
            http.get("models/nope/1", headers=headers),
            _deploy(http, headers, "nope@1"),
            _submit(http, headers, "nope@1"),
        ]
        assert [answer.status_code for answer in answers] == [404] * 3
        assert ["secret@1" in answer.text for answer in answers] == [told] * 3
        missing = http.get("services/vision/nope", headers=headers)
        assert missing.status_code == 404
        assert ("hidden" in missing.text) == told


def test_a_name_under_which_another_project_registers_is_refused(platform: Platform) -> None:
    with platform.database.read() as c:
        check_name_is_free(c, "secret", "nlp")
        check_name_is_free(c, "fresh", "vision")
        with pytest.raises(PlatformError) as refused:
            check_name_is_free(c, "secret", "vision")
    assert refused.value.code == "already-exists"
