"""The quota table as it changes: each change is a whole table, proposed by one person and approved by another.

The newest approved table whose date has come is in force. Nothing here knows who may approve.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache

from headway.domain.quota import QuotaTree
from headway.domain.quota_table import read_tree


class Dropped(StrEnum):
    """How a proposal ended that was never approved: by another role, or by its own author."""

    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class QuotaVersion:
    """One whole table as TOML; `diff` is against `based_on`, the newest approved one when it was proposed (0: none)."""

    number: int
    author: str
    reason: str
    content: str
    diff: tuple[str, ...]
    based_on: int
    proposed_at: datetime
    approved_by: str | None = None
    approved_at: datetime | None = None
    in_force_from: datetime | None = None
    dropped_as: Dropped | None = None
    dropped_by: str | None = None
    dropped_at: datetime | None = None
    dropped_why: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether somebody may still approve it."""
        return self.approved_at is None and self.dropped_as is None

    @property
    def tree(self) -> QuotaTree:
        return parsed(self.content)


@lru_cache(maxsize=8)
def parsed(content: str) -> QuotaTree:
    """The tree of a table that was checked before it was kept; every plan reads it."""
    return read_tree(content)
