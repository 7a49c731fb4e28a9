"""What a test asks a server that may be killed meanwhile: a request without an answer is sent again."""

import json
import time
from pathlib import Path
from typing import Any

import httpx

DEADLINE_S = 90.0
PAUSE_S = 0.05
PIECE = 4 << 20
TERMINAL = ("succeeded", "failed", "stopped")


class ServerGone(Exception):
    """No answer: the server is down, was killed, or is coming up."""


class Refused(AssertionError):
    """The server said no; `code` is its error's."""

    def __init__(self, answer: httpx.Response) -> None:
        super().__init__(f"{answer.request.method} {answer.request.url}: {answer.status_code} {answer.text}")
        self.status = answer.status_code
        self.code = answer.json().get("code")


class Api:
    """The HTTP API with the first administrator's token."""

    def __init__(self, url: str, access: Path) -> None:
        self.url = url
        self._access = access
        self._http = httpx.Client(base_url=f"{url}/api/v1/", timeout=30.0, trust_env=False)

    def once(self, method: str, path: str, **given: Any) -> httpx.Response:
        """One request, as it is answered. Raises ServerGone."""
        given.setdefault("headers", {}).setdefault("Authorization", f"Bearer {self._token()}")
        try:
            return self._http.request(method, path, **given)
        except httpx.TransportError as problem:
            raise ServerGone(str(problem)) from problem

    def call(self, method: str, path: str, **given: Any) -> Any:
        """A request that is sent until it is answered. Raises Refused."""
        return self.answered(method, path, **given).json()

    def answered(self, method: str, path: str, **given: Any) -> httpx.Response:
        """As `call`, with the whole answer."""
        deadline = time.monotonic() + DEADLINE_S
        while True:
            try:
                answer = self.once(method, path, **given)
            except ServerGone:
                assert time.monotonic() < deadline, f"{self.url} does not answer"
                time.sleep(PAUSE_S)
                continue
            if answer.is_error:
                raise Refused(answer)
            return answer

    def job(self, job: str) -> dict[str, Any]:
        shown: dict[str, Any] = self.call("GET", f"jobs/{job}")
        return shown

    def state(self, job: str) -> str:
        return str(self.job(job)["job"]["state"])

    def attempts(self, job: str) -> list[dict[str, Any]]:
        tries: list[dict[str, Any]] = self.call("GET", f"jobs/{job}/attempts")
        return tries

    def facts(self, job: str, *kinds: str) -> list[dict[str, Any]]:
        """A job's facts, of these kinds or all, in order."""
        found: list[dict[str, Any]] = []
        asked: dict[str, Any] = {"job": job, "limit": 1000} | ({"kind": list(kinds)} if kinds else {})
        while page := self.call("GET", "facts", params=asked | {"after": found[-1]["seq"] if found else 0}):
            found += page
        return found

    def log(self, job: str, rank: int, attempt: int = 1) -> bytes:
        """Everything one rank of an attempt has printed, as far as it is stored."""
        found = b""
        while True:
            asked = {"rank": rank, "attempt": attempt, "offset": len(found), "limit": PIECE}
            piece = self.answered("GET", f"jobs/{job}/logs", params=asked).content
            if not piece:
                return found
            found += piece

    def close(self) -> None:
        self._http.close()

    def _token(self) -> str:
        try:
            return str(json.loads(self._access.read_text())["token"])
        except (OSError, ValueError):
            return "none yet"
