"""Pages of lists: at most `limit` rows, those behind a `cursor`. A cursor is the place of a row, opaque to readers.

Every list keeps its rows in the order of their places, which are unique: so a page goes on where the one before ended,
also where the row it ended with is gone by now. Decides nothing about which rows there are.
"""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Annotated, TypeVar

from fastapi import Depends, Query, Response

from headway.domain.errors import PlatformError

T = TypeVar("T")
Place = tuple[str | int | float, ...]
NEXT = "X-Next"
"""The header with the cursor of the page that follows; the last page has none."""
Cursor = Annotated[str | None, Query(description=f"`{NEXT}` of the page before; a page without it is the last.")]
Limit = Annotated[int, Query(ge=1, le=1000, description="Rows a page.")]


class Paging:
    """Which page of a list was asked for."""

    def __init__(self, response: Response, cursor: Cursor = None, limit: Limit = 500) -> None:
        self._headers = response.headers
        self._after = place_of(cursor)
        self._cursor, self._limit = cursor, limit

    def of(self, rows: Iterable[T], place: Callable[[T], Place]) -> list[T]:
        """The rows of this page, in the order of their places. Raises `invalid-field` for another list's cursor."""
        placed = sorted(((place(row), row) for row in rows), key=lambda pair: pair[0])
        if self._after is not None and placed:
            if _kinds(self._after) != _kinds(placed[0][0]):
                raise _unknown(self._cursor)
            placed = [pair for pair in placed if pair[0] > self._after]
        if len(placed) > self._limit:
            self._headers[NEXT] = cursor_of(placed[self._limit - 1][0])
        return [row for _, row in placed[: self._limit]]


PageHere = Annotated[Paging, Depends(Paging)]


def newest(at: datetime, *name: str | int) -> Place:
    """The place of a row in a list that has its newest rows first."""
    return (-at.timestamp(), *name)


def cursor_of(place: Place) -> str:
    """The cursor of the page after the row at this place."""
    return urlsafe_b64encode(json.dumps(place, ensure_ascii=False).encode()).decode()


def place_of(cursor: str | None) -> Place | None:
    """What a cursor points at. Raises `invalid-field` for one we did not give."""
    if cursor is None:
        return None
    try:
        parts = json.loads(urlsafe_b64decode(cursor.encode()))
    except (ValueError, RecursionError):
        raise _unknown(cursor) from None
    if not isinstance(parts, list) or not parts or any(kind not in (str, float) for kind in _kinds(tuple(parts))):
        raise _unknown(cursor)
    return tuple(parts)


def moment_of(cursor: str | None) -> tuple[datetime, str] | None:
    """What a cursor of rows by moment and name points at. Raises `invalid-field` for one we did not give."""
    place = place_of(cursor)
    try:
        return None if place is None else (datetime.fromisoformat(str(place[0])).astimezone(UTC), str(place[1]))
    except (ValueError, OverflowError, IndexError):
        raise _unknown(cursor) from None


def _kinds(place: Place) -> list[type]:
    """What may be compared with what: whole numbers with others, texts with texts."""
    return [float if type(part) in (int, float) else type(part) for part in place]


def _unknown(cursor: str | None) -> PlatformError:
    return PlatformError("invalid-field", field="cursor", value=(cursor or "")[:80], rule="rule-cursor")
