"""A small HTTP server that answers as it is told, breaks connections when told, and remembers what it was asked."""

import json
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

PREFIX = "/api/v1"


@dataclass(frozen=True)
class Reply:
    """One answer; `body` is sent as JSON unless it is bytes or text."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: Any


BROKEN = Reply(status=0)  # the connection is closed without an answer
Answer = Reply | Callable[[Asked], Reply]


class Stub:
    """Answers by method and path; a list of answers is used up, its last one stays."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, str], list[Answer]] = {}
        self.asked: list[Asked] = []
        self.url = ""

    def on(self, method: str, path: str, *answers: Any) -> None:
        """What to answer; anything that is no `Reply` or function is a JSON body."""
        ready = [a if isinstance(a, Reply) or callable(a) else Reply(a) for a in answers]
        self.answers[method, path] = ready

    def answer(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        waiting = self.answers.get((asked.method, asked.path))
        if not waiting:
            return problem(404, "not-found", what="address", value=asked.path, near=None)
        chosen = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return chosen if isinstance(chosen, Reply) else chosen(asked)


def problem(status: int, code: str, detail: str = "no", hint: str = "do", **params: Any) -> Reply:
    """An error as the API gives it."""
    return Reply({"code": code, "detail": detail, "hint": hint, "params": params, "status": status}, status)


def sse(*events: tuple[str, str, Any], tail: str = "") -> Reply:
    """Events (kind, id, data) as a stream that then ends; `tail`: half an event behind them."""
    lines = [f"event: {kind}\ndata: {json.dumps(data)}\nid: {place}\n\n" for kind, place, data in events]
    return Reply(": ping\n\n" + "".join(lines) + tail, headers={"Content-Type": "text/event-stream"})


@contextmanager
def serving(tls: ssl.SSLContext | None = None) -> Iterator[Stub]:
    """A stub on a free port, until the end of the block; behind `tls` as `localhost`."""
    stub = Stub()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            raw = self.rfile.read(length)
            path = unquote(parts.path).removeprefix(PREFIX)
            body = json.loads(raw) if raw else None
            reply = stub.answer(Asked(self.command, path, parse_qs(parts.query), dict(self.headers), body))
            if reply.status == 0:
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
                return
            self._send(reply)

        do_POST = do_PUT = do_DELETE = do_GET

        def _send(self, reply: Reply) -> None:
            body = reply.body
            data = (
                body
                if isinstance(body, bytes)
                else body.encode()
                if isinstance(body, str)
                else json.dumps(body).encode()
            )
            self.send_response(reply.status)
            for name, value in ({"Content-Type": "application/json"} | reply.headers).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    stub.url = f"http://127.0.0.1:{server.server_port}"
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
        stub.url = f"https://localhost:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
