"""One HTTP/1.1 connection to the server, kept open between requests. Blocks; lives in the courier's thread.

Its own forty lines of HTTP instead of `http.client`, whose import alone costs as much processor time as the rest of
an agent's start. Any answer that is not plain HTTP becomes a WireError, like a refused connection.
"""

from __future__ import annotations

import socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_TIMEOUT_S = 15.0
_MAX_HEAD_BYTES = 64 << 10
_MAX_BODY_BYTES = 8 << 20


class WireError(OSError):
    """The request got no usable answer: try again later."""


class Connection:
    """Posts to one server. `url`: `http[s]://host[:port][/prefix]`; `ca_file`: trusted certificates for https."""

    def __init__(self, url: str, ca_file: str | None, timeout_s: float = _TIMEOUT_S) -> None:
        scheme, _, rest = url.partition("://")
        self._authority, slash, prefix = rest.partition("/")
        self._prefix = (slash + prefix).rstrip("/")
        self._secure = scheme == "https"
        host, colon, port = self._authority.rpartition(":")
        if not colon or port.endswith("]"):
            host, port = self._authority, "443" if self._secure else "80"
        self._address = (host.strip("[]"), int(port))
        self._ca_file = ca_file
        self._timeout_s = timeout_s
        self._socket: socket.socket | None = None
        self._rest = b""

    def post(self, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """The answer's status and body. Raises WireError; a kept connection that has gone stale is replaced once."""
        lines = [f"POST {self._prefix}{path} HTTP/1.1", f"Host: {self._authority}", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        request = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body
        if self._socket is not None:
            try:
                return self._exchange(request)
            except (OSError, ValueError):
                self.close()
        try:
            self._connect()
            return self._exchange(request)
        except (OSError, ValueError) as error:
            self.close()
            raise WireError(f"{type(error).__name__}: {error}") from error

    def close(self) -> None:
        """Drop the connection; the next request opens a new one."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        self._rest = b""

    def _connect(self) -> None:
        connection = socket.create_connection(self._address, self._timeout_s)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._secure:
            import ssl

            context = ssl.create_default_context(cafile=self._ca_file)
            connection = context.wrap_socket(connection, server_hostname=self._address[0])
        self._socket = connection

    def _exchange(self, request: bytes) -> tuple[int, bytes]:
        assert self._socket is not None
        self._socket.sendall(request)
        while True:
            head = self._until(b"\r\n\r\n").decode("latin-1").split("\r\n")
            version, _, outcome = head[0].partition(" ")
            if not version.startswith("HTTP/1."):
                raise ValueError("the answer is not HTTP/1")
            status = int(outcome[:3])
            if status >= 200:
                break
        headers = {}
        for line in head[1:]:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip().lower()
        body = self._body(headers)
        if headers.get("connection") == "close":
            self.close()
        return status, body

    def _body(self, headers: Mapping[str, str]) -> bytes:
        if headers.get("transfer-encoding") == "chunked":
            chunks = []
            while True:
                size = int(self._until(b"\r\n").partition(b";")[0], 16)
                chunk = self._exactly(size)
                if not size:
                    break
                chunks.append(chunk)
                self._exactly(2)
            while self._until(b"\r\n"):
                pass
            return b"".join(chunks)
        return self._exactly(int(headers.get("content-length", "0")))

    def _until(self, mark: bytes) -> bytes:
        while mark not in self._rest:
            if len(self._rest) > _MAX_HEAD_BYTES:
                raise ValueError("the answer's head has no end")
            self._receive()
        found, _, self._rest = self._rest.partition(mark)
        return found

    def _exactly(self, size: int) -> bytes:
        if size > _MAX_BODY_BYTES:
            raise ValueError(f"an answer of {size} bytes")
        while len(self._rest) < size:
            self._receive()
        found, self._rest = self._rest[:size], self._rest[size:]
        return found

    def _receive(self) -> None:
        assert self._socket is not None
        received = self._socket.recv(65536)
        if not received:
            raise ValueError("the answer broke off")
        self._rest += received
