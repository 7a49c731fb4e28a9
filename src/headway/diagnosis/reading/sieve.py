"""Keeps of a log what can matter: every new kind of line, all that sounds like trouble, what follows it, and the end.

Two lines are of a kind if they differ in digits only: a progress line printed a million times is looked at twice. Every
line costs one table look-up, so a log is read in linear time and in memory that does not grow with it.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

LONGEST_LINE = 1 << 16
"""Bytes of one line that are looked at; what follows belongs to no line."""
LONGEST_SHAPE = 1024
MOST_SHAPES = 200_000
DULL, RANKED, TELLING = 3, 64, 400
"""How often a kind of line is kept: one that says nothing, one that may name its rank, one that sounds like trouble."""
CONTEXT = 12
"""So many lines after one that sounds like trouble are kept whatever they say."""
TAIL = 120

_DIGITS = b"0123456789"
_RETURNS = bytes.maketrans(b"\r", b"\n")

STEMS: tuple[str, ...] = (
    "err", "fail", "exception", "traceback", 'file "', "kill", "time", "refused", "reset", "closed", "denied", "xid",
    "oom", "memory", "no space", "quota", "nan", "abort", "signal", "segm", "cancel", "preempt", "evict", "not ",
    "no such", "cannot", "could", "unable", "mismatch", "invalid", "corrupt", "lost", "ecc", "link", "insufficient",
    "back", "wait", "hang", "stuck", "stall", "assert", "undefined", "limit", "too many", "broken", "trunc", "dead",
    "died", "panic", "hardware", "illegal", "exit", "warn", "fault", "down", "stale", "terminat", "critical", "fatal",
    "unexpected", "no route", "disk", "inconsisten", "throttl", "collective", "reject", "heartbeat", "missing",
    "错误", "失败", "异常", "超", "不足", "拒绝", "断开", "不存在", "无法", "终止", "被杀", "抢占", "损坏", "中断",
    "故障", "丢失", "已满", "不匹配", "不一致", "越界", "取消", "过热", "降频", "宕机", "驱逐", "掉卡", "失联", "卡死",
    "退出", "报错",
)  # fmt: skip
"""Words of trouble. A line without any is still kept a few times, so a sign may be of other words."""

_ENGLISH = tuple(stem.encode() for stem in STEMS if stem.isascii())
_CHINESE = tuple(stem.encode(code) for stem in STEMS if not stem.isascii() for code in ("utf-8", "gbk"))


@dataclass(frozen=True, slots=True)
class RawLine:
    """One kept line: its number and the offset of its first byte in the file, both from 0."""

    number: int
    offset: int
    data: bytes


class Sieve:
    """One file's kept lines; at most about `most` that sound like trouble or follow such, the first half and the last,
    and half as many of the others, the last.
    """

    def __init__(self, most: int = 20_000) -> None:
        self._head: list[RawLine] = []
        self._late: deque[RawLine] = deque(maxlen=max(most // 2, TAIL))
        self._dull: deque[RawLine] = deque(maxlen=max(most // 2, TAIL))
        self._tail: deque[RawLine] = deque(maxlen=TAIL)
        self._most = most // 2
        self._left: dict[bytes, int] = {}
        self._number = 0
        self._context = 0

    def read(self, chunks: Iterable[bytes]) -> list[RawLine]:
        """Read a whole file, given in chunks of any size; its kept lines in order."""
        for offset, block in _blocks(chunks):
            self._sift(offset, block.translate(_RETURNS))
        tail = {line.number: line for line in self._tail}
        kept = {line.number: line for line in [*self._head, *self._late, *self._dull]} | tail
        return [kept[number] for number in sorted(kept)]

    def _sift(self, offset: int, block: bytes) -> None:
        left = self._left
        lines, shapes = block.split(b"\n"), block.translate(None, _DIGITS).split(b"\n")
        number = self._number
        for at in range(len(lines)):
            line, shape = lines[at], shapes[at]
            if left.get(shape) != 0 or self._context:
                self._look(RawLine(number + at, offset, line), shape[:LONGEST_SHAPE])
            offset += len(line) + 1
        self._number = number + len(lines) - (not lines[-1])
        self._remember(lines, offset)

    def _remember(self, lines: list[bytes], end: int) -> None:
        """The last lines, whatever they say."""
        for back, line in enumerate(reversed(lines[-TAIL - 1 :])):
            end -= len(line) + 1
            if line:
                self._tail.append(RawLine(self._number - 1 + (not lines[-1]) - back, end, line))
        ordered = sorted(self._tail, key=lambda line: line.number)[-TAIL:]
        self._tail = deque(ordered, maxlen=2 * TAIL)

    def _look(self, line: RawLine, shape: bytes) -> None:
        left = self._left.get(shape, -1)
        telling = left != 0 and _is_telling(line.data)
        if left < 0:
            left = TELLING if telling else RANKED if _may_name_a_rank(line.data) else DULL
        if len(self._left) < MOST_SHAPES or shape in self._left:
            self._left[shape] = max(left - 1, 0)
        if not (left or self._context) or not line.data.strip():
            return
        if not telling and not self._context:
            self._dull.append(line)
            return
        self._context = CONTEXT if telling else self._context - 1
        (self._head if len(self._head) < self._most else self._late).append(line)


def _may_name_a_rank(data: bytes) -> bool:
    first = data.lstrip()[:1]
    return first in b"[(" or first.isdigit() or (b"pid" in data and b"rank" in data)


def sounds_like_trouble(lower: str) -> bool:
    """Whether a line, in lower case, holds any word of trouble."""
    return any(stem in lower for stem in STEMS)


def _is_telling(data: bytes) -> bool:
    lower = data.lower()
    for stem in _ENGLISH:
        if stem in lower:
            return True
    return not data.isascii() and any(stem in data for stem in _CHINESE)


def _blocks(chunks: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Blocks of whole lines and their offsets; the end of a line that is too long is dropped."""
    offset, rest = 0, b""
    for chunk in chunks:
        cut = max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1
        if not cut:
            rest += chunk
            if len(rest) > LONGEST_LINE:
                yield offset, rest[:LONGEST_LINE]
                offset, rest = offset + len(rest), b""
            continue
        block = rest + chunk[:cut]
        yield offset, block
        offset, rest = offset + len(block), chunk[cut:]
    if rest:
        yield offset, rest[:LONGEST_LINE]
