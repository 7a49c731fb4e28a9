"""The helper process: takes orders with the memory they are about, performs them one after another, answers each.

It outlives a killed training for as long as an order needs: what was snapshot is still saved. A stop of the job is not
its business; it leaves when the training has gone and nothing is left to do.
"""

from __future__ import annotations

import json
import mmap
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any, Dict

from headway.sdk.job.checkpoint import Checkpoint, CheckpointError
from headway.sdk.job.commit import Order, perform
from headway.sdk.job.disk import Disk
from headway.sdk.job.local import note
from headway.sdk.job.refusals import in_words
from headway.sdk.job.retention import Retention

MAX_MESSAGE = 1 << 16


class Performer:
    """Performs orders for one directory, in whichever process it lives."""

    def __init__(self, directory: Path, disk: Disk) -> None:
        self._disk = disk
        self._retention = Retention(directory, disk)

    def perform(self, order: Order, image: Any) -> Checkpoint:
        """The checkpoint made, older ones removed where rank 0 was told to keep only some."""
        saved = perform(order, image, self._disk)
        if order.rank == 0 and order.keep is not None:
            try:
                self._retention.remove_older(saved, order.keep, Path(order.held) if order.held else None)
            except OSError as error:
                print(f"[headway] older checkpoints in {order.directory} are not removed: {error}", file=sys.stderr)
        return saved


def main() -> None:
    """Serve the socket that is standard input until its other end is closed."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    performers: Dict[str, Performer] = {}
    with socket.socket(fileno=os.dup(0)) as orders:
        while True:
            content, descriptors, _, _ = socket.recv_fds(orders, MAX_MESSAGE, 1)
            if not content:
                return
            answer = _answer(content, descriptors[0], performers)
            try:
                orders.send(json.dumps(answer).encode())
            except OSError:  # the training has gone; its other orders still count
                continue


def _answer(content: bytes, descriptor: int, performers: Dict[str, Performer]) -> Dict[str, Any]:
    order = Order.from_json(json.loads(content))
    try:
        image = mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
        if order.local is not None:
            note(order, image, Path(order.local))
        performer = performers.setdefault(order.directory, Performer(Path(order.directory), Disk()))
        saved = performer.perform(order, image)
    except OSError as error:
        told = in_words(error, Path(order.directory))
        return {"failed": told.strerror or str(told), "kind": "os", "errno": told.errno}
    except CheckpointError as error:
        return {"failed": str(error), "kind": "checkpoint"}
    finally:
        os.close(descriptor)
    return {"path": str(saved.path), "bytes": saved.manifest.bytes}


if __name__ == "__main__":
    main()
