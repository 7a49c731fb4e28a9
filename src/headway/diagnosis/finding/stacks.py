"""Stacks of ranks that stand still: who waits in a collective, who waits for data, who writes; and the odd one out."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from headway.diagnosis.reading.entry import Entry

_RANK = re.compile(
    r"\(rank (\d{1,6})\)|^=+ ?rank[ :_]?(\d{1,6}) ?=+|^-+ ?rank[ :_]?(\d{1,6})|"
    r"^(?:stack|stacks|trace) of rank[ :]?(\d{1,6})|^Process \d{1,8}:.{0,200}?--local[_-]rank[= ](\d{1,4})|"
    r"^rank[ :_]?(\d{1,6})[ :]{0,2}(?:stack|thread|$)",
    re.I,
)
_MAIN = re.compile(r"Thread (?:0x)?[0-9a-fA-F]{1,16} \([^)]{1,20}\): \"MainThread\"")
_FRAME = re.compile(r"\s{1,12}([\w<>.]{1,120}) \(([^():]{1,300}):(\d{1,7})\)$")
_DATA = re.compile(
    r"(?i)dataloader|_try_get_data|queue\.get|/datasets?/|dataset\.py|"
    r"fetch\.py|__getitem__|_next_data|next_batch|prefetch"
)
_COLLECTIVE = re.compile(
    r"(?i)distributed|nccl|hccl|barrier|all_?reduce|all_?gather|broadcast|"
    r"reduce_scatter|recv|send|p2p|synchronize|wait_for|store"
)
_STORAGE = re.compile(r"(?i)serialization|save|write|fsync|open|flush|checkpoint")
_LIBRARY = re.compile(
    r"^(?:torch|deepspeed|megatron|transformers|accelerate|threading|"
    r"queue|multiprocessing|selectors|asyncio|concurrent|ray|ssl|socket|"
    r"subprocess)(?:/|\.py)|site-packages|/lib/python"
)


@dataclass(slots=True)
class Stack:
    """One rank's stack, innermost frame first. `kind`: collective, data, storage or other."""

    rank: int | None
    head: Entry
    frames: list[tuple[str, str, int]] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """What the innermost frames that tell anything tell."""
        for name, path, _ in self.frames[:6]:
            for kind, pattern in (("data", _DATA), ("collective", _COLLECTIVE), ("storage", _STORAGE)):
                if pattern.search(f"{name} {path}"):
                    return kind
        return "other"

    @property
    def own_frame(self) -> str | None:
        """The innermost frame outside libraries."""
        return next((f"{path}:{line}" for _, path, line in self.frames if not _LIBRARY.search(path)), None)


def stacks_of(entries: Sequence[Entry]) -> list[Stack]:
    """The stacks of ranks; where a file begins within one, or the head of one was lost, its rank is not known."""
    found: list[Stack] = []
    open_in: int | None = None
    had_main = False
    for entry in entries:
        head, main, frame = _RANK.search(entry.text), _MAIN.match(entry.text), _FRAME.match(entry.text)
        if head:
            found.append(Stack(int(next(filter(None, head.groups()))), entry))
            had_main = False
        elif main and (open_in != entry.file or had_main):
            found.append(Stack(None, entry))
        elif frame and (open_in != entry.file or _begins_anew(found[-1], frame)):
            found.append(Stack(None, entry))
            had_main = False
        if not (head or main or frame):
            continue
        open_in, had_main = entry.file, had_main or bool(main)
        if frame and not head:
            found[-1].frames.append((frame[1], frame[2], int(frame[3])))
    return [stack for stack in found if stack.frames]


def _begins_anew(stack: Stack, frame: re.Match[str]) -> bool:
    """Whether the innermost frame comes once more after others: the same stack of another rank, whose head was lost."""
    frames, this = stack.frames, (frame[1], frame[2], int(frame[3]))
    return len(frames) > 1 and frames[0] == this != frames[-1]
