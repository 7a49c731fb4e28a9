"""A small HTTP server that says who answered, and can stream slowly."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

CHUNKS = 30
GAP_S = 0.1


class Upstream:
    """Answers `/stream` with server-sent events over three seconds, `/slow` after one, everything else at once."""

    def __init__(self, name: str, port: int = 0, chunks: int = CHUNKS) -> None:
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.name = name
        self._server.chunks = chunks
        self.port: int = self._server.server_address[1]
        self.endpoint = f"127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    @property
    def slow(self) -> int:
        """How many slow requests have arrived."""
        return self._server.slow

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    name = ""
    slow = 0
    chunks = CHUNKS

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves early is no news here."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    server: _Server

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", "0")))
        if self.path == "/stream":
            self._stream()
            return
        if self.path == "/slow":
            self.server.slow += 1
            time.sleep(1)
        body = json.dumps({"from": self.server.name, "path": self.path}).encode()
        self.send_response(503 if self.path == "/broken" else 200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def _stream(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for number in range(self.server.chunks):
            event = f"data: {self.server.name} {number}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
            self.wfile.flush()
            time.sleep(GAP_S)
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""
