"""Live: what a real Envoy acknowledges and what it refuses."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.domain.errors import PlatformError
from headway.gateway import envoy, files
from headway.gateway.admin import Admin
from headway.gateway.apply import Discovery, Serving
from headway.gateway.process import EnvoyProcess
from headway.gateway.routes import Routes, ServiceRoute, Share
from tests.gateway.running import until

pytestmark = pytest.mark.live


def routes_of(version: str, port: int) -> Routes:
    return Routes(1, (ServiceRoute("nlp", "chat", "/s/nlp/chat/", (Share(version, 100, (f"127.0.0.1:{port}",)),)),))


class Plane:
    """An Envoy led without the gateway's loop."""

    def __init__(self, directory: Path) -> None:
        self.admin = Admin(str(directory / envoy.ADMIN_SOCKET))
        self.process = EnvoyProcess(directory, 1)
        self.discovery = Discovery(directory, self.admin, self.process.is_alive)
        self.serving = Serving(self.discovery)
        files.write_json(directory / "boot.json", envoy.bootstrap(None))

    def start(self) -> None:
        self.serving.prepare(envoy.listener("127.0.0.1", 0, None))
        self.process.start()
        self.serving.await_start()

    def has(self, cluster: str) -> bool:
        name = f"cluster.{cluster}.membership_total"
        return self.admin.values(f"^{name}$").get(name) == 1


@pytest.fixture
def plane(tmp_path: Path) -> Iterator[Plane]:
    found = Plane(tmp_path)
    found.start()
    yield found
    found.process.stop()


def test_a_refused_route_table_is_taken_back_and_said(plane: Plane) -> None:
    plane.serving.change(routes_of("v1", 1001))
    good = envoy.route_table(plane.serving.routes)
    bad = {**good, "virtual_hosts": good["virtual_hosts"] * 2}
    with pytest.raises(PlatformError) as caught:
        plane.discovery.put("rds", [bad])
    assert (caught.value.code, caught.value.params["what"]) == ("envoy-refused", "rds")
    assert "rds.json" in str(caught.value.params["detail"]) or "ingress" in str(caught.value.params["detail"])
    plane.serving.change(routes_of("v2", 1002))
    assert plane.has("nlp/chat/v2")


def test_clusters_of_refused_routes_do_not_stay(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    plane.serving.change(routes_of("v1", 1001))
    wanted = routes_of("v2", 1002)
    whole = envoy.route_table

    def broken(routes: Routes) -> envoy.Config:
        return {**whole(routes), "virtual_hosts": "none"} if routes is wanted else whole(routes)

    monkeypatch.setattr(envoy, "route_table", broken)
    with pytest.raises(PlatformError):
        plane.serving.change(wanted)
    assert plane.serving.routes == routes_of("v1", 1001)
    assert plane.serving.cluster_names == ["nlp/chat/v1"]
    until(lambda: not plane.has("nlp/chat/v2"), "the added cluster to go")


def test_a_retired_cluster_stays_while_something_is_in_flight(plane: Plane) -> None:
    plane.serving.change(routes_of("v1", 1001))
    plane.serving.change(routes_of("v2", 1002))
    assert plane.serving.is_draining("nlp/chat/v1")

    def dropped(in_flight: int) -> bool:
        plane.serving.drop_drained({"nlp/chat/v1": in_flight})
        return plane.serving.cluster_names == ["nlp/chat/v2"]

    assert not dropped(in_flight=0)  # too early to know
    plane.serving.change(routes_of("v1", 1001))
    assert not plane.serving.is_draining("nlp/chat/v1")
    plane.serving.change(routes_of("v2", 1002))
    until(lambda: dropped(in_flight=0), "v1 to be dropped")
    assert not plane.has("nlp/chat/v1")


def test_an_envoy_that_ends_is_noticed_before_the_deadline_of_an_answer(plane: Plane) -> None:
    plane.process.stop()
    with pytest.raises(PlatformError) as caught:
        plane.serving.change(routes_of("v1", 1001))
    assert "it ended" in str(caught.value.params["detail"])


def test_back_off_grows_while_envoy_keeps_dying(plane: Plane) -> None:
    waits = [plane.process.back_off_s]
    for _ in range(3):
        plane.process.stop()
        assert not plane.process.may_start()
        waits.append(plane.process.back_off_s)
        until(plane.process.may_start, "the back-off to pass")
        plane.process.start()
    assert waits == pytest.approx([0.2, 0.4, 0.8, 1.6])
