"""The helper process that copies finished checkpoints to a store: a line an order, a line an answer.

It outlives a killed training for as long as a copy needs, leaves a stop of the job to others, and ends when nobody can
give it orders any more.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any, Dict

from headway.sdk.job.checkpoint import CheckpointError
from headway.sdk.job.staged import copy_out
from headway.sdk.job.store import open_store


def main() -> None:
    """Serve standard input; what libraries print goes to standard error, as answers have standard output."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)
        stores: Dict[str, Any] = {}
        for line in sys.stdin:
            try:
                answers.write(json.dumps(_answer(json.loads(line), stores)) + "\n")
                answers.flush()
            except OSError:  # the training has gone; its other orders still count
                continue


def _answer(order: Dict[str, Any], stores: Dict[str, Any]) -> Dict[str, Any]:
    started = time.monotonic()
    try:
        store = stores.get(order["store"]) or stores.setdefault(order["store"], open_store(order["store"]))
        key, is_new = copy_out(Path(order["folder"]), order["job"], store)
    except (OSError, CheckpointError, ImportError, ValueError) as error:
        return {"failed": str(error)}
    took = round(time.monotonic() - started, 6)
    return {"to": f"{store.url}/{key}", "storage": store.storage, "copied": took, "is_new": is_new}
