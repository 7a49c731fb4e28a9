"""The training's end of the staged copies: hands finished checkpoints to the process that copies them, one at a time.

Where copying is slower than saving, the newest waits and those between are left out, which is said. A copy that fails
is complained of and raised by `wait`; the checkpoint itself is where it was saved.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Optional

import headway
from headway.sdk.job.checkpoint import CheckpointError
from headway.sdk.job.events import complain

Tells = Callable[[Dict[str, Any]], None]


class Saved(NamedTuple):
    """A finished checkpoint, and when its save began (monotonic seconds)."""

    path: Path
    step: int
    bytes: int
    started: float


class Copies:
    """One helper process, started with the first copy; `tell` is called in another thread, for each new whole copy."""

    def __init__(self, store: str, job: str, tell: Tells) -> None:
        self.store = store
        self._job = job
        self._tell = tell
        self._changed = threading.Condition()
        self._under_way: Optional[Saved] = None
        self._next: Optional[Saved] = None
        self._failures: List[str] = []
        self._helper: Optional[subprocess.Popen[str]] = None

    def submit(self, saved: Saved) -> None:
        """Copy it when the copy before is done, unless a newer one comes meanwhile."""
        with self._changed:
            if self._under_way is None:
                self._hand_over(saved)
                return
            if self._next is not None:
                complain(f"step {self._next.step} is not copied to {self.store}: copying takes longer than saving")
            self._next = saved

    def wait(self) -> None:
        """Until nothing is left to copy. Raises CheckpointError with what failed since the last time."""
        with self._changed:
            while self._under_way is not None:
                self._changed.wait()
            failures, self._failures = self._failures, []
        if failures:
            raise CheckpointError(failures[0])

    def close(self) -> None:
        """Wait and end the helper; what failed is complained of already."""
        with suppress(CheckpointError):
            self.wait()
        with self._changed:
            helper, self._helper = self._helper, None
        if helper is not None and helper.stdin is not None:
            helper.stdin.close()
            helper.wait()

    def _hand_over(self, saved: Saved) -> None:
        self._under_way = saved
        if self._helper is None:
            self._start()
        assert self._helper is not None
        assert self._helper.stdin is not None
        order = {"folder": str(saved.path), "job": self._job, "store": self.store}
        try:
            self._helper.stdin.write(json.dumps(order) + "\n")
            self._helper.stdin.flush()
        except OSError:
            return  # the helper has just died: the thread answers for it

    def _start(self) -> None:
        package = str(Path(headway.__file__).parents[1])
        code = f"import sys; sys.path.insert(0, {package!r}); from headway.sdk.job.copier import main; main()"
        pipe = subprocess.PIPE
        self._helper = subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe, text=True, cwd="/")
        threading.Thread(target=self._hear, args=(self._helper,), name="headway-copies", daemon=True).start()

    def _hear(self, helper: "subprocess.Popen[str]") -> None:
        assert helper.stdout is not None
        assert helper.stdin is not None
        for line in helper.stdout:
            self._answered(json.loads(line))
        code = helper.wait()
        helper.stdout.close()
        with self._changed:
            if self._helper is helper:
                self._helper = None
                with suppress(OSError):
                    helper.stdin.close()
            lost = self._under_way is not None
        if lost:
            self._answered({"failed": f"the process that copies has ended (exit {code})"})

    def _answered(self, answer: Dict[str, Any]) -> None:
        with self._changed:
            saved = self._under_way
        assert saved is not None
        if "failed" in answer:
            said = f"step {saved.step} is not copied to {self.store}: {answer['failed']}"
            complain(said)
            self._failures.append(said)
        elif answer.pop("is_new"):
            seconds = round(time.monotonic() - saved.started, 6)
            told = {"step": saved.step, "path": str(saved.path), "bytes": saved.bytes, "seconds": seconds}
            self._tell({**told, **answer})
        with self._changed:
            self._under_way, following, self._next = None, self._next, None
            if following is not None:
                self._hand_over(following)
            self._changed.notify_all()
