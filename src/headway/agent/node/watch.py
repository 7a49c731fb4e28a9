"""`headway-agent node`: the loop that samples, follows the kernel, keeps reports on disk and delivers them.

Each sample is one report. A report is on disk before anything is sent, and goes when the server has recorded it, so
that a server that is away costs nothing but space. The daemon decides nothing about the node.
"""

from __future__ import annotations

import os
import selectors
import signal
import sys
import time

import headway
from headway.agent.delivery.courier import Answer, Courier, Request
from headway.agent.delivery.wire import Connection
from headway.agent.journal import Journal
from headway.agent.node import options as words_of
from headway.agent.node.cards import Cards
from headway.agent.node.faults import Faults
from headway.agent.node.kernel_log import KernelLog
from headway.agent.node.spool import Spool, SpoolHeld
from headway.agent.node.surroundings import Mounts, Network
from headway.agent.probes.machine import Machine
from headway.agent.probes.port import MAKERS
from headway.agent.probes.read import language
from headway.agent.probes.sampler import reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from headway.agent.node.options import Options

_FIRST_RETRY_S = 0.2
_LAST_RETRY_S = 30.0
_SOON_S = 0.2  # kernel lines that come together are told together
_FILE_LOOK_S = 0.5
_CARDS_FIRST_S = 5.0  # so long a fault waits for the first answer that says which card it is on
_SECOND_SAMPLE_S = 2.0  # rates and the card tool have an answer by then
_NEVER = float("inf")


def main(words: Sequence[str]) -> int:
    """Watch until a signal ends it; 0 then, 2 where the words cannot be carried out."""
    speech = language(os.environ)
    if set(words) & {"--help", "-h"}:
        sys.stdout.write(words_of.HELP[speech].format(makers=", ".join(MAKERS)))
        return 0
    try:
        options = words_of.parse(words)
        watch = Watch(options)
    except words_of.OptionError as error:
        return _refuse(error.code, speech, **error.params)
    except SpoolHeld:
        return _refuse("held", speech, value=options.state)
    except OSError as error:
        return _refuse("unreadable", speech, option="--state", value=options.state, rule=error.strerror)
    watch.run()
    return 0


def _refuse(code: str, speech: str, **params: object) -> int:
    sys.stderr.write(f"headway-agent: {words_of.SAYS[code][speech].format(**params)}\n")
    return 2


class Watch:
    """One node's daemon."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._spool = Spool(options.state)
        self._journal = Journal(os.path.join(options.state, "daemon.log"))
        self._machine = Machine(options.state, ())
        self._mounts = Mounts(options.mounts)
        self._network = Network()
        self._cards = Cards(options.maker, options.devices, self._spool.state.get("inventory"), options.exporter)
        self._kernel = KernelLog(options.kernel_log, self._spool.state.get("place"))
        self._faults = Faults(self._cards.index_at)
        self._courier = Courier(Connection(options.server, options.ca_file), options.token)
        self._in_flight: int | None = None
        self._retry_at = 0.0
        self._retry_s = _FIRST_RETRY_S
        self._sample_at = 0.0
        self._first = True
        self._patient_until = time.monotonic() + _CARDS_FIRST_S
        self._tell_at = _NEVER
        self._look_at = 0.0
        self._ended = False

    def run(self) -> None:
        """Turn until SIGTERM or SIGINT."""
        self._journal.note("started", node=self._options.node, maker=self._cards.maker, kernel=self._kernel.problem)
        selector = selectors.DefaultSelector()
        self._listen(selector)
        while not self._ended:
            now = time.monotonic()
            if self._cards.known or now >= self._patient_until:
                self._follow(now)
            self._sample(now)
            self._send(now)
            self._wait(selector, now)
        self._keep([], time.time())
        self._cards.close()
        self._kernel.close()
        self._spool.close()

    def _listen(self, selector: selectors.DefaultSelector) -> None:
        wakes, wake = os.pipe()
        for end in (wakes, wake):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        selector.register(wakes, selectors.EVENT_READ, lambda: os.read(wakes, 4096))
        selector.register(self._courier.fd, selectors.EVENT_READ, self._answered)

    def _end(self, _number: int, _frame: object) -> None:
        self._ended = True

    def _wait(self, selector: selectors.DefaultSelector, now: float) -> None:
        """Sleep until something is due; the kernel's source is watched anew each turn, since a pipe is reopened."""
        following = self._cards.known or now >= self._patient_until
        look_at = self._look_at if following else self._patient_until
        due = min(self._sample_at, self._tell_at, self._send_due(), look_at)
        fd = self._kernel.fd if following else None
        if fd is not None:
            selector.register(fd, selectors.EVENT_READ, lambda: None)
        try:
            for key, _ in selector.select(max(0.0, due - now)):
                key.data()
        finally:
            if fd is not None:
                selector.unregister(fd)

    def _follow(self, now: float) -> None:
        """Take what the kernel has said; faults are told soon, together with those that come with them."""
        self._look_at = now + _FILE_LOOK_S if self._kernel.fd is None else _NEVER
        if self._faults.take(self._kernel.lines(), time.time()):
            self._tell_at = min(self._tell_at, now + _SOON_S)
        if now >= self._tell_at:
            self._keep([], time.time())

    def _sample(self, now: float) -> None:
        if now < self._sample_at:
            return
        first, self._first = self._first, False
        self._sample_at = now + min(self._options.every_s, _SECOND_SAMPLE_S if first else _NEVER)
        at = time.time()
        plain = [(name, value) for name, rank, value in self._machine.read([], now) if rank is None]
        plain += self._mounts.read(now) + self._network.read(now)
        readings = [reading(at, name, None, None, value) for name, value in plain]
        readings += [reading(seen, name, None, card, value) for seen, card, name, value in self._cards.read(now, at)]
        self._faults.tool(self._cards.maker, self._cards.hangs, at)
        self._keep(readings, at)

    def _keep(self, readings: list[dict[str, object]], at: float) -> None:
        """Put a report on disk, with everything unsaid. On a full disk it stays unsaid until the next turn."""
        self._tell_at = _NEVER
        events = self._faults.unsaid
        inventory = self._changed_inventory()
        if not readings and not events and inventory is None:
            return
        report: dict[str, Any] = {"at": at, "engine": self._options.engine, "readings": readings, "events": events}
        report["agent"] = {"pid": os.getpid(), "version": headway.__version__}
        state: dict[str, Any] = {"place": self._kernel.place}
        if inventory is not None:
            report["inventory"] = state["inventory"] = inventory
        try:
            self._spool.put(report, state)
        except OSError as error:
            self._journal.note("not-kept", problem=str(error))
            return
        self._faults.said()

    def _changed_inventory(self) -> dict[str, Any] | None:
        found = self._cards.inventory()
        if found is None:
            return None
        system = os.uname()
        whole = {**found, "kernel": system.release, "cores": os.cpu_count()}
        return None if whole == self._spool.state.get("inventory") else whole

    def _send_due(self) -> float:
        return _NEVER if self._courier.busy or not self._spool.waiting else self._retry_at

    def _send(self, now: float) -> None:
        if now < self._send_due():
            return
        oldest = self._spool.oldest()
        if oldest is not None:
            self._in_flight, body = oldest
            path = f"/api/v1/agent/nodes/{self._options.node}/report"
            self._courier.carry(Request(path, {"Content-Type": "application/json"}, body))

    def _answered(self) -> None:
        """A recorded report goes; one that the server will never take goes too; everything else is sent again."""
        answer: Answer = self._courier.collect()
        seq, self._in_flight = self._in_flight, None
        refused = 400 <= answer.status < 500 and answer.status not in (401, 403, 404, 408, 425, 429)
        if seq is not None and (answer.status == 200 or refused):
            self._spool.remove(seq)
            self._retry_at, self._retry_s = 0.0, _FIRST_RETRY_S
        if answer.status != 200:
            self._journal.note(
                "not-delivered", status=answer.status, problem=answer.problem, waiting=self._spool.waiting
            )
        if answer.status != 200 and not refused:
            self._retry_at = time.monotonic() + self._retry_s
            self._retry_s = min(2 * self._retry_s, _LAST_RETRY_S)
