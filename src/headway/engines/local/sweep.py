"""Killing what an attempt left on a node: everybody in its cgroups, and everybody whose environment names it.

A process that left its group, its session and its environment is the only one not found, and it has to be root to leave
the group. Never touches a process that does not belong to the attempt.
"""

import os
import signal
import time
from collections.abc import Collection, Sequence

from headway.engines.local import cgroups
from headway.engines.local.process import Process, find, marked

PATIENCE_S = 2.0
PAUSE_S = 0.02


def left(attempt: str, node: str, groups: Sequence[str], spare: Collection[int] = ()) -> list[Process]:
    """What still runs of the attempt, without the pids in `spare` and without this process."""
    in_groups = [process for process in map(find, cgroups.pids(groups)) if process]
    # Read again: a pid found above may have been given to a stranger between the first reading and its look-up.
    members = cgroups.pids(groups)
    in_groups = [process for process in in_groups if process.pid in members]
    keep = {os.getpid(), *spare}
    return [process for process in {*in_groups, *marked(attempt, node)} if process.pid not in keep]


def kill_left(attempt: str, node: str, groups: Sequence[str], spare: Collection[int] = ()) -> bool:
    """Kill until nothing is left, at most `PATIENCE_S`. False: something is still dying; call again later."""
    deadline = time.monotonic() + PATIENCE_S
    while found := left(attempt, node, groups, spare):
        if not spare:
            cgroups.kill(groups)
        for process in found:
            process.send(signal.SIGKILL)
        if time.monotonic() > deadline:
            return False
        time.sleep(PAUSE_S)
    return True
