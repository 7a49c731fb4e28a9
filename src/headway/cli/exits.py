"""What a command ends with, all in one place: scripts rely on these numbers."""

from typing import Final

DONE: Final = 0
FAILED: Final = 1
USAGE: Final = 2
NOT_FOUND: Final = 3
NOT_ALLOWED: Final = 4
REFUSED: Final = 5
UNREACHABLE: Final = 6
ENDED_BADLY: Final = 7
PENDING: Final = 8
INTERRUPTED: Final = 130

BY_CODE: Final = {
    "ambiguous": USAGE,
    "bad-split": USAGE,
    "client-file-damaged": NOT_ALLOWED,
    "client-file-open": NOT_ALLOWED,
    "invalid-field": USAGE,
    "invalid-json": USAGE,
    "invalid-name": USAGE,
    "missing-field": USAGE,
    "not-logged-in": NOT_ALLOWED,
    "not-readable": USAGE,
    "unexpected-answer": UNREACHABLE,
    "unknown-field": USAGE,
}
BY_STATUS: Final = {
    401: NOT_ALLOWED,
    403: NOT_ALLOWED,
    404: NOT_FOUND,
    409: REFUSED,
    413: REFUSED,
    422: REFUSED,
    429: UNREACHABLE,
    502: UNREACHABLE,
    503: UNREACHABLE,
    504: UNREACHABLE,
}


def exit_of(code: str, status: int) -> int:
    """The exit code for an error: by its code where that says more than its HTTP status."""
    return BY_CODE.get(code, BY_STATUS.get(status, FAILED))
