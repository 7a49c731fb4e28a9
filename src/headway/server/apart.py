"""Long reckoning in a process of its own, so that it never holds up a plan or an answer.

`python -m headway.server.apart` reads a function of this program with what it is given, and writes what came of it,
pickled, between these two processes of one program only. It decides nothing, and ends when its reader is gone.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import TypeVar, cast

from headway.domain.errors import PlatformError
from headway.domain.ids import JobId
from headway.scheduler.forecast import forecast
from headway.scheduler.plan import Forecast
from headway.scheduler.snapshot import Snapshot
from headway.server.collector import relax

T = TypeVar("T")
LONG = 2000
"""Jobs, running or queued, beyond which a process of its own costs less than it spares."""
POLITE = 5


def foretell(snapshot: Snapshot) -> Mapping[JobId, Forecast]:
    """The forecasts of a snapshot: here if that is quick, else apart."""
    if len(snapshot.queued) + len(snapshot.running) <= LONG:
        return forecast(snapshot, snapshot.runtimes)
    return foretell_apart(snapshot)


def foretell_apart(snapshot: Snapshot) -> Mapping[JobId, Forecast]:
    """The same, in a process of its own."""
    return apart(forecast, snapshot, snapshot.runtimes)


def apart(reckon: Callable[..., T], *given: object) -> T:
    """What a function of a module comes to. Raises what it refuses, and `CalledProcessError` when the process fails."""
    command = [sys.executable, "-m", "headway.server.apart"]
    done = subprocess.run(command, input=pickle.dumps((reckon, given)), stdout=subprocess.PIPE, check=True)
    came = pickle.loads(done.stdout)
    if isinstance(came, PlatformError):
        raise came
    return cast(T, came)


def main() -> None:
    """Stand back for the server, and reckon."""
    relax()
    os.nice(POLITE)
    reckon, given = pickle.load(sys.stdin.buffer)
    try:
        came = reckon(*given)
    except PlatformError as refused:
        came = refused
    sys.stdout.buffer.write(pickle.dumps(came))


if __name__ == "__main__":
    main()
