"""The HTTP connection against raw answers, the way servers and proxies really write them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from headway.agent.delivery.wire import Connection, WireError


class RawServer:
    """Answers each connection with the next list of raw answers, one per request."""

    def __init__(self, *connections: list[bytes]) -> None:
        self.requests: list[bytes] = []
        self._connections = list(connections)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        for answers in self._connections:
            connection, _ = self._listener.accept()
            with connection:
                for answer in answers:
                    self.requests.append(self._read(connection))
                    connection.sendall(answer)

    def _read(self, connection: socket.socket) -> bytes:
        received = b""
        while b"\r\n\r\n" not in received or len(received.partition(b"\r\n\r\n")[2]) < self._length(received):
            received += connection.recv(65536)
        return received

    def _length(self, received: bytes) -> int:
        return int(received.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])

    def close(self) -> None:
        self._thread.join(60)
        self._listener.close()


@pytest.fixture
def opened() -> Iterator[list[RawServer]]:
    servers: list[RawServer] = []
    yield servers
    for server in servers:
        server.close()


def post(opened: list[RawServer], *connections: list[bytes], times: int = 1) -> list[tuple[int, bytes]]:
    opened.append(RawServer(*connections))
    connection = Connection(f"http://127.0.0.1:{opened[-1].port}/headway/", None, timeout_s=30.0)
    try:
        return [connection.post("/x?y=1", {"A": "b"}, b"body") for _ in range(times)]
    finally:
        connection.close()


def test_a_request_names_the_host_the_prefix_and_the_length(opened: list[RawServer]) -> None:
    assert post(opened, [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"]) == [(200, b"ok")]
    head, _, body = opened[0].requests[0].partition(b"\r\n\r\n")
    assert head.split(b"\r\n")[0] == b"POST /headway/x?y=1 HTTP/1.1"
    assert {f"Host: 127.0.0.1:{opened[0].port}".encode(), b"Content-Length: 4", b"A: b"} <= set(head.split(b"\r\n"))
    assert body == b"body"


def test_chunked_answers_and_interim_ones_are_understood(opened: list[RawServer]) -> None:
    chunked = (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"3;x=1\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: x\r\n\r\n"
    )
    plain = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"
    assert post(opened, [chunked, plain], times=2) == [(201, b"abcde"), (200, b"")]


def test_a_connection_that_the_server_closed_meanwhile_is_replaced(opened: list[RawServer]) -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    assert post(opened, [answer], [answer], times=2) == [(200, b""), (200, b"")]


def test_connection_close_is_obeyed(opened: list[RawServer]) -> None:
    answer = b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    assert post(opened, [answer], [answer], times=2) == [(503, b""), (503, b"")]


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 2xx\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\n" + b"x" * 70000,
    ],
)
def test_anything_else_is_no_answer(opened: list[RawServer], answer: bytes) -> None:
    with pytest.raises(WireError):
        post(opened, [answer])


def test_nobody_listening_is_no_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(WireError, match="ConnectionRefusedError"):
        Connection(f"http://127.0.0.1:{port}", None).post("/", {}, b"")
