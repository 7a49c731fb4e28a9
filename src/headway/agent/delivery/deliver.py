"""Decides what is sent to the server next, and what an answer means. Never waits and never starts a thread.

Reports come every `report_s` and at once when something happened; logs when a quarter mebibyte or `report_s` has
gathered. Once every rank has ended the logs go first, for a second at most, so that the end is told with its evidence.

`HEADWAY_LEAVE_S`: an agent that waits to deliver holds devices that a batch system could give to others. It leaves what
it has on the share once it has been turned away for so long, and whoever started it has it delivered from there. A
server that is merely slow to answer is waited for.
"""

from __future__ import annotations

import json
import os

from headway.agent.delivery.courier import Answer, Request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from headway.agent.delivery.events import Tails
    from headway.agent.delivery.testimony import Testimony
    from headway.agent.journal import Journal
    from headway.agent.order import Order
    from headway.agent.output.stream import Stream

_NEVER = float("inf")
_FIRST_RETRY_S = 0.2
_LAST_RETRY_S = 5.0
_GATHER_BYTES = 256 << 10
_BODY_BYTES = 1 << 20
_WORTH_DEFLATING = 1024
_LOGS_FIRST_S = 1.0
_UNKNOWN_TOKEN_S = 60.0
_NO_PROGRESS_S = 0.5


class Shipment:
    """How far one stream has come: what the server has received, and whether its end is durable there."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.sent = stream.spool.start
        self.ship_at = _NEVER
        self.lost = False
        self._not_before = 0.0

    @property
    def delivered(self) -> bool:
        """Nothing of this stream is left to send or to be made durable."""
        spool = self.stream.spool
        return self.lost or (self.stream.closed and spool.start == spool.end)

    def due(self, now: float, gather_s: float) -> float:
        """When the next piece should go."""
        waiting = self.stream.spool.end - self.sent
        if self.delivered or (not waiting and not self.stream.closed):
            self.ship_at = _NEVER
        elif self.stream.closed or waiting >= _GATHER_BYTES:
            self.ship_at = max(now, self._not_before)
        else:
            self.ship_at = min(self.ship_at, now + gather_s)
        return self.ship_at

    def received(self, received: int, durable: int, now: float) -> None:
        """The server's answer: go on from `received`, forget what is before `durable`. No progress: breathe first."""
        if received <= self.sent:
            self._not_before = now + _NO_PROGRESS_S
        spool = self.stream.spool
        spool.release(min(durable, received))
        self.lost = received < spool.start or received > spool.end
        self.sent = received
        self.ship_at = _NEVER


class Delivery:
    """Everything one agent still owes the server. Times are monotonic seconds."""

    def __init__(self, order: Order, testimony: Testimony, tails: Tails, journal: Journal) -> None:
        self._order = order
        self._testimony = testimony
        self._tails = tails
        self._journal = journal
        self._base = f"/api/v1/agent/{order.attempt}/nodes/{order.node}"
        self._shipments: list[Shipment] = []
        self._in_flight: Shipment | None = None
        self._events_complete = False
        self._retry_at = 0.0
        self._retry_s = _FIRST_RETRY_S
        self._report_at = _NEVER
        self._ended_at = _NEVER
        self._unknown_since = _NEVER
        self._patience_s = float(os.environ.get("HEADWAY_LEAVE_S") or _NEVER)
        self._heard_at = 0.0
        self.over = False
        self.closed_to_us = False

    def add_stream(self, stream: Stream) -> None:
        """One more stream to ship."""
        self._shipments.append(Shipment(stream))

    def hurry(self, at: float) -> None:
        """Something happened: report no later than `at`."""
        self._report_at = min(self._report_at, at)

    def end(self, now: float) -> None:
        """Every rank has ended and every stream is closed."""
        self._ended_at = now
        self._report_at = now

    @property
    def finished(self) -> bool:
        """Everything is recorded and durable, or the server will take nothing more from this attempt."""
        if self._ended_at == _NEVER:
            return False
        return self.closed_to_us or (self.over and all(shipment.delivered for shipment in self._shipments))

    @property
    def leaves_at(self) -> float:
        """When to leave what is not delivered to others, unless an answer comes before."""
        if self._ended_at == _NEVER or not self._retry_at:
            return _NEVER
        return max(self._ended_at, self._heard_at) + self._patience_s

    def leaves(self, now: float) -> bool:
        """Whether that is now."""
        return now >= self.leaves_at

    def due(self, now: float) -> float:
        """When `next_request` has something."""
        logs = min([_NEVER, *(one.due(now, self._order.report_s) for one in self._shipments)])
        return max(self._retry_at, min(logs, self._report_at))

    def next_request(self, now: float) -> Request | None:
        """What to send now, if anything."""
        if now < self._retry_at or self.closed_to_us:
            return None
        ready = [one for one in self._shipments if one.due(now, self._order.report_s) <= now]
        logs_first = bool(ready) and now < self._ended_at + _LOGS_FIRST_S and self._ended_at < _NEVER
        if now >= self._report_at and not logs_first:
            return self._report(now)
        return self._logs(ready[0]) if ready else None

    def take(self, answer: Answer, now: float) -> dict[str, Any]:
        """What the answer to the last request means; the server's answer to a report, else an empty one."""
        shipment, self._in_flight = self._in_flight, None
        if answer.status == 200:
            try:
                body = json.loads(answer.body)
                self._retry_at, self._retry_s, self._unknown_since = 0.0, _FIRST_RETRY_S, _NEVER
                self._heard_at = now
                return self._logs_taken(shipment, body, now) if shipment else self._report_taken(body, now)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                answer = Answer(0, b"", f"an answer that cannot be read: {error!r}")
        self._refused(answer, shipment, now)
        return {}

    def _report(self, now: float) -> Request:
        events, complete = self._tails.collect()
        body = self._testimony.compose(events, with_end=complete)
        self._events_complete = complete
        self._report_at = now + self._order.report_s
        return Request(f"{self._base}/report", {"Content-Type": "application/json"}, body)

    def _logs(self, shipment: Shipment) -> Request:
        self._shipments.remove(shipment)
        self._shipments.append(shipment)  # the next one has its turn first
        self._in_flight = shipment
        stream = shipment.stream
        offset = shipment.sent
        body, first, last = stream.spool.read(offset, _BODY_BYTES)
        final = stream.closed and offset + len(body) == stream.spool.end
        query = f"offset={offset}&first={first:.6f}&last={last:.6f}&final={int(final)}"
        headers = {"Content-Type": "application/octet-stream"}
        if len(body) >= _WORTH_DEFLATING:
            import zlib

            headers["Content-Encoding"] = "deflate"
            body = zlib.compress(body, 1)
        return Request(f"{self._base}/logs/{stream.rank}?{query}", headers, body)

    def _logs_taken(self, shipment: Shipment, body: dict[str, Any], now: float) -> dict[str, Any]:
        shipment.received(int(body["received"]), int(body["durable"]), now)
        if shipment.lost:
            self._journal.note("stream-lost", rank=shipment.stream.rank, received=shipment.sent)
        return {}

    def _report_taken(self, body: dict[str, Any], now: float) -> dict[str, Any]:
        self._testimony.answered()
        self._tails.acknowledge(body.get("events") or {})
        if not self._events_complete or self._testimony.urgent:
            self.hurry(now)
        if self._testimony.ended_in_flight and body.get("over"):
            self.over = True
            self._report_at = _NEVER
        return body

    def _refused(self, answer: Answer, shipment: Shipment | None, now: float) -> None:
        """Back off; give up only where the server has said that the attempt is over."""
        status = answer.status
        self._retry_at = now + self._retry_s * (0.75 + os.getpid() % 100 / 200)
        self._retry_s = min(2 * self._retry_s, _LAST_RETRY_S / 1.25)
        self._journal.note("not-delivered", status=status, problem=answer.problem, retry_s=self._retry_at - now)
        if not shipment:
            self._report_at = now
        if status == 409:
            self.closed_to_us = True
        elif status in (401, 403):
            self._unknown_since = min(self._unknown_since, now)
            patience = max(self._unknown_since, self._ended_at) + _UNKNOWN_TOKEN_S
            self.closed_to_us = self._ended_at < _NEVER and now >= patience
        elif 400 <= status < 500 and status not in (408, 425, 429) and not shipment:
            self._testimony.refused()
