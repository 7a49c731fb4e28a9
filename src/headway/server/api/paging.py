"""Cursors: opaque to readers, a moment and an id to us."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import datetime

from headway.domain.errors import PlatformError


def cursor_of(at: datetime, name: str) -> str:
    """The cursor of the page after this row."""
    return urlsafe_b64encode(f"{at.isoformat()}|{name}".encode()).decode()


def moment_of(cursor: str | None) -> tuple[datetime, str] | None:
    """What a cursor points at. Raises `invalid-field` for one we did not give."""
    if cursor is None:
        return None
    try:
        at, _, name = urlsafe_b64decode(cursor.encode()).decode().partition("|")
        return datetime.fromisoformat(at), name
    except ValueError:
        rule = "rule-cursor"
        raise PlatformError("invalid-field", field="cursor", value=cursor[:80], rule=rule) from None
