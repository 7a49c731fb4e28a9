"""Live: a real Envoy led by a real gateway, in front of small upstreams."""

import threading
from collections import Counter
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any

import pytest

from tests.gateway.running import DEADLINE_S, Clients, Running, ask, running, service, until
from tests.gateway.upstream import CHUNKS, Upstream

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("gateway")) as found:
        yield found


@pytest.fixture(scope="module")
def one() -> Iterator[Upstream]:
    with Upstream("one") as found:
        yield found


@pytest.fixture(scope="module")
def two() -> Iterator[Upstream]:
    with Upstream("two") as found:
        yield found


class Generations:
    """Numbers for the routes of this module, rising."""

    last = 0

    @classmethod
    def next(cls) -> int:
        cls.last += 1
        return cls.last


def shift(gateway: Running, one: Upstream, two: Upstream, weight: int) -> None:
    splits = [("v1", weight, [one.endpoint]), ("v2", 100 - weight, [two.endpoint])]
    gateway.serve(Generations.next(), service(splits))


def read_stream(gateway: Running, begun: threading.Event, lines: list[str]) -> None:
    connection = HTTPConnection("127.0.0.1", gateway.port, timeout=DEADLINE_S)
    connection.request("GET", "/s/nlp/chat/stream")
    answer = connection.getresponse()
    while line := answer.readline():
        lines.append(line.decode().strip())
        begun.set()
    connection.close()


def test_ninety_to_ten_is_ninety_to_ten(gateway: Running, one: Upstream, two: Upstream) -> None:
    shift(gateway, one, two, 90)
    connection = HTTPConnection("127.0.0.1", gateway.port, timeout=DEADLINE_S)
    answers = Counter(ask(connection, "/s/nlp/chat/x")[1]["from"] for _ in range(2000))
    connection.close()
    # 200 expected, standard deviation 13.4: five of them on either side
    assert answers.total() == 2000
    assert 133 <= answers["two"] <= 267


def test_the_prefix_is_taken_off_and_the_version_is_told(gateway: Running, one: Upstream, two: Upstream) -> None:
    shift(gateway, one, two, 100)
    connection = HTTPConnection("127.0.0.1", gateway.port, timeout=DEADLINE_S)
    connection.request("POST", "/s/nlp/chat/v1/chat/completions?a=1", body=b'{"model": "chat"}')
    answer = connection.getresponse()
    assert b'"path": "/v1/chat/completions?a=1"' in answer.read()
    assert answer.headers["x-headway-version"] == "v1"
    connection.close()


def test_the_test_entry_reaches_a_version_without_weight(gateway: Running, one: Upstream, two: Upstream) -> None:
    shift(gateway, one, two, 100)
    answers = [gateway.get(x_headway_version="v2") for _ in range(20)]
    assert {body["from"] for _, body in answers} == {"two"}
    unknown, nobody = gateway.get(x_headway_version="v9"), gateway.get("/s/nlp/nobody/")
    assert (unknown[0], unknown[1]["code"]) == (404, "no-such-version")
    assert (nobody[0], nobody[1]["code"]) == (404, "no-such-service")


def test_a_client_cannot_set_time_limits_by_envoys_own_headers(gateway: Running, one: Upstream, two: Upstream) -> None:
    shift(gateway, one, two, 100)
    assert gateway.get("/s/nlp/chat/slow", x_envoy_upstream_rq_timeout_ms="1")[0] == 200


def test_shifting_and_rolling_back_fails_no_request(gateway: Running, one: Upstream, two: Upstream) -> None:
    shift(gateway, one, two, 90)
    with Clients(gateway.port) as clients:
        clients.await_more(400)
        shift(gateway, one, two, 0)
        clients.await_more(50)  # answers that were under way
        assert set(clients.await_more(400)) == {"two"}
        shift(gateway, one, two, 90)
        clients.await_more(50)
        back = clients.await_more(400)
        for weight in (50, 0, 100, 10, 90) * 3:
            shift(gateway, one, two, weight)
        clients.await_more(200)
    assert clients.failures == []
    assert back["one"] > back["two"] > 0
    assert clients.answers.total() >= 1000


def test_versions_come_and_go_without_a_failed_request(gateway: Running, one: Upstream, two: Upstream) -> None:
    gateway.serve(Generations.next(), service([("v1", 100, [one.endpoint])]))
    with Clients(gateway.port) as clients:
        clients.await_more(100)
        for _ in range(3):
            gateway.serve(Generations.next(), service([("v2", 100, [two.endpoint])]))
            clients.await_more(50)
            assert set(clients.await_more(100)) == {"two"}
            gateway.serve(Generations.next(), service([("v1", 100, [one.endpoint, two.endpoint])]))
            clients.await_more(100)
            gateway.serve(Generations.next(), service([("v1", 100, [one.endpoint])]))
            clients.await_more(50)
            assert set(clients.await_more(100)) == {"one"}
    assert clients.failures == []


def test_a_stream_survives_the_removal_of_its_version(gateway: Running, one: Upstream, two: Upstream) -> None:
    gateway.serve(Generations.next(), service([("v1", 100, [one.endpoint])]))
    begun, lines = threading.Event(), list[str]()
    reader = threading.Thread(target=read_stream, args=(gateway, begun, lines))
    reader.start()
    assert begun.wait(DEADLINE_S)
    gateway.serve(Generations.next(), service([("v2", 100, [two.endpoint])]))
    assert gateway.get()[1]["from"] == "two"
    reader.join(DEADLINE_S)
    assert [line for line in lines if line] == [f"data: one {number}" for number in range(CHUNKS)]


def test_a_stream_survives_a_change_of_its_versions_endpoints(gateway: Running, one: Upstream, two: Upstream) -> None:
    gateway.serve(Generations.next(), service([("v1", 100, [one.endpoint])]))
    begun, lines = threading.Event(), list[str]()
    reader = threading.Thread(target=read_stream, args=(gateway, begun, lines))
    reader.start()
    assert begun.wait(DEADLINE_S)
    gateway.serve(Generations.next(), service([("v1", 100, [two.endpoint])]))
    assert gateway.get()[1]["from"] == "two"
    reader.join(DEADLINE_S)
    assert [line for line in lines if line] == [f"data: one {number}" for number in range(CHUNKS)]


def test_a_removed_version_is_named_as_draining_until_its_stream_ends(
    gateway: Running, one: Upstream, two: Upstream
) -> None:
    gateway.serve(Generations.next(), service([("v1", 100, [one.endpoint])]))
    begun, lines = threading.Event(), list[str]()
    reader = threading.Thread(target=read_stream, args=(gateway, begun, lines))
    reader.start()
    assert begun.wait(DEADLINE_S)
    gateway.serve(Generations.next(), service([("v2", 100, [two.endpoint])]))

    def versions() -> dict[str, tuple[bool, int]]:
        found = gateway.stats().get("services", [])
        return {v["version"]: (v["draining"], v["in_flight"]) for each in found for v in each["versions"]}

    until(lambda: versions().get("v1") == (True, 1), f"v1 draining with its stream: {versions()}")
    reader.join(DEADLINE_S)
    until(lambda: set(versions()) == {"v2"}, f"v1 dropped after its stream: {versions()}")
    assert len([line for line in lines if line]) == CHUNKS


def test_a_dead_endpoint_beside_a_living_one_fails_no_request(gateway: Running, one: Upstream) -> None:
    with Upstream("gone") as gone:
        dead = gone.endpoint
    gateway.serve(Generations.next(), service([("v1", 100, [one.endpoint, dead])]))
    with Clients(gateway.port) as clients:
        assert set(clients.await_more(300)) == {"one"}
    assert clients.failures == []


def test_an_endpoint_that_comes_back_is_used_again(gateway: Running, one: Upstream) -> None:
    with Upstream("gone") as gone:
        port = gone.port
    gateway.serve(Generations.next(), service([("v1", 100, [one.endpoint, f"127.0.0.1:{port}"])]))
    assert gateway.get()[1]["from"] == "one"
    with Upstream("back", port), Clients(gateway.port, threads=2) as clients:
        until(lambda: clients.answers["back"], "an answer of the endpoint that came back")
        assert clients.failures == []


def test_statistics_count_requests_errors_and_latency_by_version(
    gateway: Running, one: Upstream, two: Upstream
) -> None:
    splits = [("m1", 100, [one.endpoint]), ("m2", 0, [two.endpoint])]
    gateway.serve(Generations.next(), service(splits, name="measured"))
    for _ in range(20):
        gateway.get("/s/nlp/measured/x")
    for _ in range(3):
        gateway.get("/s/nlp/measured/broken", x_headway_version="m2")
    gateway.get("/s/nlp/measured/slow", x_headway_version="m2")

    def version(name: str) -> dict[str, Any]:
        found = [each for each in gateway.stats().get("services", []) if each["name"] == "measured"]
        return next((v for each in found for v in each["versions"] if v["version"] == name), {"recent": {}})

    until(lambda: (version("m2")["recent"].get("p95_ms") or 0) >= 900, f"the slow answer in {version('m2')}")
    one_seen, two_seen = version("m1"), version("m2")
    assert (one_seen["requests"], one_seen["errors_5xx"]) == (20, 0)
    assert (two_seen["requests"], two_seen["errors_5xx"], two_seen["in_flight"]) == (4, 3, 0)
    assert two_seen["recent"]["requests"] == 4
    assert two_seen["recent"]["p50_ms"] < 900
    assert (two_seen["healthy_endpoints"], two_seen["endpoints"]) == (1, 1)
