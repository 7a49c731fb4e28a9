"""What every method of a client sends with: a route, what goes to it, and all pages of a list. Knows no route."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from headway.sdk.client.transport import Transport

Row = dict[str, Any]
Rows = list[Row]
PAGE = 200
"""Rows asked for at once where one may stop reading in between."""
LONG_PAGE = 1000
"""Rows asked for at once where all are wanted: the most the server gives."""
NEXT = "X-Next"
"""The header with the cursor of the page that follows."""


class Calls:
    """Paths are those below `/api/v1`. Every method may raise `ApiError` or `Unreachable`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self, path: str, **query: Any) -> Any:
        """The JSON at a path, of a list its first page; query values of None are left out."""
        return self._transport.json("GET", path, params=given(query))

    def all(self, path: str, **query: Any) -> Rows:
        """Every row of the list at a path, page after page."""
        rows: Rows = []
        asked: Row = {"limit": LONG_PAGE} | given(query)
        while True:
            page, headers = self._transport.page(path, asked)
            rows += page
            if NEXT not in headers:
                return rows
            asked["cursor"] = headers[NEXT]

    def post(self, path: str, body: Mapping[str, Any] | None = None, *, key: str | None = None) -> Any:
        """Send a body. With an idempotency `key`, where the route takes one, a lost answer is asked for again."""
        return self._transport.json("POST", path, json=given(body or {}), key=key)

    def put(self, path: str, body: Mapping[str, Any]) -> Any:
        """Put a value where it belongs."""
        return self._transport.json("PUT", path, json=dict(body))

    def delete(self, path: str) -> None:
        """Take something away."""
        self._transport.send("DELETE", path)


def given(values: Mapping[str, Any]) -> Row:
    """What was said: values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def part(name: str) -> str:
    """A name as one part of a path."""
    return quote(name, safe="")
