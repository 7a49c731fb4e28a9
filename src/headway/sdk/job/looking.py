"""Lets the agent see where this rank stands: every thread's stack by a signal, its last collectives by a thread.

The signal's handler is the interpreter's own (`faulthandler`) and works while the program hangs in native code. The
thread wakes twice a second to see whether the agent asks, and needs the interpreter's lock to answer. Neither ever
stops or slows the training, nor imports anything of torch that the program has not.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any, Dict, List, Optional

SIGNAL = 40
"""A real-time signal that nothing else is known to use; the agent sends it only to a process that catches it."""
LOOK, STACKS, COLLECTIVES = "look.json", "stacks", "collectives"
EVERY_S = 0.5
NEWEST = 64
_KEPT = ("process_group", "collective_seq_id", "p2p_seq_id", "is_p2p", "profiling_name", "retired", "time_created_ns")
_RECORDERS = (
    ("torch._C._distributed_c10d", "_dump_fr_trace_json"),
    ("torch._C._distributed_c10d", "_dump_nccl_trace_json"),
    ("torch_npu._C._distributed_c10d", "_dump_hccl_trace_json"),
)


def be_seen(folder: Path, suffix: str, world_size: int) -> None:
    """Answer looks from now on; `suffix` is empty where the folder is this rank's own, else `-<rank>`."""
    try:
        stacks = os.open(folder / f"{STACKS}{suffix}.txt", os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        faulthandler.register(SIGNAL, file=stacks, all_threads=True, chain=False)
    except (AttributeError, OSError, ValueError, RuntimeError):
        pass  # another system than Linux, or no room: the agent has other ways to look
    if world_size > 1:
        answering = _Answering(folder / LOOK, folder / f"{COLLECTIVES}{suffix}.json")
        threading.Thread(target=answering.for_ever, name="headway-look", daemon=True).start()


class _Answering:
    """Writes what the flight recorder holds whenever the agent asks anew."""

    def __init__(self, asked: Path, answer: Path) -> None:
        self._asked, self._answer = asked, answer
        self._seen = 0

    def for_ever(self) -> None:
        while True:
            time.sleep(EVERY_S)
            try:
                self._look()
            except Exception:  # the program may be going down around this thread
                continue

    def _look(self) -> None:
        try:
            changed = os.stat(self._asked).st_mtime_ns
        except OSError:
            return
        if changed == self._seen:
            return
        self._seen = changed
        look = json.loads(self._asked.read_bytes())["look"]
        draft = self._answer.with_suffix(".new")
        draft.write_text(json.dumps({"look": look, "t": time.time(), "collectives": collectives()}))
        os.replace(draft, self._answer)


def collectives() -> Optional[Dict[str, Any]]:
    """The newest collectives of this process by torch's flight recorder; None where it has none.

    `groups`: how many each process group has enqueued and completed; `newest`: the last of them, oldest first.
    """
    for module, name in _RECORDERS:
        dump = getattr(sys.modules.get(module), name, None)
        trace = json.loads(dump(True, False)) if dump is not None else {}
        if trace.get("entries"):
            return {"groups": trace.get("pg_status") or {}, "newest": _newest(trace["entries"])}
    return None


def _newest(entries: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    newest = []
    for entry in entries[-NEWEST:]:
        kept = {key: entry.get(key) for key in _KEPT}
        newest.append({**kept, "sizes": str(entry.get("input_sizes"))[:80]})
    return newest
