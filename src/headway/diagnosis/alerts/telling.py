"""What is told together, and when: many alerts at once are one message, and no channel is written to without pause.

A storm becomes one message with a count; nothing is dropped.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

GATHER = timedelta(seconds=5)
"""After the first notice so much time for others to join it."""
PAUSE = timedelta(seconds=30)
"""Between two messages to one channel."""
LINES = 20


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing to tell through one channel; `not_before`: a failed try is repeated no earlier."""

    id: int
    channel: str
    made_at: datetime
    text: str
    not_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """Notices told together: the first `LINES` in words, the rest as a count."""

    channel: str
    notices: tuple[Notice, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(notice.text for notice in self.notices[:LINES])

    @property
    def more(self) -> int:
        return max(0, len(self.notices) - LINES)


def due(notices: Iterable[Notice], told_at: Mapping[str, datetime], now: datetime) -> tuple[Message, ...]:
    """The messages to send now; `told_at`: when each channel was last written to."""
    waiting: dict[str, list[Notice]] = defaultdict(list)
    for notice in notices:
        waiting[notice.channel].append(notice)
    messages = []
    for channel, some in sorted(waiting.items()):
        some.sort(key=lambda notice: (notice.made_at, notice.id))
        gathered = now - some[0].made_at >= GATHER
        rested = channel not in told_at or now - told_at[channel] >= PAUSE
        may = all(notice.not_before is None or notice.not_before <= now for notice in some)
        if gathered and rested and may:
            messages.append(Message(channel, tuple(some)))
    return tuple(messages)


def retry_at(tries: int, now: datetime) -> datetime:
    """When a message that failed for the `tries`-th time is sent again: after 10, 20, 40 … seconds, an hour at most."""
    return now + min(timedelta(hours=1), timedelta(seconds=10 * 2 ** min(tries - 1, 9)))
