"""How a request reaches the server: headers, retries with back-off, errors as values, streams that take up again.

Only what may safely happen twice is sent again after a broken connection; where the connection was refused nothing was
sent, so anything may be. Nothing here knows a route.
"""

import random
import ssl
import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx

from headway.domain.errors import Language, PlatformError
from headway.sdk.client.access import Access
from headway.sdk.client.errors import Unreachable, refusal
from headway.sdk.client.stream import Event, events

PREFIX = "/api/v1"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
CONNECT_S = 5.0
STREAM_PATIENCE_S = 60.0
STREAM_TIMEOUT = httpx.Timeout(60.0, connect=CONNECT_S)
FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 2.0
REPEATABLE = ("GET", "PUT")
NOTHING_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class Transport:
    """One server, reached over kept connections. `patience_s`: how long a silent server is tried again."""

    def __init__(self, access: Access, language: Language, patience_s: float, answer_s: float) -> None:
        self.url = access.url.rstrip("/")
        self.patience_s = patience_s
        headers: dict[str, str] = {"Accept-Language": language}
        if access.token:
            headers["Authorization"] = f"Bearer {access.token}"
        try:
            address = urlsplit(self.url)
            is_near = address.hostname in LOOPBACK
            self._http = httpx.Client(
                base_url=self.url + PREFIX,
                headers=headers,
                timeout=httpx.Timeout(answer_s, connect=min(CONNECT_S, answer_s)),
                trust_env=not is_near,
                verify=_trust(access.ca_file) if address.scheme == "https" else not is_near,
            )
        except (httpx.InvalidURL, ValueError) as problem:
            raise Unreachable(self.url, str(problem)) from None

    def close(self) -> None:
        self._http.close()

    def send(self, method: str, path: str, *, key: str | None = None, **request: Any) -> httpx.Response:
        """The response, which is a 2xx one. Raises `ApiError` or `Unreachable`."""
        headers = {"Idempotency-Key": key} if key else None
        again = Patience(self.patience_s)
        while True:
            try:
                response = self._http.request(method, path, headers=headers, **request)
            except httpx.TransportError as problem:
                if "CERTIFICATE_VERIFY_FAILED" in str(problem):
                    raise PlatformError("certificate-untrusted", url=self.url, detail=str(problem)) from None
                safe = method in REPEATABLE or key is not None or isinstance(problem, NOTHING_SENT)
                if not safe or isinstance(problem, httpx.UnsupportedProtocol) or not again.wait():
                    raise Unreachable(self.url, str(problem) or type(problem).__name__) from None
            else:
                return _checked(response)

    def json(self, method: str, path: str, **request: Any) -> Any:
        """The JSON of the response. Raises `unexpected-answer` where somebody else than Headway answers."""
        response = self.send(method, path, **request)
        try:
            return response.json()
        except ValueError:
            raise refusal(response.status_code, response.text) from None

    def page(self, path: str, query: Mapping[str, Any]) -> tuple[list[dict[str, Any]], Mapping[str, str]]:
        """One page of the list at a path, and the headers it came with. Raises `unexpected-answer`."""
        response = self.send("GET", path, params=query)
        try:
            rows = response.json()
        except ValueError:
            rows = None
        if not isinstance(rows, list):
            raise refusal(response.status_code, response.text)
        return rows, response.headers

    def stream(self, path: str, place: str, query: Mapping[str, Any]) -> Iterator[Event]:
        """Events of a stream. A connection that breaks is taken up where it was, at the last id, named `place`."""
        asked, again = dict(query), Patience(self.patience_s)
        while True:
            reason = "the stream ended"
            try:
                with self._http.stream("GET", path, params=asked, timeout=STREAM_TIMEOUT) as response:
                    if not response.is_success:
                        response.read()
                        _checked(response)
                    again = Patience(STREAM_PATIENCE_S)
                    for event in events(response.iter_lines()):
                        again = Patience(STREAM_PATIENCE_S)
                        asked[place] = event.id or asked.get(place)
                        yield event
            except httpx.TransportError as problem:
                reason = str(problem) or type(problem).__name__
            if not again.wait():
                raise Unreachable(self.url, reason)


def _trust(ca_file: str | None) -> ssl.SSLContext | bool:
    """What a certificate is checked against; certificates that nobody will show are not loaded at all.

    Raises `ca-file-unreadable`.
    """
    if ca_file is None:
        return True
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as problem:
        raise PlatformError("ca-file-unreadable", path=ca_file, detail=problem.strerror or str(problem)) from None


class Patience:
    """Pauses that grow, with chance in them so that many clients do not come back at once, until time is up."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._pause_s = FIRST_PAUSE_S

    def wait(self) -> bool:
        """Pause before another try; False: no time is left."""
        pause = self._pause_s * random.uniform(0.5, 1.0)
        if time.monotonic() + pause > self._until:
            return False
        time.sleep(pause)
        self._pause_s = min(LONGEST_PAUSE_S, self._pause_s * 2)
        return True


def _checked(response: httpx.Response) -> httpx.Response:
    if response.is_success:
        return response
    try:
        body = response.json()
    except ValueError:
        body = response.text
    raise refusal(response.status_code, body)
