"""Search one rank's log for a text or a regular expression, line by line, bounded in time, bytes and matches.

A search that reaches a bound says where to go on. Python's expressions backtrack: a bad one would take for ever and
hold up the whole server, so they are matched in a child process with little memory, which is killed when it thinks too
long. A plain text is looked for in place, in linear time.
"""

import json
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from headway.domain.errors import PlatformError
from headway.domain.ids import AttemptId
from headway.store.logs import LogBook

PIECE = 1 << 20
SECONDS = 2.0
BYTES = 256 << 20
PATTERN = 500
LONGEST_LINE = 16 << 10
SHOWN = 1000

CHILD = """
import json, re, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))
told, source = sys.stdout, sys.stdin.buffer
try:
    pattern = re.compile(sys.argv[1].encode(), re.IGNORECASE if sys.argv[2] == "1" else 0)
except (re.error, OverflowError, RecursionError) as error:
    print(json.dumps({"wrong": str(error)}), flush=True)
    raise SystemExit
print(json.dumps({}), flush=True)
longest = int(sys.argv[3])
while head := source.readline():
    size, most = map(int, head.split())
    found, at = [], 0
    for line in source.read(size).splitlines(keepends=True):
        match = pattern.search(line.rstrip(b"\\r\\n")[:longest]) if len(found) < most else None
        if match:
            found.append([at, at + match.start()])
        at += len(line)
    print(json.dumps({"found": found}), flush=True)
"""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for. `is_regex`: a regular expression of Python over the bytes of a line, which is UTF-8."""

    text: str
    is_regex: bool = False
    ignore_case: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """A line that holds it: where the line and the match begin, in bytes, and the line's first 1000 characters."""

    offset: int
    at: int
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """The matches in order; `next`: from where to go on, None where the end of the log was reached."""

    matches: list[Match]
    next: int | None
    size: int


class Finder(Protocol):
    """Finds the lines of one piece: where each begins in it, and where the match does."""

    def __call__(self, piece: bytes, most: int) -> list[tuple[int, int]]: ...


def search(logs: LogBook, attempt: AttemptId, rank: int, wanted: Wanted, offset: int, limit: int) -> Found:
    """The first `limit` lines from `offset` on. Raises `invalid-field` for a bad pattern, `log-pattern-slow`."""
    _check(wanted)
    deadline = time.monotonic() + SECONDS
    with _finder(wanted, deadline) as find:
        return _scan(logs, attempt, rank, find, (offset, limit, deadline))


def _scan(logs: LogBook, attempt: AttemptId, rank: int, find: Finder, bounds: tuple[int, int, float]) -> Found:
    place, limit, deadline = bounds
    size, last = logs.size(attempt, rank), bounds[0] + BYTES
    matches: list[Match] = []
    while place < size:
        start, read = logs.read_sound(attempt, rank, place, PIECE)
        if not read:
            return Found(matches, None, size)
        piece = _whole_lines(read, start + len(read) >= size)
        for line, at in find(piece, limit - len(matches)):
            matches.append(Match(start + line, start + at, _shown(piece, line)))
        if len(matches) == limit:
            after = matches[-1].offset + len(_line(piece, matches[-1].offset - start))
            return Found(matches, after if after < size else None, size)
        place = start + len(piece)
        if place < size and (time.monotonic() > deadline or place >= last):
            return Found(matches, place, size)
    return Found(matches, None, size)


def _check(wanted: Wanted) -> None:
    if not wanted.text or len(wanted.text) > PATTERN or set("\n\0") & set(wanted.text):
        raise PlatformError("invalid-field", field="q", value=wanted.text[:80], rule="rule-search-text")


def _whole_lines(read: bytes, is_end: bool) -> bytes:
    """Up to the last end of a line; a line longer than a piece is taken in parts."""
    end = read.rfind(b"\n") + 1
    return read if is_end or not end else read[:end]


def _line(piece: bytes, start: int) -> bytes:
    end = piece.find(b"\n", start)
    return piece[start:] if end < 0 else piece[start : end + 1]


def _shown(piece: bytes, start: int) -> str:
    return _line(piece, start)[: 4 * SHOWN].decode("utf-8", "replace").rstrip("\r\n")[:SHOWN]


@contextmanager
def _finder(wanted: Wanted, deadline: float) -> Iterator[Finder]:
    if not wanted.is_regex:
        yield _plain(wanted)
        return
    with _Child(wanted, deadline) as child:
        yield child.find


def _plain(wanted: Wanted) -> Finder:
    """Looks for the text itself; where case does not matter by an expression that has nothing to backtrack over."""
    flags = re.IGNORECASE if wanted.ignore_case else 0
    pattern = re.compile(re.escape(wanted.text.encode()), flags)

    def find(piece: bytes, most: int) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        at = pattern.search(piece)
        while at is not None and len(found) < most:
            line = piece.rfind(b"\n", 0, at.start()) + 1
            found.append((line, at.start()))
            at = pattern.search(piece, line + len(_line(piece, line)))
        return found

    return find


class _Child:
    """The process that matches an expression."""

    def __init__(self, wanted: Wanted, deadline: float) -> None:
        self._wanted, self._deadline = wanted, deadline
        case = "1" if wanted.ignore_case else "0"
        words = [sys.executable, "-I", "-S", "-c", CHILD, wanted.text, case, str(LONGEST_LINE)]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/")

    def __enter__(self) -> "_Child":
        wrong = self._answer().get("wrong")
        if wrong is not None:
            self.__exit__()
            raise PlatformError("invalid-field", field="q", value=self._wanted.text[:80], rule=str(wrong))
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def find(self, piece: bytes, most: int) -> list[tuple[int, int]]:
        """The lines of a piece that match. Raises `log-pattern-slow` when the time is over before it answers."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(b"%d %d\n" % (len(piece), most) + piece)
            self._process.stdin.flush()
        except BrokenPipeError:
            raise PlatformError("log-pattern-slow", value=self._wanted.text[:80], seconds=SECONDS) from None
        return [(line, at) for line, at in self._answer()["found"]]

    def _answer(self) -> dict[str, list[tuple[int, int]]]:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], max(0.1, self._deadline - time.monotonic()))
        line = self._process.stdout.readline() if ready else b""
        if not line:
            self.__exit__()
            raise PlatformError("log-pattern-slow", value=self._wanted.text[:80], seconds=SECONDS)
        answer: dict[str, list[tuple[int, int]]] = json.loads(line)
        return answer
