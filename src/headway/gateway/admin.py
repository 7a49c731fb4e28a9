"""A small client of Envoy's admin interface.

Asks and tells the one Envoy of this gateway, over its private Unix socket or the given port. Decides nothing; an Envoy
that does not answer is an OSError.
"""

import json
import socket
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import quote

ANSWER_S = 2.0


class Admin:
    """Envoy's admin interface at a Unix socket path, or on a port of 127.0.0.1."""

    def __init__(self, socket_path: str, port: int | None = None) -> None:
        self._socket_path = socket_path
        self._port = port

    @property
    def address(self) -> str:
        """Where it listens, for people."""
        return f"unix:{self._socket_path}" if self._port is None else f"127.0.0.1:{self._port}"

    def stats(self, pattern: str) -> list[dict[str, Any]]:
        """Statistics whose name matches a regular expression; histograms with fine buckets. Raises OSError."""
        path = f"/stats?format=json&histogram_buckets=detailed&filter={quote(pattern, safe='')}"
        found: list[dict[str, Any]] = json.loads(self._ask("GET", path))["stats"]
        return found

    def values(self, pattern: str) -> dict[str, Any]:
        """Counters, gauges and texts by name. Raises OSError."""
        return {each["name"]: each["value"] for each in self.stats(pattern) if "value" in each}

    def listener_port(self) -> int:
        """The port the ingress really listens on. Raises OSError while there is none."""
        listeners = json.loads(self._ask("GET", "/listeners?format=json")).get("listener_statuses", [])
        if not listeners:
            raise ConnectionError("no listener")
        return int(listeners[0]["local_address"]["socket_address"]["port_value"])

    def tell(self, path: str) -> None:
        """Send an order, such as `/reopen_logs`. Raises OSError."""
        self._ask("POST", path)

    def _ask(self, method: str, path: str) -> bytes:
        connection = self._connection()
        try:
            connection.request(method, path)
            answer = connection.getresponse()
            body = answer.read()
        except HTTPException as error:
            raise ConnectionError(f"admin answered badly: {error!r}") from error
        finally:
            connection.close()
        if answer.status != 200:
            raise ConnectionError(f"admin answered {answer.status} to {path}")
        return body

    def _connection(self) -> HTTPConnection:
        if self._port is not None:
            return HTTPConnection("127.0.0.1", self._port, timeout=ANSWER_S)
        return _UnixConnection(self._socket_path)


class _UnixConnection(HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=ANSWER_S)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(ANSWER_S)
        self.sock.connect(self._path)
