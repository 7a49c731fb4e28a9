"""`cut_off.py FOLDER PLAN`: launches one attempt after another, each in a process that dies after one more step.

A step is anything that changes the disk or starts a process. Writes the orders, pickled, to `FOLDER/orders`.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from headway.engines.local.discover import discover
from headway.engines.local.launch import Launching
from headway.engines.local.ports import Ports
from headway.engines.protocol import LaunchOrder
from tests.engines.contract import Plan
from tests.engines.machine import LocalSubject

DIED = 9


def main(folder: Path, plan: Plan) -> None:
    subject = LocalSubject(folder)
    orders = []
    while True:
        order = subject.order(plan, nodes=2, service=True)
        orders.append(order)
        child = os.fork()
        if child == 0:
            launch_up_to(len(orders), subject, order)
        _, status = os.waitpid(child, 0)
        if os.waitstatus_to_exitcode(status) != DIED:
            break
    (folder / "orders").write_bytes(pickle.dumps(orders))


def launch_up_to(steps: int, subject: LocalSubject, order: LaunchOrder) -> None:
    """Launch, and die right after step number `steps`; end with 0 when there are fewer."""
    left = steps

    def counted(step: Callable[..., Any]) -> Callable[..., Any]:
        def take(*args: Any, **kwargs: Any) -> Any:
            nonlocal left
            result = step(*args, **kwargs)
            left -= 1
            if left == 0:
                os._exit(DIED)
            return result

        return take

    for name in ("mkdir", "chmod", "open", "link", "replace", "unlink"):
        setattr(os, name, counted(getattr(os, name)))
    subprocess.Popen = counted(subprocess.Popen)  # type: ignore[assignment,misc]
    nodes = {node.name: node for node in discover(subject.settings.nodes, "local")}
    Launching(subject.settings, Ports(subject.settings.ports, "local"), "local").launch(order, nodes, datetime.now(UTC))
    os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Plan(sys.argv[2]))
