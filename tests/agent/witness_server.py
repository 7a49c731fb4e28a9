"""A small real HTTP server that keeps the agent's protocol, and can go away, forget, stall and refuse."""

from __future__ import annotations

import http.server
import json
import ssl
import threading
import time
import urllib.parse
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any


def wait_for(claim: Callable[[], object], what: str, seconds: float = 60.0) -> None:
    """Return once `claim()` is true; fail with `what` after `seconds`."""
    deadline = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < deadline, f"waited {seconds} s for: {what}"
        time.sleep(0.01)


class WitnessServer:
    """What a server would have recorded, and switches for the ways it can fail."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.logs: dict[int, bytearray] = {}
        self.durable: dict[int, int] = {}
        self.events: dict[int, str] = {}
        self.exits: dict[int, dict[str, Any]] = {}
        self.reports: list[dict[str, Any]] = []
        self.seen: set[tuple[int, int, int]] = set()
        self.readings: list[dict[str, Any]] = []
        self.dropped: list[dict[str, Any]] = []
        self.requests: list[str] = []
        self.bodies: list[int] = []
        self.stop: dict[str, Any] | None = None
        self.kill: list[dict[str, Any]] = []
        self.look: list[dict[str, Any]] = []
        self.discard: list[dict[str, Any]] = []
        self.scenes: list[dict[str, Any]] = []
        self.refuse_with: int | None = None
        self.refuse_logs = False
        self.break_off_answers = 0
        self.stall_s = 0.0
        self.fsync = True
        self.tokens = {"the-token"}
        self._server: http.server.ThreadingHTTPServer | None = None
        self._connections: set[Any] = set()
        self.port = 0
        self.up()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def ended(self) -> dict[str, Any] | None:
        return next((report["ended"] for report in self.reports if report["ended"]), None)

    def up(self) -> None:
        """Listen, on the port used before."""
        server = self

        class Answering(_Answering):
            owner = server

        class Listening(http.server.ThreadingHTTPServer):
            daemon_threads = True
            allow_reuse_address = True

        self._server = Listening(("127.0.0.1", self.port), Answering)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def down(self, lose_logs: bool = False) -> None:
        """Die as by kill -9: connections break, and with `lose_logs` what was not durable is gone."""
        if self._server is None:
            return
        self._server.shutdown()
        self._server.server_close()
        self._server = None
        with self.lock:
            for connection in list(self._connections):
                connection.close_now()
            if lose_logs:
                for rank, kept in self.logs.items():
                    del kept[self.durable.get(rank, 0) :]

    def secure(self, certificate: Path, key: Path) -> None:
        """Speak TLS from now on."""
        assert self._server is not None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)

    def take_report(self, report: dict[str, Any]) -> dict[str, Any]:
        """Record a report as a server does: events by offset, exits once, the rest once per seq."""
        self.reports.append(report)
        for rank, piece in report["events"].items():
            known = self.events.get(int(rank), "")
            raw, have = piece["data"].encode(), len(known.encode())
            if piece["offset"] <= have:
                self.events[int(rank)] = known + raw[have - piece["offset"] :].decode()
        for record in report["exits"]:
            self.exits.setdefault(record["rank"], record)
        agent = report["agent"]
        key = (agent["pid"], agent["start_ticks"], report["seq"])
        if key not in self.seen:
            self.seen.add(key)
            self.readings += report["readings"]
            self.dropped += report["dropped"]
            self.scenes += report["scenes"]
        seen = [scene["look"] for scene in report["scenes"]]
        self.look = [look for look in self.look if look["look"] not in seen]
        self.kill = [drill for drill in self.kill if drill["drill"] not in report["drills_done"]]
        offsets = {str(rank): len(text.encode()) for rank, text in self.events.items()}
        orders = {"stop": self.stop, "kill": self.kill, "look": self.look, "discard": self.discard}
        return {"events": offsets, **orders, "over": report["ended"] is not None}

    def take_logs(self, rank: int, query: dict[str, list[str]], body: bytes) -> dict[str, int]:
        """Append by offset; durable at once, or only when asked to while `fsync` is off."""
        kept = self.logs.setdefault(rank, bytearray())
        offset = int(query["offset"][0])
        if offset <= len(kept):
            kept += body[len(kept) - offset :]
        if self.fsync or query["final"][0] == "1":
            self.durable[rank] = len(kept)
        return {"received": len(kept), "durable": self.durable.get(rank, 0)}


class _Answering(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: WitnessServer

    def setup(self) -> None:
        super().setup()
        self.owner._connections.add(self)

    def finish(self) -> None:
        self.owner._connections.discard(self)
        super().finish()

    def handle(self) -> None:
        try:
            super().handle()
        except (OSError, ValueError):
            self.close_connection = True

    def close_now(self) -> None:
        try:
            self.connection.shutdown(2)
        except OSError:
            return

    def do_POST(self) -> None:
        owner = self.owner
        body = self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(owner.stall_s)
        with owner.lock:
            if owner._server is None:
                raise ValueError("dead")
            status, answer = self._decide(body)
            if owner.break_off_answers:
                owner.break_off_answers -= 1
                self.close_now()
                raise ValueError("the answer is lost")
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _decide(self, body: bytes) -> tuple[int, dict[str, Any]]:
        owner = self.owner
        address = urllib.parse.urlsplit(self.path)
        owner.requests.append(self.path)
        owner.bodies.append(len(body))
        if self.headers["Authorization"].removeprefix("Bearer ") not in owner.tokens:
            return 401, {"code": "unknown-token"}
        if owner.refuse_with is not None:
            return owner.refuse_with, {"code": "refused"}
        if address.path.endswith("/report"):
            return 200, owner.take_report(json.loads(body))
        if owner.refuse_logs:
            return 500, {"code": "refused"}
        if self.headers.get("Content-Encoding") == "deflate":
            body = zlib.decompress(body)
        rank = int(address.path.rpartition("/")[2])
        return 200, owner.take_logs(rank, urllib.parse.parse_qs(address.query), body)

    def log_message(self, format: str, *args: object) -> None:
        return
