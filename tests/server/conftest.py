"""A platform on a throw-away home, its HTTP application without loops, and people who may ask it things."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from headway.domain.resources import Node
from headway.server.access import Role
from headway.server.app import create_app
from headway.server.bootstrap import prepare
from headway.server.operations.directory import (
    Change,
    create_department,
    create_project,
    create_user,
    grant_role,
    issue_token,
)
from headway.server.platform import Platform, open_platform
from headway.server.settings import Settings
from headway.store import nodes


class Clock:
    """Stands still until told to move."""

    def __init__(self) -> None:
        self.at = datetime(2026, 11, 3, 8, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at

    def move(self, by: timedelta) -> None:
        self.at += by


class People:
    """Clients with the tokens of an administrator and of users made on the way."""

    def __init__(self, platform: Platform, http: TestClient) -> None:
        self.platform = platform
        self.http = http

    def token(self, name: str, role: Role | None = None, project: str | None = None, unix: str | None = None) -> str:
        """A new user with a role, and a token of theirs."""
        change = Change("test", self.platform.clock.now())
        with self.platform.database.write() as c:
            create_user(c, change, name, None, unix)
            if role is not None:
                grant_role(c, change, name, role, project)
            return issue_token(c, change, name)

    def headers(self, token: str, language: str = "en") -> dict[str, str]:
        return {"Authorization": f"Bearer {token}", "Accept-Language": language}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def platform(tmp_path: Path, sqlite_url: str, clock: Clock) -> Iterator[Platform]:
    """Two nodes of two CPU slots, a department, two projects; nothing runs."""
    settings = Settings(home=tmp_path / "home", database_url=sqlite_url, nodes="n1:2,n2:2")
    opened = open_platform(settings, agent=tmp_path / "agent.pyz")
    opened.clock = clock
    prepare(opened)
    change = Change("test", clock.now())
    with opened.database.write() as c:
        nodes.put(c, [Node("n1", "local", "cpu", 2), Node("n2", "local", "cpu", 2)], clock.now())
        create_department(c, change, "research")
        create_project(c, change, "nlp", "research")
        create_project(c, change, "vision", "research")
    yield opened
    opened.close()


@pytest.fixture
def http(platform: Platform) -> TestClient:
    return TestClient(create_app(platform, with_loops=False), base_url="http://headway.test/api/v1")


@pytest.fixture
def people(platform: Platform, http: TestClient) -> People:
    return People(platform, http)


@pytest.fixture
def admin(people: People) -> dict[str, str]:
    """Headers of an administrator who reads English."""
    return people.headers(people.token("root-admin", Role.ADMIN))
