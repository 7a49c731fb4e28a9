"""What a rank's main thread is in, read from a stack as py-spy or faulthandler print it; and who stands apart.

Frames are compared by file and function, not by line: two ranks in the same wait may be lines apart.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from headway.diagnosis.finding.traces import is_library
from headway.diagnosis.hang.scene import StackSeen

_FAULTHANDLER = re.compile(r'^  File "(?P<file>[^"\n]{1,500})", line (?P<line>\d{1,9}) in (?P<function>.{1,200})$')
_PY_SPY = re.compile(r"^ {4}(?P<function>\S[^(\n]{0,200}?) \((?P<file>[^()\n]{1,500}):(?P<line>\d{1,9})\)$")
_MOST_LINES = 4000
_DEEPEST = 12
"""How many of the innermost frames tell one wait from another."""


class Stage(StrEnum):
    """What a step of training is made of, as far as a stack can tell."""

    COLLECTIVE = "collective"
    DATA = "data"
    SAVING = "saving"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame; `file` as printed, which py-spy shortens."""

    function: str
    file: str
    line: int

    @property
    def location(self) -> str:
        return f"{self.file}:{self.line}"


_COLLECTIVE_FILES = ("distributed/distributed_c10d.py", "torch/cuda/streams.py")
_COLLECTIVE_FUNCTIONS = frozenset({"_engine_run_backward", "synchronize", "barrier", "all_reduce", "_sync_buffers"})
_DATA_FILES = ("utils/data/dataloader.py", "utils/data/_utils/", "datasets/", "webdataset/", "torchdata/")
_SHORTENED = ("torch/", "safetensors/", "datasets/", "transformers/", "accelerate/", "lightning/", "deepspeed/", "<")
"""How py-spy prints the files of installed packages."""
_SAVING_FILES = ("torch/serialization.py", "distributed/checkpoint/", "safetensors/", "sdk/job/checkpoints.py")


def main_thread(stack: StackSeen) -> tuple[Frame, ...]:
    """The frames of the main thread, innermost first; empty where the text holds none."""
    threads: list[tuple[str, list[Frame]]] = []
    for line in stack.text.splitlines()[:_MOST_LINES]:
        if line.startswith(("Thread ", "Current thread ")):
            threads.append((line, []))
        elif threads and (found := _FAULTHANDLER.match(line) or _PY_SPY.match(line)):
            threads[-1][1].append(Frame(found["function"].strip(), found["file"], int(found["line"])))
    named = [frames for head, frames in threads if "MainThread" in head]
    # faulthandler names no thread, and prints the first one of the process last.
    return tuple(named[0] if named else threads[-1][1] if threads else ())


def stage(frames: tuple[Frame, ...]) -> Stage:
    """What the innermost frame that is known says: a loader inside a step is data, a wait for peers a collective."""
    for frame in frames:
        if any(part in frame.file for part in _DATA_FILES):
            return Stage.DATA
        if any(part in frame.file for part in _SAVING_FILES):
            return Stage.SAVING
        if frame.function in _COLLECTIVE_FUNCTIONS or any(part in frame.file for part in _COLLECTIVE_FILES):
            return Stage.COLLECTIVE
    return Stage.OTHER


def own_location(frames: tuple[Frame, ...]) -> str | None:
    """The innermost line of the program's own code."""
    own = (frame for frame in frames if not is_library(frame.file) and not frame.file.startswith(_SHORTENED))
    return next((frame.location for frame in own), None)


def apart(stacks: Mapping[int, tuple[Frame, ...]]) -> tuple[int, ...]:
    """The ranks that are not where the others are: those outside a collective while others wait in one, else the few.

    Empty where all are alike or no group is the smaller.
    """
    known = {rank: frames for rank, frames in stacks.items() if frames}
    stages = {rank: stage(frames) for rank, frames in known.items()}
    outside = tuple(sorted(rank for rank, one in stages.items() if one is not Stage.COLLECTIVE))
    if 0 < len(outside) < len(known):
        return outside
    clusters = Counter(_shape(frames) for frames in known.values())
    if len(clusters) < 2:
        return ()
    (most, size), *_ = clusters.most_common(1)
    few = tuple(sorted(rank for rank, frames in known.items() if _shape(frames) != most))
    return few if len(few) < size else ()


def _shape(frames: tuple[Frame, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((frame.file, frame.function) for frame in frames[:_DEEPEST])
