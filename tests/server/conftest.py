"""A platform on a throw-away home, its HTTP application without loops, and people who may ask it things."""

import asyncio
import shutil
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any, cast

import pytest
import uvicorn
from anyio.from_thread import BlockingPortal, start_blocking_portal
from fastapi import FastAPI
from fastapi.testclient import TestClient
from httpx import Client, Response

from headway.domain.ids import attempt_id
from headway.domain.resources import Node
from headway.server.access import Role
from headway.server.app import create_app
from headway.server.bootstrap import prepare
from headway.server.loops.schedule import Schedule
from headway.server.operations.people.directory import (
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


def settings_of(folder: Path) -> Settings:
    """Two nodes of two CPU slots, everything kept in a folder."""
    return Settings(home=folder / "home", database_url=f"sqlite:///{folder / 'headway.db'}", nodes="n1:2,n2:2")


@pytest.fixture(scope="session")
def furnished(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to copy: a home with a department and two projects, where nothing runs, and its database."""
    folder, clock = tmp_path_factory.mktemp("furnished"), Clock()
    shutil.copyfile(sqlite_template, folder / "headway.db")
    opened = open_platform(settings_of(folder), agent=folder / "agent.pyz")
    opened.clock = clock
    prepare(opened)
    change = Change("test", clock.now())
    with opened.database.write() as c:
        nodes.put(c, [Node("n1", "local", "cpu", 2), Node("n2", "local", "cpu", 2)], clock.now())
        create_department(c, change, "research")
        create_project(c, change, "nlp", "research")
        create_project(c, change, "vision", "research")
    opened.close()
    return folder


@pytest.fixture
def platform(tmp_path: Path, furnished: Path, clock: Clock) -> Iterator[Platform]:
    """A platform of the test's own, furnished."""
    (tmp_path / "home").mkdir()
    for name in ("headway.db", "home/client.json"):
        shutil.copy(furnished / name, tmp_path / name)
    opened = open_platform(settings_of(tmp_path), agent=tmp_path / "agent.pyz")
    opened.clock = clock
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def application() -> FastAPI:
    """All routes, made once: making them takes longer than most tests."""
    return create_app(cast(Platform, SimpleNamespace(settings=Settings(home=Path("/")))), with_loops=False)


@pytest.fixture(scope="session")
def portal() -> Iterator[BlockingPortal]:
    """The event loop that all requests of a session run on: making one takes as long as answering a request."""
    with start_blocking_portal("asyncio") as opened:
        yield opened


@pytest.fixture
def http(platform: Platform, application: FastAPI, portal: BlockingPortal) -> TestClient:
    application.state.platform = platform
    application.middleware_stack = None
    client = TestClient(application, base_url="http://headway.test/api/v1")
    client.portal = portal
    return client


@pytest.fixture
def people(platform: Platform, http: TestClient) -> People:
    return People(platform, http)


@pytest.fixture
def admin(people: People) -> dict[str, str]:
    """Headers of an administrator who reads English."""
    return people.headers(people.token("root-admin", Role.ADMIN))


@dataclass(frozen=True)
class Placed:
    """An attempt that has its devices, with what its agent on n1 needs to speak."""

    job: str
    attempt: str
    headers: dict[str, str]

    @property
    def report(self) -> str:
        return f"agent/{self.attempt}/nodes/n1/report"

    def says(self, http: TestClient, phase: str = "running", **parts: Any) -> Response:
        """One report of the agent."""
        agent = {"pid": 1, "start_ticks": 2, "version": "0.1.0"}
        return http.post(
            self.report,
            json={"seq": 1, "at": 1762156800.0, "agent": agent, "phase": phase, **parts},
            headers=self.headers,
        )

    def starts(self, http: TestClient) -> None:
        self.says(http, ranks=[{"rank": 0, "pid": 10, "started_at": 1762156800.0}])

    def ends(self, http: TestClient, code: int = 0, **end: Any) -> None:
        at = 1762156800.0
        exits = [{"rank": 0, "at": at, "code": code}]
        self.says(http, "ended", exits=exits, ended={"at": at, "reason": "exited", **end})


@pytest.fixture
def placed(platform: Platform, http: TestClient, admin: dict[str, str]) -> Placed:
    """A job of project nlp, placed on n1."""
    http.put("projects/nlp/quotas/cpu", json={"devices": 4}, headers=admin)
    body = {"name": "first", "project": "nlp", "template": "command", "parameters": {"command": "true"}}
    job = http.post("jobs", json=body, headers=admin).json()["id"]
    asyncio.run(Schedule()(platform))
    attempt = attempt_id(job, 1)
    return Placed(job, attempt, {"Authorization": f"Bearer {platform.tokens.of(attempt)}"})


@pytest.fixture
def served(platform: Platform) -> Iterator[Client]:
    """A client of the application behind a real port: streams come as they are written."""
    listening = socket.create_server(("127.0.0.1", 0))
    app = create_app(platform, with_loops=False)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off", timeout_graceful_shutdown=1))
    thread = Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/api/v1/"
    with Client(base_url=url, timeout=60.0, trust_env=False) as client:
        yield client
    server.should_exit = True
    thread.join()
    listening.close()
