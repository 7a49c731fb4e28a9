"""What every recorded fact has: when it was true, and who said so."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """`at` is aware UTC; `by` is a user name, `agent:<node>`, or `server`."""

    kind: ClassVar[str]
    at: datetime
    by: str
