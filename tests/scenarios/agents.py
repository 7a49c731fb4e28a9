"""The witness on one node of an attempt, played: it says what a story tells it to, in the words of the protocol."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from headway.domain.ids import AttemptId
from headway.server.operations.agents.report import take
from headway.server.wire import Answer, Report

if TYPE_CHECKING:
    from tests.scenarios.world import World

AGENT = {"pid": 100, "start_ticks": 7, "version": "0.1.0", "python": "3.11.2"}


@dataclass
class Agent:
    """One node's agent, with the ranks it would run and what they have said so far."""

    world: "World"
    attempt: AttemptId
    node: str
    ranks: Sequence[int]
    seq: int = 0
    events: dict[int, str] = field(default_factory=dict)
    exits: list[dict[str, Any]] = field(default_factory=list)
    last: dict[str, Any] = field(default_factory=dict)
    identity: dict[str, Any] = field(default_factory=lambda: AGENT)

    def restarts(self) -> None:
        """Another agent takes over on the node: it begins to count anew."""
        self.identity = self.identity | {"start_ticks": self.identity["start_ticks"] + 1}
        self.seq = 0

    def reports(self, phase: str = "running", **parts: Any) -> Answer:
        """One report; parts are named as in the protocol."""
        self.seq += 1
        self.last = {"seq": self.seq, "at": self._t(), "agent": self.identity, "phase": phase, **parts}
        return self.sends(self.last)

    def sends(self, report: dict[str, Any]) -> Answer:
        """Send a report as it is: a new one, or one sent before."""
        return take(self.world.platform, self.attempt, self.node, Report.model_validate(report))

    def starts(self) -> Answer:
        """Its ranks run."""
        started = [{"rank": rank, "pid": 200 + rank, "start_ticks": 9, "started_at": self._t()} for rank in self.ranks]
        return self.reports(ranks=started, facts={"python": "3.11.2", "kernel": "6.1"})

    def tells(self, rank: int, kind: str, **event: Any) -> Answer:
        """A rank wrote a line to its events file."""
        line = json.dumps({"kind": kind, "t": self._t(), **event}) + "\n"
        before = self.events.get(rank, "")
        self.events[rank] = before + line
        return self.reports(events={rank: {"offset": len(before.encode()), "data": line}})

    def exits_with(self, rank: int, *, code: int | None = None, signal: int | None = None, **more: Any) -> Answer:
        """A rank ended."""
        self.exits.append({"rank": rank, "at": self._t(), "code": code, "signal": signal, **more})
        return self.reports(exits=self.exits)

    def ends(self, reason: str = "exited", detail: str | None = None, logs: dict[int, int] | None = None) -> Answer:
        """Every rank of the node has ended."""
        end = {"at": self._t(), "reason": reason, "detail": detail, "logs": logs or {}}
        return self.reports("ended", exits=self.exits, ended=end)

    def all_exit(self, code: int = 0, **more: Any) -> Answer:
        """Every rank that still runs ends like this, and so does the node's part."""
        gone = {exit["rank"] for exit in self.exits}
        for rank in self.ranks:
            if rank not in gone:
                self.exits.append({"rank": rank, "at": self._t(), "code": code, **more})
        return self.ends()

    def obeys(self, reason: str) -> Answer:
        """It was told to stop: its ranks end by SIGTERM."""
        gone = {exit["rank"] for exit in self.exits}
        told = {"signal": 15, "signal_name": "SIGTERM", "stopped_by_us": True}
        self.exits += [{"rank": rank, "at": self._t(), **told} for rank in self.ranks if rank not in gone]
        return self.ends("stopped", reason)

    def prints(self, rank: int, text: str) -> None:
        """A rank printed something, and the agent delivered it."""
        logs = self.world.platform.logs
        at: datetime = self.world.now
        logs.append(self.attempt, rank, logs.size(self.attempt, rank), text.encode(), at, at, final=True)

    def _t(self) -> float:
        return self.world.now.timestamp()
