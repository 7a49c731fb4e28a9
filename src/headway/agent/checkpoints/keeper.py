"""Has the checkpoints that frameworks save looked for while the ranks run, and once more when they have ended; and has
those deleted that the server lets go.

The looking is done by a process of its own, as the job's user (`__main__`); none is started where nothing but the
in-job SDK's own checkpoints lies in the folder. Only the first node's agent looks: all see the same folder. It never
holds up a rank, and an end by half a minute at most.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import sys

from headway.agent.checkpoints.folder import mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from headway.agent.order import Order

EVERY_S = 30.0
LAST_S = 30.0
_OWN_LENGTH = len("step-00000000")
_MOST_BYTES = 4 << 20
_MOST_KNOWN = 1000
_NEVER = float("inf")


class Keeper:
    """Looks for one attempt on its first node. Times are monotonic seconds."""

    def __init__(
        self,
        order: Order,
        package: str,
        selector: selectors.BaseSelector,
        tell: Callable[[str, list[dict[str, Any]]], None],
    ) -> None:
        self._order = order
        self._package = package
        self._selector = selector
        self._tell = tell
        self._root = order.checkpoint_dir if order.node_rank == 0 else None
        self._ordered: list[dict[str, Any]] = []
        self._discarded: set[str] = set()
        self._deletes = False
        self._known: dict[str, tuple[float, str | None]] = {}
        self._read: bytearray = bytearray()
        self._fd: int | None = None
        self._pid = 0
        self._give_up_at = _NEVER
        self._ending = False
        self._looked_last = False
        self.due = _NEVER

    def begin(self, now: float) -> None:
        """The ranks have been started."""
        if self._root is not None:
            self.due = now + EVERY_S

    def advance(self, now: float) -> None:
        """Look, where it is time."""
        if now >= self._give_up_at:
            self._give_up()
        if now >= self.due:
            self.due = now + EVERY_S
            if self._fd is None:
                self._look()
        if self._ordered and self._fd is None and not self._ending:
            self._deletes = True
            self._begin_process("discard", self._ordered)
            self._ordered = []

    def discard(self, orders: list[dict[str, Any]]) -> None:
        """Delete these, each once: an order comes again until the server has heard what became of it."""
        new = [order for order in orders if str(order["path"]) not in self._discarded]
        self._discarded.update(str(order["path"]) for order in new)
        self._ordered += new

    def ended(self, now: float) -> bool:
        """The ranks have ended: whether the last look is over; the first question begins it."""
        if not self._ending:
            self._ending = True
            self.due = _NEVER
            self._give_up_at = now + LAST_S
        if self._fd is None and not self._looked_last:
            self._looked_last = True
            self._look()
        return self._fd is None

    def _look(self) -> None:
        if self._root is None or not _is_worth_it(self._root):
            return
        known = [mark(path, saved_at) for path, (saved_at, reason) in self._known.items() if reason != "unfinished"]
        self._deletes = False
        self._begin_process("survey", known[-_MOST_KNOWN:])

    def _begin_process(self, verb: str, told: list[Any]) -> None:
        fd, output = os.pipe()
        self._pid = self._start(output, [verb, str(self._root), json.dumps(told)])
        os.close(output)
        if not self._pid:
            os.close(fd)
            return
        os.set_blocking(fd, False)
        self._fd = fd
        self._read.clear()
        self._selector.register(fd, selectors.EVENT_READ, self._more)

    def _start(self, output: int, words: list[str]) -> int:
        """The pid of the process; 0 where the job's user can start neither this Python nor one of theirs."""
        from headway.agent.ranks.launch import Launcher, Program, StartError

        env = {"PYTHONPATH": self._package, "PATH": os.defpath}
        words = ["-m", "headway.agent.checkpoints", *words]
        for python in (sys.executable, "python3"):
            try:
                return Launcher().start(Program([python, *words], env, "/", self._order.user), output)
            except (StartError, OSError):
                continue
        return 0

    def _more(self) -> None:
        assert self._fd is not None
        try:
            piece = os.read(self._fd, 65536)
        except BlockingIOError:
            return
        self._read += piece[: _MOST_BYTES - len(self._read)]
        if not piece:
            self._close()
            self._take()

    def _take(self) -> None:
        """Tell what is new, or has changed since it was told."""
        news = []
        for line in bytes(self._read).splitlines():
            try:
                seen = json.loads(line)
                if self._deletes:
                    news.append({"path": str(seen["path"]), "kept": seen["kept"]})
                    if seen["kept"]:
                        self._discarded.discard(str(seen["path"]))
                    continue
                path, now = str(seen["path"]), (float(seen["saved_at"]), seen["reason"])
            except (ValueError, KeyError, TypeError):
                continue
            if self._known.get(path) != now:
                self._known[path] = now
                news.append(seen)
        if news:
            self._tell("discarded" if self._deletes else "checkpoints", news)

    def _give_up(self) -> None:
        """It takes too long: what it found so far is nothing that was looked through."""
        self._give_up_at = _NEVER
        if self._fd is None:
            return
        self._close()
        try:
            os.killpg(self._pid, signal.SIGKILL)
        except OSError:
            return

    def _close(self) -> None:
        if self._fd is not None:
            self._selector.unregister(self._fd)
            os.close(self._fd)
            self._fd = None


def _is_worth_it(root: str) -> bool:
    """Whether anything lies there that the in-job SDK did not make."""
    try:
        return not all(_is_own(name) for name in os.listdir(root))
    except PermissionError:
        return True  # the user may
    except OSError:
        return False


def _is_own(name: str) -> bool:
    """Whether the in-job SDK made it, or whoever made it hides it."""
    saved = name.startswith("step-") and len(name) >= _OWN_LENGTH
    return saved or name.startswith(".") or name == "lease.json"
