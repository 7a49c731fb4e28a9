"""The agent's loop on one node: starts the ranks, sees them run and end, and tells the server until it knows all.

One thread and one selector; the courier's thread only carries requests. What is due when is asked of each part.
Never starts a rank twice, never loses an exit to a server that is away.
"""

from __future__ import annotations

import os
import selectors
import signal
import sys
import time

import headway
from headway.agent import facts, files
from headway.agent.checkpoints.keeper import Keeper
from headway.agent.delivery.courier import Courier
from headway.agent.delivery.deliver import Delivery
from headway.agent.delivery.events import Tails
from headway.agent.delivery.testimony import Testimony
from headway.agent.delivery.wire import Connection
from headway.agent.output.outputs import Outputs
from headway.agent.ranks import cgroup, exits, outage, processes
from headway.agent.ranks.end import End
from headway.agent.ranks.launch import StartError
from headway.agent.ranks.stop import Stop
from headway.agent.ranks.table import Ranks
from headway.agent.scene.looks import Looks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from headway.agent.journal import Journal
    from headway.agent.order import Order
    from headway.agent.probes.sampler import Sampler
    from headway.agent.ranks.activity import Activity

_GATHER_S = 0.02
_LONGEST_TURN_S = 5.0
_NEVER = float("inf")
_AT_EXIT = ({"look": "exit", "kind": "exit"},)


class Witness:
    """Everything of one attempt on one node. Times are monotonic seconds unless called `at`."""

    def __init__(self, order: Order, token: str, directory: str, journal: Journal) -> None:
        self._order = order
        self._directory = directory
        self._journal = journal
        self._selector = selectors.DefaultSelector()
        self._ranks = Ranks(order, directory)
        self._stop = Stop(self._ranks)
        ranks = [rank.rank for rank in self._ranks.witnessed()]
        self._outputs = Outputs(ranks, directory, order.log_limits, self._selector)
        self._end = End(self._ranks, self._outputs)
        self._facts = facts.gather(order, directory)
        self._testimony = Testimony(_identity(), self._facts)
        self._delivery = Delivery(order, self._testimony, Tails(order, directory), journal)
        self._courier = Courier(Connection(order.server, order.ca_file), token)
        self._selector.register(self._courier.fd, selectors.EVENT_READ, self._answered)
        self._sampler: Sampler | None = None
        self._activity: Activity | None = None
        self._sample_at = _NEVER
        self._start_failure: str | None = None
        self._asked_to_end = False
        self._nudged = False
        self._drills: set[str] = set()
        self._outages = outage.Outages()
        self._save_every_s: float | None = None
        self._looks = Looks(order, directory, self._selector)
        self._keeper = Keeper(order, package_path(), self._selector, self._found)
        self._over = False
        for stream in self._outputs.streams.values():
            self._delivery.add_stream(stream)
        self._listen_to_signals()

    def begin(self) -> None:
        """Start the ranks: once in an attempt's life, which the caller guards."""
        for problem in cgroup.enter(self._order.cgroup):
            self._journal.note("cgroup-not-entered", problem=problem)
        self._looks.begin()
        try:
            self._ranks.start(package_path(), self._outputs.open)
        except (StartError, OSError) as error:
            self._start_failure = str(error)
            self._ranks.signal(signal.SIGKILL)
        now = time.monotonic()
        self._journal.note("started", ranks=self._ranks.started, failure=self._start_failure)
        self._testimony.phase = "running"
        self._testimony.ranks = self._ranks.started
        self._sample_at = now + self._order.readings_s
        self._end.watch(now)
        self._keeper.begin(now)
        self._delivery.hurry(now + _GATHER_S)

    def tell_end(self, final: dict[str, Any]) -> None:
        """The attempt ended here under an earlier agent: what is not delivered is told, with its facts, not ours."""
        self._testimony.phase = "stopping"
        self._testimony.facts = final.get("facts")
        self._testimony.add("exits", final["exits"])
        told = {key: final[key] for key in ("at", "reason", "detail", "logs")}
        self._testimony.ended = {**told, "left": final.get("left", False)}
        self._delivery.end(time.monotonic())

    def ends(self) -> dict[str, int]:
        """How many bytes each output stream has, where that is known."""
        return self._outputs.ends()

    def loop(self) -> bool:
        """Turn until everything is delivered; False: it is left to others, because no server answers."""
        while not self._delivery.finished:
            now = time.monotonic()
            if not self._courier.busy and self._delivery.leaves(now):
                self._journal.note("left")
                return False
            for key, _ in self._selector.select(max(0.0, self._due(now) - now)):
                key.data()
            now = time.monotonic()
            self._reap(now)
            if self._asked_to_end:
                self._asked_to_end = False
                self._ask_stop("engine", self._order.grace_s, now)
            if self._nudged:
                self._nudged = False
                self._delivery.hurry(now)
            self._stop.advance(now)
            self._outputs.resume(now)
            self._sample(now)
            self._keeper.advance(now)
            self._over = self._over or (not self._looks.busy and self._end.reached(now))
            if self._over and self._keeper.ended(now):
                self._over = False
                self._conclude(now)
            self._send(now)
        self._journal.note("finished", closed_to_us=self._delivery.closed_to_us)
        return True

    def _due(self, now: float) -> float:
        delivery = _NEVER if self._courier.busy else min(self._delivery.due(now), self._delivery.leaves_at)
        own = (self._stop.due, self._outputs.due, self._end.due(now), self._sample_at, self._keeper.due)
        return min(delivery, now + _LONGEST_TURN_S, *own)

    def _reap(self, now: float) -> None:
        new = self._ranks.reap(time.time())
        for record in new:
            self._journal.note("exit", **{key: record[key] for key in record if key != "error"})
            if exits.went_badly(record):
                self._stop.rank_went_badly(now)
                if not record["stopped_by_us"]:
                    self._looks.order(_AT_EXIT, self._ranks.running, self._seen)
        if new:
            self._testimony.add("exits", new)
            self._delivery.hurry(now)

    def _sample(self, now: float) -> None:
        if now < self._sample_at:
            return
        if self._sampler is None:
            from headway.agent.probes.sampler import Sampler
            from headway.agent.ranks.activity import Activity

            self._sampler = Sampler(self._order, self._directory)
            self._activity = Activity(self._order)
        self._sample_at = now + self._order.readings_s
        running = [(rank, pid) for pid, rank in self._ranks.running.items()]
        self._testimony.add("readings", self._sampler.sample(running, now, time.time()))
        if self._activity is not None:
            self._testimony.add("readings", self._activity.sample(self._ranks.running, now, time.time()))

    def _send(self, now: float) -> None:
        if self._courier.busy or self._delivery.due(now) > now:
            return
        self._testimony.add("dropped", self._outputs.drain_drops(now))
        self._testimony.add("drills_done", self._outages.met())
        request = self._delivery.next_request(now)
        if request is not None:
            self._courier.carry(request)

    def _answered(self) -> None:
        now = time.monotonic()
        instructions = self._delivery.take(self._courier.collect(), now)
        stop = instructions.get("stop")
        if stop:
            self._ask_stop(str(stop["reason"]), float(stop["grace_s"]), now)
        for drill in instructions.get("kill") or ():
            self._strike(drill, now)
        self._looks.order(instructions.get("look") or (), self._ranks.running, self._seen)
        self._advise(instructions.get("save_every_s"))
        self._keeper.discard(instructions.get("discard") or [])
        if self._delivery.closed_to_us:
            self._ask_stop("over", self._order.grace_s, now)

    def _advise(self, every_s: float | None) -> None:
        """How often the ranks are to save, where that has changed; without a word the last one holds."""
        if every_s is not None and every_s != self._save_every_s:
            self._save_every_s = every_s
            self._ranks.tell("cadence.json", {"every_s": every_s})

    def _seen(self, scene: dict[str, Any]) -> None:
        self._journal.note("looked", look=scene["look"], problem=scene.get("problem"))
        self._testimony.add("scenes", [scene])
        self._delivery.hurry(time.monotonic())

    def _found(self, kind: str, checkpoints: list[dict[str, Any]]) -> None:
        self._testimony.add(kind, checkpoints)

    def _ask_stop(self, reason: str, grace_s: float, now: float) -> None:
        if self._ranks.running and self._stop.ask(reason, grace_s, now):
            self._journal.note("stop", reason=reason, grace_s=grace_s)
            self._testimony.phase = "stopping"
            self._delivery.hurry(now)

    def _strike(self, drill: dict[str, Any], now: float) -> None:
        name = str(drill["drill"])
        if name not in self._drills:
            self._drills.add(name)
            self._journal.note("drill", name=name, rank=drill["rank"], signal=drill["signal"])
            if drill.get("what") == "mount":
                self._outages.begin(name, self._ranks.tell(outage.FILE, {"drill": name}))
            elif drill.get("what") == "node":
                self._ranks.strike_all()
            if drill.get("what") in ("agent", "node"):
                os.kill(os.getpid(), int(drill["signal"]))  # as a fault would: no word, no clean end
            if drill.get("what", "rank") == "rank":
                self._ranks.strike(int(drill["rank"]), int(drill["signal"]))
        if drill.get("what") != "mount":  # that is done once a save has met it
            self._testimony.add("drills_done", [name])
            self._delivery.hurry(now)

    def _conclude(self, now: float) -> None:
        """Every rank has ended and every byte it wrote is in the spool: write it down, then tell it."""
        self._sample_at = _NEVER
        reason, detail = self._reason()
        end = {"at": time.time(), "reason": reason, "detail": detail, "logs": self._outputs.ends()}
        final = {**end, "exits": self._ranks.ended, "facts": self._facts, "delivered": False}
        files.write_json(os.path.join(self._directory, "final.json"), final)
        self._journal.note("ended", reason=reason, detail=detail)
        self._testimony.phase = "stopping"
        self._testimony.ended = end
        self._delivery.end(now)

    def _reason(self) -> tuple[str, str | None]:
        if self._start_failure is not None:
            return "start-failed", self._start_failure
        if self._stop.asked_from_outside:
            return "stopped", self._stop.reason
        return "exited", self._stop.reason

    def _listen_to_signals(self) -> None:
        """Wake the loop for ended children, ends asked for, nudges. Handlers, unlike SIG_IGN, end at a rank's exec."""
        wakes, wake = os.pipe()
        os.set_blocking(wakes, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        self._selector.register(wakes, selectors.EVENT_READ, lambda: os.read(wakes, 4096))
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_end_request)
        signal.signal(signal.SIGURG, self._on_nudge)
        for number in (signal.SIGCHLD, signal.SIGHUP):
            signal.signal(number, _only_wake)

    def _on_end_request(self, _number: int, _frame: object) -> None:
        self._asked_to_end = True

    def _on_nudge(self, _number: int, _frame: object) -> None:
        self._nudged = True


def package_path() -> str:
    """Where `import headway` finds this very package: the zipapp, or the folder it was started from."""
    return os.path.dirname(os.path.dirname(os.path.abspath(headway.__file__)))


def _only_wake(_number: int, _frame: object) -> None:
    return


def _identity() -> dict[str, object]:
    pid = os.getpid()
    python = ".".join(str(part) for part in sys.version_info[:3])
    ticks = processes.start_ticks(pid)
    return {"pid": pid, "start_ticks": ticks, "version": headway.__version__, "python": python}
