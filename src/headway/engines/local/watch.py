"""Looking at one node directory and bringing it to its end: deadlines of stops, sweeping, delivering, closing.

Every look does at most one quick thing and leaves it on disk, so that it can be cut off anywhere. Whether an attempt
that was lost runs again is not decided here.
"""

import signal
from datetime import datetime, timedelta

from headway.domain.errors import say
from headway.engines.local import cgroups
from headway.engines.local.directory import NodeDirectory
from headway.engines.local.launch import Launching
from headway.engines.local.settings import LocalSettings
from headway.engines.local.sweep import kill_left
from headway.engines.protocol import WITHDRAWN, Sight, word_of

Seen = tuple[Sight, str | None]

# An agent that ends without having delivered is started again: after 2 s, 4 s, ..., so often at most.
DELIVERIES = 10
BACK_OFF = timedelta(seconds=2)
# What an agent writes that finds the end of another.
AGENT_LOST = "agent-lost"


class Watch:
    """Sees what became of agents, and finishes what they cannot."""

    def __init__(self, settings: LocalSettings, launching: Launching) -> None:
        self._settings, self._launching = settings, launching

    def look(self, place: NodeDirectory, now: datetime) -> Seen:
        """What is seen of this node's part, after doing what is due. Raises OSError where the disk does not answer."""
        if closed := place.read("closed.json"):
            return Sight(closed["sight"]), closed.get("detail")
        if not place.exists:
            return Sight.ABSENT, None
        if not _has_begun(place):
            return self._before(place, now)
        if place.is_locked():
            return _verdict(place) if _is_over(place) else self._press(place, now)
        return self._settle(place, now)

    def stop(self, place: NodeDirectory, grace: timedelta, now: datetime) -> None:
        """Ask for an end within `grace`; asked again, the earlier deadline holds."""
        if not place.exists or _is_over(place):
            return
        deadline = (now + grace).timestamp()
        known = place.read("stop.json")
        if not known or deadline < known["deadline"]:
            place.write("stop.json", {"at": now.timestamp(), **known, "deadline": deadline})
        self.look(place, now)

    def _before(self, place: NodeDirectory, now: datetime) -> Seen:
        """No rank was ever started: the agent comes up, or never will, or must not any more."""
        if place.has("stop.json"):
            return _verdict(place) if _withdraw(place) else (Sight.RUNNING, "starting")
        if place.launched() or now < _launched_at(place) + self._settings.starting:
            return Sight.RUNNING, "starting"
        # From here on the lock may be tested: no agent that would give up on it is on its way.
        if place.is_locked() or _has_begun(place):
            return Sight.RUNNING, "starting"
        return Sight.ABSENT, place.tail()

    def _press(self, place: NodeDirectory, now: datetime) -> Seen:
        """Ranks run. Carry a stop further: SIGTERM to the agent, then SIGKILL to all but the witness, then to it."""
        stop, agent = place.read("stop.json"), place.agent()
        if stop and agent:
            late = now - datetime.fromtimestamp(stop["deadline"], now.tzinfo)
            if late > 2 * self._settings.kill_after:
                agent.send(signal.SIGKILL)
            elif late > self._settings.kill_after:
                kill_left(place.attempt, place.node, place.groups, spare={agent.pid})
            elif not stop.get("told"):
                agent.send(signal.SIGTERM)
                place.write("stop.json", {**stop, "told": agent.pid})
        return Sight.RUNNING, "stopping" if stop else None

    def _settle(self, place: NodeDirectory, now: datetime) -> Seen:
        """Nobody holds the lock: kill what is left, once, and see that what was spooled is delivered."""
        with place.lock() as mine:
            if mine and not place.has("swept.json"):
                if not kill_left(place.attempt, place.node, place.groups):
                    return Sight.UNKNOWN, say("being-killed")
                _finish_withdrawal(place)
                # Under the lock: an agent writes its last word before it lets go.
                place.write("swept.json", {"at": now.timestamp(), "lost": not place.has("final.json")})
        if not _is_over(place):
            return Sight.RUNNING, None
        seen = _verdict(place)
        if self._is_done(place):
            cgroups.remove(place.groups)
            place.write("closed.json", {"at": now.timestamp(), "sight": str(seen[0]), "detail": seen[1]})
        elif not place.launched() and now >= _launched_at(place) + BACK_OFF * _deliveries(place):
            self._launching.start_agent(place, now)
        return seen

    def _is_done(self, place: NodeDirectory) -> bool:
        return bool(place.read("final.json").get("delivered")) or _deliveries(place) >= DELIVERIES


def _withdraw(place: NodeDirectory) -> bool:
    """Make sure that no agent ever starts ranks here; False when one is just about to."""
    with place.lock() as mine:
        if not mine or _has_begun(place):
            return False
        # First what keeps ranks from starting: cut off here, the next look finishes it.
        place.write("begun", WITHDRAWN)
        _finish_withdrawal(place)
        return True


def _finish_withdrawal(place: NodeDirectory) -> None:
    """Write the last word of a withdrawn part, where it is missing."""
    if not place.has("final.json") and (place.path / "begun").read_text() == WITHDRAWN:
        at = place.read("stop.json").get("at")
        place.write("final.json", {"at": at, "reason": WITHDRAWN, "exits": [], "delivered": True})


def _has_begun(place: NodeDirectory) -> bool:
    """Whether an agent came as far as ranks, or as far as finding that it cannot start any."""
    return place.has("begun") or place.has("final.json")


def _is_over(place: NodeDirectory) -> bool:
    return place.has("swept.json") or place.has("final.json")


def _verdict(place: NodeDirectory) -> Seen:
    final = place.read("final.json")
    if final.get("reason") == AGENT_LOST or place.read("swept.json").get("lost"):
        return Sight.AGENT_LOST, place.tail()
    return Sight.ENDED, word_of(final)


def _launched_at(place: NodeDirectory) -> datetime:
    """When an agent was started last; after a crash before that was noted, when the order was written."""
    at = place.read("launch.json").get("at")
    if at is None:
        order = place.path / "order.json"
        at = order.stat().st_mtime if order.exists() else 0.0
    return datetime.fromtimestamp(at).astimezone()


def _deliveries(place: NodeDirectory) -> int:
    """How many agents were started after the first."""
    return max(0, int(place.read("launch.json").get("starts", 0)) - 1)
