"""One rank's kept output on disk, from the first byte the server may still lose to the last one kept.

Pieces are files named by their start offset; a piece goes once the server has it on its own disk. Never rewrites a
byte: an offset means the same byte for the whole life of the attempt, also for an agent that comes later.
"""

from __future__ import annotations

import os

_PIECE_BYTES = 256 << 10
_PIECE_AGE_S = 10.0


class _Piece:
    __slots__ = ("first", "last", "path", "size", "start")

    def __init__(self, path: str, start: int, size: int, at: float) -> None:
        self.path = path
        self.start = start
        self.size = size
        self.first = at
        self.last = at

    @property
    def end(self) -> int:
        return self.start + self.size


class Spool:
    """Appends bytes with their arrival time, reads them by offset, and releases what is durable elsewhere."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._pieces: list[_Piece] = []
        self._fd = -1
        self.end = 0
        self._resume()

    @property
    def start(self) -> int:
        """The first byte that is still here."""
        return self._pieces[0].start if self._pieces else self.end

    def append(self, data: bytes, at: float) -> None:
        """Add bytes that arrived at `at` (epoch seconds). Raises OSError and then has added nothing."""
        if self._fd < 0 or self._pieces[-1].size >= _PIECE_BYTES or at > self._pieces[-1].first + _PIECE_AGE_S:
            self._open(at)
        piece = self._pieces[-1]
        written = 0
        try:
            while written < len(data):
                written += os.write(self._fd, data[written:] if written else data)
        except OSError:
            self._take_back(piece)
            raise
        piece.size += written
        piece.last = at
        self.end += written

    def read(self, offset: int, limit: int) -> tuple[bytes, float, float]:
        """At most `limit` bytes from `offset` on, and when their first and last piece's bytes arrived."""
        chunks: list[bytes] = []
        first = last = 0.0
        for piece in self._pieces:
            if limit <= 0 or piece.end <= offset:
                continue
            with open(piece.path, "rb", buffering=0) as file:
                chunk = os.pread(file.fileno(), min(limit, piece.end - offset), offset - piece.start)
            if not chunk:
                break
            first = first or piece.first
            last = piece.last
            chunks.append(chunk)
            offset += len(chunk)
            limit -= len(chunk)
        self._finish_piece()
        return b"".join(chunks), first, last

    def release(self, durable: int) -> None:
        """Forget the pieces that end at or before `durable`."""
        while self._pieces and self._pieces[0].end <= durable:
            piece = self._pieces.pop(0)
            if not self._pieces:
                self._finish_piece()
            os.unlink(piece.path)

    def _take_back(self, piece: _Piece) -> None:
        """Undo a write that failed half-way."""
        os.ftruncate(self._fd, piece.size)
        if not piece.size:
            self._finish_piece()
            self._pieces.pop()
            os.unlink(piece.path)

    def _finish_piece(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _open(self, at: float) -> None:
        self._finish_piece()
        if not self._pieces:
            for directory in (os.path.dirname(self._directory), self._directory):
                if not os.path.isdir(directory):
                    os.mkdir(directory, 0o700)
        path = os.path.join(self._directory, f"{self.end:020d}.log")
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        self._pieces.append(_Piece(path, self.end, 0, at))

    def _resume(self) -> None:
        """Take over the pieces of an agent that died; their bytes count as arrived when they were written."""
        try:
            names = sorted(name for name in os.listdir(self._directory) if name.endswith(".log"))
        except FileNotFoundError:
            return
        for name in names:
            path = os.path.join(self._directory, name)
            status = os.stat(path)
            self._pieces.append(_Piece(path, int(name[:-4]), status.st_size, status.st_mtime))
            self.end = self._pieces[-1].end
