"""Follows something on the server until it is over, saying on stderr how it moves. Ends nothing itself."""

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from headway.cli import exits, quantities
from headway.cli.language import say, word
from headway.cli.screen import is_terminal, note

if TYPE_CHECKING:
    from headway.sdk.client import Client

Row = dict[str, Any]
TERMINAL = ("succeeded", "failed", "stopped")
LOOK_S = 0.5
QUIET_S = 30.0
AWAY_S = 120.0


def until(look: Callable[[], Row], is_over: Callable[[Row], bool], timeout_s: float | None) -> Row | None:
    """Look again and again until it is over; what was seen last, or None when `timeout_s` has passed.

    A server that is away for a while is waited for. Raises `Unreachable` when it stays away for two minutes.
    """
    from headway.sdk.client import Unreachable

    now = time.monotonic()
    deadline, gone_since = None if timeout_s is None else now + timeout_s, None
    while True:
        try:
            seen = look()
            gone_since = None
            if is_over(seen):
                return seen
        except Unreachable as error:
            if gone_since is None:
                gone_since = time.monotonic()
                note(say("follow.away", url=str(error.params["url"])))
            if time.monotonic() - gone_since > AWAY_S:
                raise
        if deadline is not None and time.monotonic() >= deadline:
            return None
        time.sleep(LOOK_S)


def follow(api: "Client", job: str, timeout_s: float | None) -> int:
    """Follow a job to its end. The exit code: 0, 7 when it ended badly, 8 when time was up."""
    teller = Teller()

    def look() -> Row:
        view = api.job(job)
        teller.tell(view)
        return view

    ended = until(look, lambda view: view["job"]["state"] in TERMINAL, timeout_s)
    teller.finish()
    if ended is None:
        note(say("follow.pending", job=job))
        return exits.PENDING
    return exits.DONE if ended["job"]["state"] == "succeeded" else exits.ENDED_BADLY


def detached(job: str) -> int:
    """Say that the job goes on without us; the exit code of an interruption."""
    note("\n" + say("follow.detached", job=job))
    return exits.INTERRUPTED


class Teller:
    """Says what changed since the last look; progress on one line of a terminal, else every 30 seconds."""

    def __init__(self) -> None:
        self._said: dict[str, str] = {}
        self._progress_at = -QUIET_S
        self._is_open = False

    def tell(self, view: Row) -> None:
        """Say what is new in a job's view."""
        job, waits = view["job"], view.get("waits")
        self._once("state", say("follow.state", name=job["spec"]["name"], state=word("state", job["state"])))
        if waits:
            self._once("waits", say("follow.waits", position=waits["position"], sentence=waits["sentence"]))
        if view.get("verdict_text"):
            self._once("verdict", view["verdict_text"])
        if job["state"] == "running" and job.get("step") is not None:
            self._progress(progress_line(view))

    def finish(self) -> None:
        """Leave the line that is repainted."""
        if self._is_open:
            note("")
            self._is_open = False

    def _once(self, what: str, text: str) -> None:
        if self._said.get(what) != text:
            self.finish()
            self._said[what] = text
            note(text)

    def _progress(self, text: str) -> None:
        if self._said.get("progress") == text:
            return
        if is_terminal(sys.stderr):
            self._said["progress"] = text
            note(f"\r\x1b[K{text}", end="")
            self._is_open = True
        elif time.monotonic() - self._progress_at >= QUIET_S:
            self._said["progress"] = text
            self._progress_at = time.monotonic()
            note(text)


def progress_line(view: Row) -> str:
    """Step, rate, loss and time left of a running job, in one line."""
    job = view["job"]
    return say(
        "follow.progress",
        steps=quantities.steps(job.get("step"), job.get("total")),
        pace=quantities.pace(view.get("rate")),
        loss=quantities.decimal(view.get("loss")),
        left=quantities.duration(view.get("left_s")),
    )
