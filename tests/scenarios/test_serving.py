"""Stories of services: deployed, ready, shifted, rolled back, stopped; the gateway gets what it is to serve."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from headway.domain.errors import PlatformError
from headway.domain.service import Service
from headway.engines.fake import engine as fake
from headway.server.operations.assets import serving
from headway.server.operations.assets.assets import register_model
from headway.store import jobs, services
from tests.scenarios.work import Work
from tests.scenarios.world import World


class Health(BaseHTTPRequestHandler):
    """Answers 200 on /health once it is ready, and what no HTTP client understands while it is confused."""

    def do_GET(self) -> None:
        self.server.meanwhile()  # type: ignore[attr-defined]
        if self.server.mood == "confused":  # type: ignore[attr-defined]
            self.wfile.write(b"hello, who is there?\r\n\r\n")
            return
        ready = self.server.mood == "ready" and self.path == "/health"  # type: ignore[attr-defined]
        self.send_response(200 if ready else 503)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


class Endpoint(ThreadingHTTPServer):
    """`meanwhile`: what happens elsewhere while it is being asked."""

    mood = "loading"
    meanwhile: Callable[[], None] = staticmethod(lambda: None)


@contextmanager
def endpoint() -> Iterator[Endpoint]:
    """A real HTTP server that loads until told otherwise."""
    with Endpoint(("127.0.0.1", 0), Health) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class Shop:
    """A service `chat` and what a person does to it."""

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        self.world = world
        self._patch = monkeypatch
        train = world.submit("train", devices=1)
        world.settle()
        train.starts()
        steps = (10, 20, 30)
        for step in steps:
            train.saves(step)
        self.versions = [register_model(world.platform, world.change, "tiny", train.job, step) for step in steps]
        train.finishes()
        world.settle()

    def deploys(self, version: int, server: Endpoint, name: str = "chat") -> Work:
        """Deploy a version; its replica will listen where `server` does."""
        self._patch.setattr(fake, "FIRST_PORT", server.server_address[1] - len(self.world.machines.parts))
        wanted = serving.Deployment(name, "nlp", f"tiny@{version}", "serve")
        with self.world.platform.database.write() as c:
            serving.deploy(self.world.platform, c, self.world.change, wanted)
            job = next(r.job for r in services.replicas(c, f"nlp/{name}") if r.state == "starting")
        self.world.settle()
        work = Work(self.world, job)
        work.starts()
        self.world.settle()
        return work

    def shifts(self, **shares: int) -> None:
        wanted = {f"tiny@{version[1:]}": weight for version, weight in shares.items()}
        with self.world.platform.database.write() as c:
            serving.shift(c, self.world.change, self.service, wanted, "canary")
        self.world.settle()

    def rolls_back(self) -> None:
        with self.world.platform.database.write() as c:
            serving.roll_back(c, self.world.change, self.service, "worse")
        self.world.settle()

    def stops(self) -> None:
        self.is_stopped()
        self.world.settle()

    def is_stopped(self) -> None:
        """A person stops it, and no loop has turned yet."""
        service = self.service
        with self.world.platform.database.write() as c:
            serving.stop_service(c, self.world.change, service)

    @property
    def service(self) -> Service:
        with self.world.platform.database.read() as c:
            found = services.get(c, "chat", "nlp")
        assert found is not None
        return found

    @property
    def history(self) -> list[dict[str, int]]:
        with self.world.platform.database.read() as c:
            return [{s.version: s.weight for s in split.shares} for split in services.splits(c, "chat", "nlp")]

    def routes(self, name: str = "chat") -> dict[str, int]:
        """What the gateway is told: the weight of each version."""
        file = self.world.platform.gateway / "routes.json"
        told: list[dict[str, Any]] = json.loads(file.read_text())["services"] if file.exists() else []
        mine = [service for service in told if service["name"] == name]
        return {split["version"]: split["weight"] for service in mine for split in service["splits"]}


@pytest.fixture
def shop(world: World, monkeypatch: pytest.MonkeyPatch) -> Shop:
    return Shop(world, monkeypatch)


def test_shift_traffic_and_back(shop: Shop) -> None:
    world = shop.world
    with endpoint() as one, endpoint() as two:
        first = shop.deploys(1, one)
        assert (first.state, shop.routes()) == ("running", {})
        one.mood = "ready"
        world.settle()
        assert shop.routes() == {"tiny@1": 100}

        shop.deploys(2, two)
        with pytest.raises(PlatformError) as refused:
            shop.shifts(v1=90, v2=10)
        assert refused.value.code == "version-not-ready"
        assert shop.routes() == {"tiny@1": 100}
        two.mood = "ready"
        world.settle()
        assert shop.routes() == {"tiny@1": 100, "tiny@2": 0}

        shop.shifts(v1=90, v2=10)
        assert shop.routes() == {"tiny@1": 90, "tiny@2": 10}
        shop.shifts(v1=0, v2=100)
        assert shop.routes() == {"tiny@1": 0, "tiny@2": 100}
        shop.rolls_back()
        assert shop.routes() == {"tiny@1": 90, "tiny@2": 10}
        assert shop.history == [
            {"tiny@1": 100},
            {"tiny@1": 90, "tiny@2": 10},
            {"tiny@1": 0, "tiny@2": 100},
            {"tiny@1": 90, "tiny@2": 10},
        ]
        world.restart()
        world.settle()
        assert shop.routes() == {"tiny@1": 90, "tiny@2": 10}

        world.later(hours=1)
        shop.stops()
        assert (shop.routes(), first.state) == ({}, "stopping")
        first.obeys()
        world.settle()
        assert first.state == "stopped"
    assert set(world.statement().totals) == {"a100/occupancy", "a100/resident"}


def test_a_replica_that_breaks_gets_no_requests_until_it_is_ready_again(shop: Shop) -> None:
    world = shop.world
    with endpoint() as one, endpoint() as two:
        one.mood = two.mood = "ready"
        shop.deploys(1, one)
        second = shop.deploys(2, two)
        shop.shifts(v1=50, v2=50)
        second.breaks(signal=9)
        world.turn("serve")
        assert shop.routes() == {"tiny@1": 100}
        world.settle()
        second.starts()
        world.settle()
        assert second.attempt.number == 2


def test_a_ready_replica_that_stops_answering_leaves_the_routes_until_it_answers_again(shop: Shop) -> None:
    world = shop.world
    with endpoint() as one:
        one.mood = "ready"
        shop.deploys(1, one)
        one.mood = "hung"
        for _ in range(2):
            world.later(seconds=10)
            assert shop.routes() == {"tiny@1": 100}
        one.mood = "ready"
        world.later(seconds=10)  # failures that are not in a row are borne
        one.mood = "hung"
        for _ in range(2):
            world.later(seconds=10)
            assert shop.routes() == {"tiny@1": 100}
        world.later(seconds=10)
        assert shop.routes() == {}
        one.mood = "ready"
        world.settle()
        assert shop.routes() == {"tiny@1": 100}


def test_a_service_stopped_while_its_replica_is_asked_never_gets_routes(shop: Shop) -> None:
    with endpoint() as one:
        shop.deploys(1, one)
        one.mood = "ready"
        one.meanwhile = shop.is_stopped
        shop.world.turn("serve")
        assert (shop.routes(), shop.world.facts("replica-ready")) == ({}, [])
        with shop.world.platform.database.read() as c:
            assert [replica.state for replica in services.replicas(c)] == ["gone"]


def test_a_replica_that_speaks_nonsense_holds_up_no_other(shop: Shop) -> None:
    with endpoint() as confused, endpoint() as other:
        confused.mood, other.mood = "confused", "ready"
        shop.deploys(1, confused, name="alpha")
        shop.deploys(1, other, name="chat")
        assert (shop.routes("alpha"), shop.routes("chat")) == ({}, {"tiny@1": 100})


def test_a_version_is_served_once(shop: Shop) -> None:
    with endpoint() as one:
        shop.deploys(1, one)
        with pytest.raises(PlatformError) as refused:
            shop.deploys(1, one)
        assert refused.value.code == "already-exists"


def test_a_service_that_was_stopped_begins_anew_with_another_version(shop: Shop) -> None:
    with endpoint() as one, endpoint() as two:
        one.mood = two.mood = "ready"
        shop.deploys(1, one)
        shop.stops()
        shop.stops()
        assert len(shop.world.facts("service-stopped")) == 1
        shop.deploys(2, two)
        assert shop.routes() == {"tiny@2": 100}
        assert shop.history == [{"tiny@1": 100}, {"tiny@2": 100}]
        with pytest.raises(PlatformError) as refused:
            shop.rolls_back()
        assert refused.value.code == "version-not-ready"


def test_a_version_knows_the_environment_it_was_trained_in(shop: Shop) -> None:
    told = {"python": "3.11.2", "kernel": "6.1", "device_type": "a100", "nodes": "n1"}
    assert shop.versions[0].lineage.environment == told


def test_a_checkpoint_registered_again_is_the_same_version(shop: Shop) -> None:
    again = shop.versions[1]
    with shop.world.platform.database.read() as c:
        job = jobs.get(c, again.lineage.job)
    assert job is not None
    assert register_model(shop.world.platform, shop.world.change, "tiny", job, again.lineage.step) == again
    assert [folder.name for folder in sorted(shop.world.platform.models.joinpath("tiny").iterdir())] == ["1", "2", "3"]
