"""A long forecast in a process of its own, so that it never holds up a plan or an answer.

`python -m headway.server.apart` reads a snapshot and writes its forecasts, pickled, between these two processes of one
program only. It decides nothing, and ends when its reader is gone.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Mapping

from headway.domain.ids import JobId
from headway.scheduler.forecast import forecast
from headway.scheduler.plan import Forecast
from headway.scheduler.snapshot import Snapshot
from headway.server.collector import relax

LONG = 2000
"""Jobs, running or queued, beyond which a process of its own costs less than it spares."""
POLITE = 5


def foretell(snapshot: Snapshot) -> Mapping[JobId, Forecast]:
    """The forecasts of a snapshot: here if that is quick, else apart."""
    if len(snapshot.queued) + len(snapshot.running) <= LONG:
        return forecast(snapshot, snapshot.runtimes)
    return foretell_apart(snapshot)


def foretell_apart(snapshot: Snapshot) -> Mapping[JobId, Forecast]:
    """The same, in a process of its own. Raises `CalledProcessError` when that fails."""
    command = [sys.executable, "-m", "headway.server.apart"]
    done = subprocess.run(command, input=pickle.dumps(snapshot), stdout=subprocess.PIPE, check=True)
    told: Mapping[JobId, Forecast] = pickle.loads(done.stdout)
    return told


def main() -> None:
    """Stand back for the server, and forecast."""
    relax()
    os.nice(POLITE)
    snapshot: Snapshot = pickle.load(sys.stdin.buffer)
    sys.stdout.buffer.write(pickle.dumps(dict(forecast(snapshot, snapshot.runtimes))))


if __name__ == "__main__":
    main()
