"""What the gateway adds: latency at one request at a time, and requests a second at sixteen, against the same upstream.

The upstream is an Envoy that answers 250 bytes by itself, so that it is not what is measured. One client on raw sockets
asks both ways in alternating rounds; figures are medians over rounds.
`python -m benchmarks.gateway [--json] [--rounds N]`.
"""

import argparse
import json
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from headway.gateway.process import find_envoy

PATH = "/s/bench/echo/"
BODY = "x" * 250
MANY = 16
START_S = 60.0
HTTP = "type.googleapis.com/envoy.extensions.filters"


@dataclass(frozen=True)
class Row:
    """One way to the same answer: milliseconds at one request at a time, requests a second at sixteen."""

    way: str
    p50_ms: float
    p95_ms: float
    added_p50_ms: float
    requests_per_s: float
    ratio: float


def upstream_config(port: int) -> dict[str, Any]:
    """A static Envoy that answers every request itself."""
    answer = {"match": {"prefix": "/"}, "direct_response": {"status": 200, "body": {"inline_string": BODY}}}
    connections = {
        "@type": f"{HTTP}.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "upstream",
        "route_config": {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [answer]}]},
        "http_filters": [{"name": "router", "typed_config": {"@type": f"{HTTP}.http.router.v3.Router"}}],
    }
    listener = {
        "name": "upstream",
        "address": {"socket_address": {"address": "127.0.0.1", "port_value": port}},
        "filter_chains": [{"filters": [{"name": "http", "typed_config": connections}]}],
    }
    return {"static_resources": {"listeners": [listener]}}


def free_port() -> int:
    """A port nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def await_port(port: int) -> None:
    """Wait until something listens."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise TimeoutError(f"nothing listens on port {port}")


@contextmanager
def process(*command: str | Path) -> Iterator[None]:
    """Run a process for as long as the block."""
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        running.terminate()
        running.wait(START_S)


@contextmanager
def both_ways(directory: Path) -> Iterator[dict[str, int]]:
    """The upstream's port and the gateway's, by name, serving until the block ends."""
    upstream, gateway = free_port(), free_port()
    (directory / "upstream.json").write_text(json.dumps(upstream_config(upstream)))
    shares = [{"version": "v1", "weight": 100, "endpoints": [f"127.0.0.1:{upstream}"]}]
    routes = {"generation": 1, "services": [{"name": "echo", "project": "bench", "splits": shares}]}
    (directory / "routes.json").write_text(json.dumps(routes))
    envoy: list[str | Path] = [
        find_envoy(),
        "-c",
        directory / "upstream.json",
        "--concurrency",
        "1",
        "--disable-hot-restart",
    ]
    run: list[str | Path] = [
        sys.executable,
        "-m",
        "headway.gateway.main",
        "run",
        "--dir",
        directory,
        "--port",
        str(gateway),
    ]
    with process(*envoy):
        await_port(upstream)
        with process(*run):
            deadline = time.monotonic() + START_S
            while time.monotonic() < deadline and not _is_applied(directory):
                time.sleep(0.05)
            yield {"direct": upstream, "gateway": gateway}


def _is_applied(directory: Path) -> bool:
    status = directory / "status.json"
    return status.exists() and json.loads(status.read_text())["generation"] == 1


class Client:
    """Kept connections to one port, each with one request under way at a time."""

    def __init__(self, port: int, connections: int) -> None:
        self._request = f"GET {PATH} HTTP/1.1\r\nhost: bench\r\n\r\n".encode()
        self._sockets = [socket.create_connection(("127.0.0.1", port)) for _ in range(connections)]
        for each in self._sockets:
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def latencies(self, count: int) -> list[float]:
        """Seconds of each of `count` requests, one after the other."""
        return [self._one() for _ in range(count)]

    def rate(self, count: int) -> float:
        """Requests a second over `count` requests on all connections."""
        began = time.perf_counter()
        left = count
        with selectors.DefaultSelector() as selector:
            for each in self._sockets:
                each.sendall(self._request)
                selector.register(each, selectors.EVENT_READ, each)
            while left > 0:
                for key, _ in selector.select():
                    self._receive(key.data)
                    left -= 1
                    if left >= len(self._sockets):
                        key.data.sendall(self._request)
        return count / (time.perf_counter() - began)

    def close(self) -> None:
        """Close all connections."""
        for each in self._sockets:
            each.close()

    def _one(self) -> float:
        began = time.perf_counter()
        self._sockets[0].sendall(self._request)
        self._receive(self._sockets[0])
        return time.perf_counter() - began

    @staticmethod
    def _receive(connection: Any) -> None:
        answer = connection.recv(4096)
        while not answer.endswith(BODY.encode()):
            answer += connection.recv(4096)
        if b" 200 " not in answer[:16]:
            raise ValueError(answer[:100])


def measure(ports: dict[str, int], rounds: int, requests: int) -> list[Row]:
    """The table's rows: direct first."""
    seen: dict[str, list[tuple[float, float, float]]] = {way: [] for way in ports}
    for number in range(rounds):
        for way in sorted(ports, reverse=number % 2 == 1):
            one, many = Client(ports[way], 1), Client(ports[way], MANY)
            one.latencies(50)
            taken = sorted(one.latencies(requests))
            seen[way].append((taken[requests // 2], taken[requests * 95 // 100], many.rate(5 * requests)))
            one.close()
            many.close()
    medians = {way: [statistics.median(column) for column in zip(*each, strict=True)] for way, each in seen.items()}
    floor_p50, _, floor_rate = medians["direct"]
    return [
        Row(way, 1000 * p50, 1000 * p95, 1000 * (p50 - floor_p50), rate, rate / floor_rate)
        for way, (p50, p95, rate) in medians.items()
    ]


def main() -> None:
    """Run and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--requests", type=int, default=1000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory, both_ways(Path(directory)) as ports:
        rows = measure(ports, given.rounds, given.requests)
    if given.json:
        print(json.dumps([asdict(row) for row in rows]))
        return
    print(f"{'way':<8} {'p50 ms':>8} {'p95 ms':>8} {'added p50':>10} {f'req/s c={MANY}':>12} {'ratio':>6}")
    for row in rows:
        print(
            f"{row.way:<8} {row.p50_ms:>8.3f} {row.p95_ms:>8.3f} {row.added_p50_ms:>10.3f}"
            f" {row.requests_per_s:>12.0f} {row.ratio:>6.2f}"
        )


if __name__ == "__main__":
    main()
