"""Finds Python tracebacks in one rank's lines, and the user's own frame. Never judges what an exception means."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from headway.diagnosis.lines import Line

_BEGIN = "Traceback (most recent call last):"
_FRAME = re.compile(r'\s*File "([^"]{1,600})", line (\d{1,9})')
_EXCEPTION = re.compile(r"[A-Za-z_][\w.]*(?:\(\w+\))?(?::|$)")
_LIBRARY = re.compile(
    r"(?:^|[\\/])(?:site-packages|dist-packages|lib(?:64)?[\\/]python3[\d.]*|torch[\\/](?:nn|autograd|distributed|utils|optim|cuda|_))"
    r"|^<|\.pyz[\\/]"
)
_CAUSED = "The above exception was the direct cause of the following exception:"
_HARMLESS = ("Exception ignored in", "--- Logging error ---")
_LAUNCHER = "torch.distributed.elastic.multiprocessing.errors.ChildFailedError"
_CONTINUES = ("NCCL error", "DistBackendError")
_CONTINUED_LINES = 4
_FOREIGN_LINES = 5


@dataclass(frozen=True, slots=True)
class Trace:
    """One traceback: its frames as `file:line`, outermost first, and its exception.

    `text` is the exception with the lines that belong to it; `caused`: raised from the exception before it.
    """

    frames: tuple[str, ...]
    exception: Line
    text: str
    caused: bool = False

    @property
    def location(self) -> str | None:
        """The innermost frame in the user's own code, else the innermost frame."""
        own = [frame for frame in self.frames if not is_library(frame)]
        return (own or self.frames or (None,))[-1]


def is_library(path: str) -> bool:
    """Whether a file belongs to Python, an installed package or torch rather than to the user."""
    return bool(_LIBRARY.search(path))


def frame_of(text: str) -> str | None:
    """`file:line` if this line names a frame."""
    found = _FRAME.match(text)
    return f"{found.group(1)}:{found.group(2)}" if found else None


def find(lines: Sequence[Line]) -> list[Trace]:
    """Return the tracebacks in order, without those Python ignored and those of the launcher itself."""
    traces: list[Trace] = []
    index = 0
    while index < len(lines):
        if _BEGIN not in lines[index].text:
            index += 1
            continue
        before = lines[index - 1].text.strip() if index else ""
        trace, index = _one(lines, index + 1)
        if trace and not before.startswith(_HARMLESS) and not trace.text.startswith(_LAUNCHER):
            traces.append(replace(trace, caused=before == _CAUSED))
    return traces


def _one(lines: Sequence[Line], index: int) -> tuple[Trace | None, int]:
    """Read one traceback to its exception, through a few lines that other threads wrote in between."""
    frames: list[str] = []
    foreign = 0
    while index < len(lines) and foreign <= _FOREIGN_LINES and _BEGIN not in lines[index].text:
        line = lines[index]
        frame = frame_of(line.text)
        if frame:
            frames.append(frame)
        elif _EXCEPTION.match(line.text):
            return Trace(tuple(frames), line, _whole_text(lines, index)), index + 1
        elif line.text and not line.text[0].isspace():
            foreign += 1
        index += 1
    return None, index


def _whole_text(lines: Sequence[Line], index: int) -> str:
    first = lines[index].text
    if not any(word in first for word in _CONTINUES):
        return first
    return "\n".join(line.text for line in lines[index : index + _CONTINUED_LINES])


def blamed(traces: Sequence[Trace], is_follower: Callable[[str], bool]) -> Trace | None:
    """The traceback that ended the process: the last that has frames, or what it was raised from.

    If that is a follower (a connection found broken while cleaning up), an earlier one that is not goes before it.
    """
    traces = [trace for trace in traces if trace.frames] or traces
    if not traces:
        return None
    at = len(traces) - 1
    while at > 0 and traces[at].caused:
        at -= 1
    if is_follower(traces[at].text):
        return next((trace for trace in reversed(traces[:at]) if not is_follower(trace.text)), traces[at])
    return traces[at]
