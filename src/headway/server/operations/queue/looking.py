"""Take the scheduler's view as this site wants it: its policy, its months, the past read anew now and then."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock

from sqlalchemy import Connection

from headway.scheduler.policy import Policy
from headway.scheduler.snapshot import Snapshot
from headway.server.settings import Settings
from headway.store import snapshot
from headway.store.snapshot import Past

READ_EVERY = timedelta(seconds=60)


@dataclass(slots=True)
class Memory:
    """The past as it was read last: it changes slowly, and reading it costs more than the rest."""

    past: Past | None = None
    read_at: datetime | None = None
    turn: Lock = field(default_factory=Lock)

    def recall(self, c: Connection, now: datetime, policy: Policy) -> Past:
        """The past, at most a minute old. A clock that was set back reads it anew."""
        with self.turn:
            if self.past is None or self.read_at is None or not self.read_at <= now < self.read_at + READ_EVERY:
                self.past, self.read_at = snapshot.past(c, now, policy), now
            return self.past


def look(settings: Settings, memory: Memory, c: Connection, now: datetime) -> Snapshot:
    """Everything a plan made now depends on."""
    return snapshot.take(c, now, settings.policy, settings.zone, memory.recall(c, now, settings.policy))
