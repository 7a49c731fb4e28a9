"""The log book: every rank's log of every attempt under one folder, safe to use from many threads of one process.

It keeps a lock for each stream, so that one stream's disk never holds up another's. It decides nothing about rates or
ages: ceilings are the agent's, retention is the caller's. A second process that writes to the same folder is refused.
"""

import fcntl
import os
import shutil
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from headway.domain.errors import PlatformError
from headway.domain.ids import check_name
from headway.store.logs.arrivals import Arrival, arrivals
from headway.store.logs.stream import Ack, Stream
from headway.store.logs.window import Damage, read

MAX_RANK = 999_999
IDLE_SECONDS = 60.0
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FLUSH_THREADS = 8


class LogBook:
    """Append-only compressed logs addressed by attempt, rank and byte offset. `root` is made if missing."""

    def __init__(self, root: Path) -> None:
        self._root = Path(root)
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._streams: dict[tuple[str, int], Stream] = {}
        self._lock = threading.Lock()
        self._claim: int | None = None

    def append(  # noqa: PLR0913
        self, attempt: str, rank: int, offset: int, data: bytes, first: datetime, last: datetime, final: bool = False
    ) -> Ack:
        """Take a rank's bytes from stream offset `offset` on, which arrived between two aware times.

        Bytes that are there already are ignored; if `offset` is past `received`, nothing is taken. `final` makes all of
        it durable first. Raises OSError when the disk refuses, `invalid-name` or `invalid-field` for a bad address.
        """
        if offset < 0:
            raise PlatformError("invalid-field", field="offset", value=offset, rule="≥ 0")
        self._claim_folder()
        with self._using(attempt, rank) as stream:
            stream.append(offset, data, (_micros(first), _micros(last)))
            ack = stream.ack
        if not final:
            return ack
        stream.flush()
        with stream.lock:
            stream.seal()
            return stream.ack

    def read(self, attempt: str, rank: int, offset: int, limit: int) -> bytes:
        """Return at most `limit` bytes from `offset` on, also those not durable yet; empty at the end.

        Where the file is damaged, the sound bytes before are returned first; a read that begins in the damage raises
        `log-damaged` with `offset` and `until`, from where reading can go on.
        """
        if offset < 0 or limit < 0:
            raise PlatformError("invalid-field", field="offset", value=offset, rule="≥ 0")
        with self._using(attempt, rank) as stream:
            window = stream.window(offset, limit)
        try:
            return read(window, offset, limit)
        except Damage as damage:
            raise PlatformError(
                "log-damaged", attempt=attempt, rank=rank, offset=offset, until=damage.until
            ) from damage

    def read_sound(self, attempt: str, rank: int, offset: int, limit: int) -> tuple[int, bytes]:
        """The first sound bytes from `offset` on, at most `limit`, and where they begin: damage is passed over."""
        while True:
            try:
                return offset, self.read(attempt, rank, offset, limit)
            except PlatformError as error:
                until = error.params.get("until")
                if not isinstance(until, int):
                    raise
                offset = until

    def size(self, attempt: str, rank: int) -> int:
        """Return how many bytes were taken of a stream; 0 when there is none."""
        with self._using(attempt, rank) as stream:
            return stream.received

    def arrivals(self, attempt: str, rank: int, points: int) -> list[Arrival]:
        """How a stream grew, in about `points` knots; bytes that are only in memory yet are left out."""
        with self._using(attempt, rank) as stream:
            pieces = stream.pieces()
        return arrivals(pieces, points)

    def ranks(self, attempt: str) -> list[int]:
        """Return the ranks that wrote anything, in order."""
        folder = self._root / check_name("attempt", attempt)
        names = os.listdir(folder) if folder.is_dir() else []
        return sorted(int(name) for name in names if name.isdigit())

    def flush(self) -> None:
        """Make everything taken so far durable, and forget streams unused for a minute. Call it about once a second.

        Every stream is tried; if the disk refused some, one ExceptionGroup of OSErrors says so afterwards.
        """
        with self._lock:
            streams = dict(self._streams)
        dirty = [stream for stream in streams.values() if not stream.is_clean]
        failures = _flush_all(dirty)
        idle_since = time.monotonic() - IDLE_SECONDS
        for address, stream in streams.items():
            if stream.used_at < idle_since:
                self._drop(address, stream)
        if failures:
            raise ExceptionGroup("logs could not be made durable", failures)

    def remove(self, attempt: str) -> None:
        """Delete the logs of an attempt; nothing happens when there are none."""
        folder = self._root / check_name("attempt", attempt)
        for rank in self.ranks(attempt):
            with self._using(attempt, rank) as stream:
                stream.dropped = True
                self._forget((attempt, rank))
        if folder.is_dir():
            shutil.rmtree(folder)

    def close(self) -> None:
        """Make everything durable and let another process write here."""
        try:
            self.flush()
        finally:
            with self._lock:
                streams = dict(self._streams)
            for address, stream in streams.items():
                self._drop(address, stream)
            with self._lock:
                if self._claim is not None:
                    os.close(self._claim)
                self._claim = None

    @contextmanager
    def _using(self, attempt: str, rank: int) -> Iterator[Stream]:
        """The stream of an address, locked. One that was dropped meanwhile has left the table: look again."""
        while True:
            stream = self._stream(attempt, rank)
            with stream.lock:
                if not stream.dropped:
                    stream.load()
                    stream.used_at = time.monotonic()
                    yield stream
                    return

    def _stream(self, attempt: str, rank: int) -> Stream:
        with self._lock:
            found = self._streams.get((attempt, rank))
            if found is None:
                folder = self._root / check_name("attempt", attempt) / _checked(rank)
                found = self._streams[attempt, rank] = Stream(folder)
            return found

    def _drop(self, address: tuple[str, int], stream: Stream) -> None:
        """Forget a stream that has nothing unsaved; a failing disk keeps it."""
        with stream.lock, suppress(OSError):
            if stream.dropped or not stream.is_clean:
                return
            stream.seal()
            stream.dropped = True
            self._forget(address)

    def _forget(self, address: tuple[str, int]) -> None:
        with self._lock:
            self._streams.pop(address, None)

    def _claim_folder(self) -> None:
        with self._lock:
            if self._claim is not None:
                return
            descriptor = os.open(self._root / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                os.close(descriptor)
                raise PlatformError("logs-in-use", folder=str(self._root)) from error
            self._claim = descriptor


def _flush_all(streams: list[Stream]) -> list[OSError]:
    """Flush side by side: the file system joins fsyncs that wait together."""

    def failure(stream: Stream) -> OSError | None:
        try:
            stream.flush()
        except OSError as error:
            return error
        return None

    if len(streams) <= 1:
        found = [failure(stream) for stream in streams]
    else:
        with ThreadPoolExecutor(min(_FLUSH_THREADS, len(streams))) as pool:
            found = list(pool.map(failure, streams))
    return [error for error in found if error is not None]


def _checked(rank: int) -> str:
    if isinstance(rank, bool) or not isinstance(rank, int) or not 0 <= rank <= MAX_RANK:
        raise PlatformError("invalid-field", field="rank", value=str(rank)[:80], rule=f"0 … {MAX_RANK}")
    return str(rank)


def _micros(at: datetime) -> int:
    return (at - _EPOCH) // _MICROSECOND
