"""Last words of agents whose job is over: delivered from the share by an agent on the server's machine.

It only delivers: `final.json` is there before it starts, so that it never looks for processes to kill. Runs as the
submitter, as every agent does.
"""

import subprocess
import threading
from datetime import datetime, timedelta

from headway.engines.become import acting_as
from headway.engines.protocol import WITHDRAWN, Sight
from headway.engines.slurm.place import Place
from headway.engines.slurm.record import Record
from headway.engines.slurm.settings import SlurmSettings

TRIES = 10
AT_ONCE = 4
BACK_OFF = timedelta(seconds=2)


# Children belong to this process, not to an engine object.
running: dict[str, "subprocess.Popen[bytes]"] = {}
_guard = threading.Lock()


class Deliveries:
    """The delivering agents of this process; at most a few at once."""

    def __init__(self, settings: SlurmSettings) -> None:
        self._settings = settings
        self._tried: dict[str, tuple[int, datetime]] = {}

    def advance(self, place: Place, record: Record, sight: Sight, now: datetime) -> bool:
        """Do what is due for one node's part that is over; True once nothing is left to deliver."""
        key = str(place.path)
        if sight is Sight.AGENT_LOST and not place.has("final.json") and not place.bury(now.timestamp(), record.user):
            return False
        final = place.final()
        with _guard:
            _reap()
            tries, last = self._tried.get(key, (0, now))
            if final.get("delivered") or final.get("reason") == WITHDRAWN or tries >= TRIES:
                self._tried.pop(key, None)
                return True
            due = not tries or now >= last + BACK_OFF * tries
            if due and key not in running and len(running) < AT_ONCE:
                self._tried[key] = (tries + 1, now)
                place.held_until(record.ends or 0.0, record.user)
                running[key] = self._start(place, record)
        return False

    def _start(self, place: Place, record: Record) -> "subprocess.Popen[bytes]":
        words = [self._settings.python, str(self._settings.agent), "run", str(place.path)]
        env = {"PATH": self._settings.path, "HEADWAY_ATTEMPT": record.attempt, "HEADWAY_NODE": place.node}
        acting = acting_as(record.user, words, env)
        return subprocess.Popen(
            acting.argv,
            env=acting.env,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            **acting.account,
        )


def _reap() -> None:
    for key, child in list(running.items()):
        if child.poll() is not None:
            del running[key]
