"""Finds tracebacks in the lines of one speaker, plain or in boxes, and joins those that belong to one exception.

A traceback is found wherever it begins in a line, through lines of others; its frames may be printed without its head.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from headway.diagnosis.reading.entry import Entry

_HEAD = re.compile(r"Traceback \(most recent call last\)|\(most recent call first\)")
_FRAME = re.compile(r'\s*(?:│|\|)?\s*File "(?P<path>[^"]{1,600})", line (?P<line>\d{1,9})')
_BOXED = re.compile(r"[│|]\s{1,4}(?P<path>[^\s:│]{1,400}\.py):(?P<line>\d{1,9}) in ")
_NAMED = re.compile(
    r"(?:[A-Za-z_][\w.]{0,120}\.)?(?:[A-Z]\w{0,60}(?:Error|Exception|"
    r"Exit|Interrupt|Died|Fault|Timeout|Failure)|Exception|Timeout)(?:\(\w{1,60}\))?(?::|$|\()"
)
_ANY = re.compile(r"[A-Za-z_][\w.]{0,160}(?:\(\w{1,60}\))?(?::\s|:$|$)")
_LINKS = (
    ("cause", "The above exception was the direct cause of the following exception"),
    ("during", "During handling of the above exception, another exception occurred"),
    ("original", "Original Traceback (most recent call last)"),
)
_CAUGHT = re.compile(r"Caught \w{1,60} in (?:DataLoader worker|pin memory|replica)")
_PROCESS = re.compile(r"(?:^|-- )Process (\d{1,4}) terminated with the following error")
_LIBRARY = re.compile(
    r"(?:^|[\\/])(?:site-packages|dist-packages|lib(?:64)?[\\/]python3[\d.]*|"
    r"[Ll]ib[\\/](?:json|multiprocessing|asyncio|threading|runpy))(?:[\\/]|$)"
    r"|(?:^|[\\/])(?:torch|transformers|deepspeed|accelerate|torch_npu|"
    r"numpy|ray)[\\/](?:nn|autograd|distributed|utils|optim|cuda|_|"
    r"runtime|npu|launcher|multiprocessing)"
    r"|^<|\.pyz[\\/]|^torch[\\/]|\.(?:pxi|pyx|pxd)$"
)
_INSTALLED = re.compile(r"^/(?:opt|usr)/")
"""Frameworks put there with the image: a job's own code calls them, unless nothing else is in the traceback."""
_RULE = re.compile(r"[=-]{10,}$")
_LAUNCHER = re.compile(r"torch[./]distributed[./]elastic|failed \(exitcode:|Killing subprocess|={20,}$|^srun: ")
"""What launchers say once a process is gone: a traceback that is open then has lost its exception."""
CONTINUES = 14
"""Lines after an exception that may belong to its text."""


@dataclass(slots=True)
class Trace:
    """One traceback: frames as (path, line), innermost last; their lines; its exception, and what follows."""

    head: Entry
    frames: list[tuple[str, int]] = field(default_factory=list)
    exception: Entry | None = None
    body: list[Entry] = field(default_factory=list)
    tail: list[Entry] = field(default_factory=list)
    link: str | None = None
    process: int | None = None
    is_reversed: bool = False

    @property
    def own_frame(self) -> str | None:
        """The innermost frame of the job's own code, else of what stands beside the outermost, as `path:line`."""
        frames = self.frames if self.is_reversed else list(reversed(self.frames))
        outside = [(path, line) for path, line in frames if not is_library(path)]
        own = [frame for frame in outside if not _INSTALLED.search(frame[0])] or _beside_the_script(outside)
        return f"{own[0][0]}:{own[0][1]}" if own else None


def _beside_the_script(frames: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Of frames that are all installed, innermost first: those in the folder of the outermost, where a script began."""
    folder = frames[-1][0].rpartition("/")[0] if frames else ""
    return [(path, line) for path, line in frames if path.startswith(f"{folder}/")]


def is_library(path: str) -> bool:
    """Whether a file belongs to Python, an installed package or a framework rather than to the job."""
    return bool(_LIBRARY.search(path))


def streams(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    """The entries by speaker: a rank, a process, a role or nobody in particular, within one file."""
    parts: dict[tuple[object, ...], list[Entry]] = defaultdict(list)
    for entry in entries:
        speaker = (
            ("pid", entry.pid, entry.node)
            if entry.pid is not None and entry.rank is None
            else ("rank", entry.rank, None)
        )
        parts[(entry.file, *speaker)].append(entry)
    yield from parts.values()


def find(stream: Sequence[Entry]) -> list[list[Trace]]:
    """The tracebacks of one speaker in order, each with those it was raised from or led to."""
    groups: list[list[Trace]] = []
    for trace in _traces(stream):
        if trace.link and groups:
            groups[-1].append(trace)
        else:
            groups.append([trace])
    return groups


def _traces(stream: Sequence[Entry]) -> list[Trace]:
    finder = _Finder()
    for entry in stream:
        finder.see(entry)
    return [trace for trace in finder.traces if trace.frames or trace.exception or trace.head.rank is not None]


class _Finder:
    def __init__(self) -> None:
        self.traces: list[Trace] = []
        self._open: Trace | None = None
        self._link: str | None = None
        self._process: int | None = None

    def see(self, entry: Entry) -> None:
        text = entry.text
        for name, words in _LINKS[:2]:
            if words in text:
                self._link = name
                return
        if found := _PROCESS.search(text):
            self._link, self._process = "process", int(found[1])
            return
        if found := _HEAD.search(text):
            self._begin(entry, "original" if "Original Traceback" in text else self._link)
            self.traces[-1].is_reversed = "call first" in found[0]
            return
        frame = _FRAME.match(text) or _BOXED.match(text)
        if frame:
            if self._open is None or self._open.exception is not None or self._begins_anew(frame):
                self._begin(entry, self._link_of_frames())
            assert self._open is not None
            self._open.frames.append((frame["path"], int(frame["line"])))
            self._open.body.append(entry)
        elif self._open is not None or _NAMED.match(text):
            self._said(entry, text)

    def _begins_anew(self, frame: re.Match[str]) -> bool:
        """Whether the script's own frame comes once more: the end of one and the head of the next were lost."""
        frames = self._open.frames if self._open else []
        is_script = frame.string.rstrip().endswith("in <module>")
        return is_script and bool(frames) and frames[0] == (frame["path"], int(frame["line"]))

    def _link_of_frames(self) -> str | None:
        """How frames without a heading of their own belong to the exception before them."""
        before = self._open.exception if self._open else None
        if before is not None and _CAUGHT.search(before.text):
            return "original"
        return "frames" if before is not None and self._open and not self._open.frames else self._link

    def _begin(self, entry: Entry, link: str | None) -> None:
        self._open = Trace(entry, link=link, process=self._process)
        self.traces.append(self._open)
        self._link = None

    def _said(self, entry: Entry, text: str) -> None:
        trace = self._open
        if trace is None or (trace.exception is not None and _NAMED.match(text) and not _belongs(trace, text)):
            again = trace is not None and trace.exception is not None and "RayTaskError" in trace.exception.text
            self._open = trace = Trace(entry, exception=entry, process=self._process, link="frames" if again else None)
            self.traces.append(trace)
        elif trace.exception is None and _LAUNCHER.search(text) and not _NAMED.match(text):
            self._open = None
        elif trace.exception is None:
            is_exception = _NAMED.match(text) if not trace.frames else _NAMED.match(text) or _ANY.match(text)
            if is_exception and not text.startswith(("│", "|")):
                trace.exception = entry
            elif text[:1] in " \t│|":
                trace.body.append(entry)
        elif len(trace.tail) < CONTINUES and entry.level is None and entry.at is None and not _RULE.match(text):
            trace.tail.append(entry)
        else:
            self._open = None


def _belongs(trace: Trace, text: str) -> bool:
    """Whether an exception's name stands within the text of another: what NCCL says below its error."""
    first = trace.exception.text if trace.exception else ""
    return text.startswith("nccl") or ("Error" in first and text.startswith(("Last error", "Failed")))
