"""The training's end of the helper process: hands it orders, hears what became of them, and frees the memory.

A thread hears the answers, so that a checkpoint is told of when it is there and not when the next one begins.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections import deque
from pathlib import Path
from typing import Any, Callable, Deque, Dict, List, NamedTuple, Optional

import headway
from headway.sdk.job.checkpoint import CheckpointError
from headway.sdk.job.commit import Order
from headway.sdk.job.image import Image
from headway.sdk.job.local import LocalTier, forget
from headway.sdk.job.writer import MAX_MESSAGE


class Handed(NamedTuple):
    """An order in the helper's hands, and what to call with its answer."""

    order: Order
    image: Image
    done: Callable[[Dict[str, Any]], None]


class Background:
    """One helper process, started with the first order; two snapshots at most are held at a time."""

    def __init__(self, local: Optional[LocalTier] = None) -> None:
        self._local = local
        self._changed = threading.Condition()
        self._handed: Deque[Handed] = deque()
        self._images: List[Image] = []
        self._failures: List[Exception] = []
        self._helper: Optional[subprocess.Popen[bytes]] = None
        self._orders: Optional[socket.socket] = None

    def free_image(self) -> Image:
        """Memory for a snapshot: used before if possible, as that is fast; waits while both are being written."""
        with self._changed:
            while True:
                busy = [handed.image for handed in self._handed]
                free = [image for image in self._images if image not in busy]
                if not free and len(self._images) < 2:
                    self._images.append(self._new_image())
                    continue
                if free:
                    if free[0].path is not None:
                        forget(free[0].path)
                    return free[0]
                self._changed.wait()

    def submit(self, order: Order, image: Image, done: Callable[[Dict[str, Any]], None]) -> None:
        """Hand an order over; `done` is called with the answer, in another thread."""
        content = json.dumps(order.to_json()).encode()
        if len(content) > MAX_MESSAGE:
            raise CheckpointError(
                f"step {order.step} is not saved: what describes it is larger than {MAX_MESSAGE} bytes"
            )
        with self._changed:
            if self._helper is None:
                self._start()
            assert self._orders is not None
            self._handed.append(Handed(order, image, done))
            try:
                socket.send_fds(self._orders, [content], [image.fd])
            except OSError:
                return  # the helper has just died: the thread answers for it

    def raise_failures(self) -> None:
        """Raise what went wrong since the last time, the first of it."""
        with self._changed:
            failures, self._failures = self._failures, []
        if failures:
            raise failures[0]

    def wait(self) -> None:
        """Until nothing is in the helper's hands."""
        with self._changed:
            while self._handed:
                self._changed.wait()

    def close(self) -> None:
        """Wait, end the helper and give the memory back."""
        self.wait()
        with self._changed:
            if self._orders is not None:
                self._orders.shutdown(socket.SHUT_RDWR)
            helper, images, self._images = self._helper, self._images, []
        if helper is not None:
            helper.wait()
        for image in images:
            image.close()

    def _new_image(self) -> Image:
        return Image() if self._local is None else self._local.image(len(self._images))

    def _start(self) -> None:
        self._orders, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._orders.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * MAX_MESSAGE)
        # Where this package lies, so that the helper finds it too, were it in a zip.
        package = str(Path(headway.__file__).parents[1])
        code = f"import sys; sys.path.insert(0, {package!r}); from headway.sdk.job.writer import main; main()"
        with theirs:
            self._helper = subprocess.Popen([sys.executable, "-c", code], stdin=theirs.fileno(), cwd="/")
        threading.Thread(
            target=self._hear, args=(self._helper, self._orders), name="headway-saves", daemon=True
        ).start()

    def _hear(self, helper: subprocess.Popen[bytes], orders: socket.socket) -> None:
        while content := _received(orders):
            self._answered(json.loads(content))
        code = helper.wait()
        with self._changed:
            if self._helper is helper:
                self._helper = None
            left = len(self._handed)
        for _ in range(left):
            how = f"signal {-code}" if code < 0 else f"exit {code}"
            self._answered({"failed": f"the process that writes checkpoints has ended ({how})", "kind": "checkpoint"})
        orders.close()

    def _answered(self, answer: Dict[str, Any]) -> None:
        with self._changed:
            handed = self._handed[0]
            if "failed" in answer:
                self._failures.append(_error(answer))
        try:
            handed.done(answer)
        finally:
            with self._changed:
                self._handed.popleft()
                self._changed.notify_all()


def _received(orders: socket.socket) -> bytes:
    try:
        return orders.recv(MAX_MESSAGE)
    except OSError:
        return b""


def _error(answer: Dict[str, Any]) -> Exception:
    if answer["kind"] == "os":
        return OSError(answer["errno"], answer["failed"]) if answer["errno"] else OSError(answer["failed"])
    return CheckpointError(answer["failed"])
