"""Carries one request at a time to the server, in a thread of its own, so that a slow server never holds up a rank.

Decides nothing: the loop hands over a request, is woken through `fd`, and takes the answer.
"""

from __future__ import annotations

import _thread
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from headway.agent.delivery.wire import Connection


class Request:
    """One POST: a path with its query, extra headers, and a body."""

    __slots__ = ("body", "headers", "path")

    def __init__(self, path: str, headers: Mapping[str, str], body: bytes) -> None:
        self.path = path
        self.headers = headers
        self.body = body


class Answer:
    """What came back: a status and a body, or status 0 and what went wrong."""

    __slots__ = ("body", "problem", "status")

    def __init__(self, status: int, body: bytes, problem: str = "") -> None:
        self.status = status
        self.body = body
        self.problem = problem


class Courier:
    """A thread and two pipes around one connection."""

    def __init__(self, connection: Connection, token: str) -> None:
        self._connection = connection
        self._token = token
        self._request: Request | None = None
        self._answer: Answer | None = None
        self._told, self._tell = os.pipe()
        self.fd, self._wake = os.pipe()
        self._begun = False

    @property
    def busy(self) -> bool:
        """Whether a request is on its way."""
        return self._request is not None

    def carry(self, request: Request) -> None:
        """Hand over the next request; only when not busy."""
        self._request = request
        if not self._begun:
            self._begun = True
            _thread.start_new_thread(self._work, ())
        os.write(self._tell, b"!")

    def collect(self) -> Answer:
        """The answer, once `fd` is readable."""
        os.read(self.fd, 1)
        answer, self._answer, self._request = self._answer, None, None
        assert answer is not None
        return answer

    def _work(self) -> None:
        while os.read(self._told, 1):
            request = self._request
            assert request is not None
            try:
                headers = {"Authorization": f"Bearer {self._token}", **request.headers}
                self._answer = Answer(*self._connection.post(request.path, headers, request.body))
            except Exception as error:  # a dead thread would silence the agent for good
                self._answer = Answer(0, b"", f"{type(error).__name__}: {error}")
            os.write(self._wake, b"!")
