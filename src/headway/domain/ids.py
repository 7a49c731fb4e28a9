"""Identifiers and names: how things are called and what a legal name is.

An identifier is a short prefix and random characters given by the caller; an attempt's is its job's and a number, so
that it can be derived after any crash. Nothing here draws random numbers.
"""

import re
from typing import NewType

from headway.domain.errors import PlatformError

JobId = NewType("JobId", str)
AttemptId = NewType("AttemptId", str)

ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
ID_LENGTH = 8
NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")


def new_id(prefix: str, random: bytes) -> str:
    """Return `prefix-xxxxxxxx` from at least eight random bytes."""
    return prefix + "-" + "".join(ALPHABET[byte % len(ALPHABET)] for byte in random[:ID_LENGTH])


def attempt_id(job: JobId, number: int) -> AttemptId:
    """Return the id of a job's attempt; numbers start at 1."""
    return AttemptId(f"{job}.{number}")


def check_name(field: str, value: str) -> str:
    """Return `value` if it is a legal name, else raise `invalid-name` naming the field, the value and the rule."""
    if not NAME.fullmatch(value) or ".." in value:
        raise PlatformError("invalid-name", field=field, value=value[:80])
    return value
