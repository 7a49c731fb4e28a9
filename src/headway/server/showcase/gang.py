"""The agents of one attempt, played: they say what an attempt in this role would say up to a moment, and obey.

Everything goes through the server's own taking of reports, in the words of `docs/protocol.md`; moments are told as they
would have been, however late the report comes.
"""

import io
import json
from collections.abc import Iterator
from contextlib import redirect_stderr
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random
from typing import Any, Protocol

from headway.domain.attempt import Attempt
from headway.domain.job import Job
from headway.engines.fake.world import World as Machines
from headway.sdk.job.environment import read_environment
from headway.sdk.job.run import Run
from headway.server.operations.agents.ranks import ranks_of
from headway.server.operations.agents.report import take
from headway.server.platform import Platform
from headway.server.showcase.roles import BREAKS, FOLLOWS, LOADS, OUT_OF_MEMORY, TRACE, WAITS, How, Role, line_of
from headway.server.wire import Answer, KillOrder, Report

LOAD_S = 25.0
POINTS = 12
LINES = 16
SAMPLE = timedelta(hours=1)
CLOSE = timedelta(minutes=30)
AGENT = {"pid": 4100, "start_ticks": 71, "version": "0.1.0", "python": "3.11.9"}
FACTS = {"python": "3.11.9", "kernel": "5.15.0-113-generic", "torch": "2.5.1", "cuda": "12.4", "driver": "550.90.07"}
ENDS: dict[How, dict[str, Any]] = {
    How.CODE: {"code": 1},
    How.MEMORY: {"code": 1},
    How.NETWORK: {"signal": 6, "signal_name": "SIGABRT"},
}
WORDS = {How.CODE: TRACE, How.MEMORY: OUT_OF_MEMORY, How.NETWORK: BREAKS}


class Stage(Protocol):
    """Where a gang plays."""

    machines: Machines
    platform: Platform
    ends: datetime

    @property
    def now(self) -> datetime: ...


class Gang:
    """One attempt's agents, one a node."""

    def __init__(self, stage: Stage, job: Job, attempt: Attempt, role: Role) -> None:
        self._stage, self._job, self._attempt, self._role = stage, job, attempt, role
        self._ranks = ranks_of(job, attempt)
        self._fault = role.fault(attempt.number)
        self._seq = 0
        self._events = 0
        self._told = attempt.resume_step
        self._sampled = self._lined = stage.now
        self._started: datetime | None = None
        self.is_over = False

    @property
    def next_at(self) -> datetime | None:
        """When something happens by itself that should not be told late."""
        if self.is_over:
            return None
        if self._started is None:
            return self._attempt.placed_at + timedelta(seconds=self._role.start_s)
        return self._end or self._role.hangs_at

    @property
    def use(self) -> float:
        """Percent of its cards that compute now."""
        if self._started is None or self.is_over or self._hangs:
            return 0.0
        return self._role.use

    @property
    def _end(self) -> datetime | None:
        if self._role.total == 0:
            return None
        last = self._fault.step if self._fault is not None else self._role.total
        end, hangs_at = self._at(last), self._role.hangs_at
        return end if hangs_at is None or end < hangs_at else None

    def _at(self, step: int) -> datetime:
        """When it is at a step."""
        assert self._started is not None
        return self._started + timedelta(seconds=LOAD_S + (step - self._attempt.resume_step) * self._role.step_s)

    def _step(self, at: datetime) -> int:
        assert self._started is not None
        at = min(at, self._role.hangs_at or at)
        gone = (at - self._started).total_seconds() - LOAD_S
        last = self._fault.step if self._fault is not None else self._role.total
        return min(last, self._attempt.resume_step + max(0, int(gone / self._role.step_s)))

    @property
    def _hangs(self) -> bool:
        """Whether it stands still for good."""
        return self._role.hangs_at is not None and self._stage.now >= self._role.hangs_at

    def play(self) -> None:
        """Say everything up to now, and do as one is told."""
        now = self._stage.now
        if self._started is None:
            if now < self._attempt.placed_at + timedelta(seconds=self._role.start_s):
                return
            self._start()
        end = self._end
        upto = min(now, end) if end is not None else now
        self._train(upto)
        answers = self._speak(upto)
        drilled = next((order for answer in answers.values() for order in answer.kill), None)
        if drilled is not None:
            self._be_killed(drilled)
        elif any(answer.stop is not None for answer in answers.values()):
            self._stop(answers)
        elif end is not None and end <= now:
            self._finish(end)

    def _start(self) -> None:
        self._started = self._stage.now
        self._sampled = self._lined = self._stage.now
        for node, ranks in self._ranks.items():
            started = [{"rank": r, "pid": 5000 + r, "start_ticks": 9, "started_at": _t(self._stage.now)} for r in ranks]
            self._send(node, ranks=started, facts=FACTS)
        greeting = f"loading {self._job.spec.name}: world size {sum(map(len, self._ranks.values()))}\n"
        resumed = f"resumed from step {self._attempt.resume_step}\n" if self._attempt.resume_step else ""
        self._print(0, f"[{_stamp(self._stage.now)}] {greeting}{resumed}")

    def _train(self, upto: datetime) -> None:
        """Progress, checkpoints and lines of the time since the last look."""
        if self._role.total == 0:
            return
        before, step = self._told, self._step(upto)
        if step <= before:
            return
        told = sorted({before + (step - before) * part // POINTS for part in range(1, POINTS + 1)} - {before})
        lines = [(at, "progress", self._progress(at)) for at in told]
        lines += [(at, "checkpoint-saved", self._save(at)) for at in self._saves(before, step)]
        self._tell(
            "".join(self._line(kind, self._at(at), body) for at, kind, body in sorted(lines, key=lambda x: x[0]))
        )
        shown = sorted({before + (step - before) * part // LINES for part in range(1, LINES + 1)} - {before})
        self._print(0, "".join(line_of(self._role, at, _stamp(self._at(at))) for at in shown))
        self._told = step

    def _progress(self, step: int) -> dict[str, Any]:
        metrics = {"loss": round(self._role.loss(step), 4), "grad_norm": round(0.4 + 0.2 * Random(step).random(), 3)}
        return {"step": step, "total": self._role.total, "metrics": metrics}

    def _saves(self, before: int, step: int) -> Iterator[int]:
        every = self._role.save_every
        if every:
            yield from range((before // every + 1) * every, step + 1, every)

    def _save(self, step: int) -> dict[str, Any]:
        """A real checkpoint folder, saved with the in-job SDK."""
        folder = self._stage.platform.checkpoints / self._job.id
        told = {"HEADWAY_JOB": self._job.id, "HEADWAY_ATTEMPT": "offline", "HEADWAY_CHECKPOINT_DIR": str(folder)}
        told["HEADWAY_ATTEMPT_NUMBER"] = str(self._attempt.number)
        keep = self._job.spec.checkpoint.keep
        with redirect_stderr(io.StringIO()):
            saved = Run(read_environment(told)).checkpoints(extra={"step": step}, keep=keep).save(step)
        assert saved is not None
        return {"step": step, "path": str(saved.path), "bytes": saved.manifest.bytes, "seconds": 38.5}

    def _line(self, kind: str, at: datetime, body: dict[str, Any]) -> str:
        return json.dumps({"kind": kind, "t": _t(at), **body}) + "\n"

    def _tell(self, lines: str) -> None:
        first = self._attempt.placements[0].node
        self._send(first, events={0: {"offset": self._events, "data": lines}})
        self._events += len(lines.encode())

    def _speak(self, upto: datetime) -> dict[str, Answer]:
        """What every node measures, now and then long ago and always close to the present; scenes where asked for."""
        is_close = self._stage.ends - self._stage.now <= CLOSE
        is_due = is_close or upto - self._sampled >= SAMPLE
        answers = {}
        for number, placement in enumerate(self._attempt.placements):
            if not is_due and number > 0:
                continue
            readings = self._readings(placement.node, placement.devices, upto, is_close) if is_due else []
            answers[placement.node] = self._send(placement.node, readings=readings)
            for look in answers[placement.node].look:
                answers[placement.node] = self._send(placement.node, scenes=[self._scene(look.look, placement.node)])
        self._sampled = upto if is_due else self._sampled
        return answers

    def _readings(self, node: str, devices: tuple[int, ...], at: datetime, is_close: bool) -> list[dict[str, Any]]:
        """Its cards, and close to the present what its processes do: a stall is told by them."""
        use = self.use
        chance = Random(f"{node}{int(at.timestamp())}")
        rows: list[tuple[str, int | None, int | None, float]] = [("cpu_percent", None, None, use / 4)]
        for device in devices:
            rows.append(("device_utilisation_percent", None, device, max(0.0, min(100.0, chance.gauss(use, 2.5)))))
            rows.append(("device_memory_used_bytes", None, device, 71.5e9 if self._role.total else 58.2e9))
        for rank in self._ranks[node] if is_close else ():
            rows += [("processes_cpu_percent", rank, None, 0.5 if self._hangs else 102.0)]
            rows += [(name, rank, None, 0.0) for name in ("processes_stopped", "processes_held", "file_bytes_per_s")]
        return [{"t": _t(at), "name": n, "rank": r, "device": d, "value": round(v, 2)} for n, r, d, v in rows]

    def _scene(self, look: str, node: str) -> dict[str, Any]:
        """What an agent sees of ranks that hang: one is in its data loader, the others wait for it."""
        culprit = self._role.hangs_rank
        ranks = [
            {
                "rank": rank,
                "processes": [{"pid": 5000 + rank, "parent": 1, "command": "python", "state": "S", "cpu_s": 9120.0}],
                "stacks": [{"pid": 5000 + rank, "source": "py-spy", "text": LOADS if rank == culprit else WAITS}],
                "collectives": None,
            }
            for rank in self._ranks[node]
        ]
        return {"look": look, "kind": "stall", "at": _t(self._stage.now), "ranks": ranks}

    def _finish(self, end: datetime) -> None:
        """The end that its role has for it."""
        fault = self._fault
        if fault is None:
            self._print(0, f"[{_stamp(end)}] training finished\n")
            for node, ranks in self._ranks.items():
                self._end_node(node, [{"rank": rank, "at": _t(end), "code": 0} for rank in ranks], "exited")
        elif fault.how is How.LOST:
            self.is_over = True
            part = self._stage.machines.parts[self._attempt.id]
            self._stage.machines.write(self._attempt.id, replace(part.life, loses_agent=end - part.launched_at))
            return
        else:
            self._break(fault.rank, fault.how, end)
        self._leave(end)

    def _be_killed(self, order: KillOrder) -> None:
        """A drill: one rank is killed without warning."""
        node = next(node for node, ranks in self._ranks.items() if order.rank in ranks)
        self._send(node, drills_done=[order.drill])
        self._end_all(order.rank, {"signal": order.signal, "signal_name": "SIGKILL"}, self._stage.now)
        self._leave(self._stage.now)

    def _break(self, rank: int, how: How, end: datetime) -> None:
        """One rank ends badly, and says why."""
        self._print(rank, WORDS[how].format(at=_stamp(end), rank=rank) if how is How.NETWORK else WORDS[how])
        if how is How.NETWORK and rank != 0:
            self._print(0, FOLLOWS.format(at=_stamp(end), rank=0))
        self._end_all(rank, ENDS[how], end)

    def _end_all(self, rank: int, how: dict[str, Any], end: datetime) -> None:
        """One rank has ended by itself; the agents stop the rest."""
        stopped = {"signal": 15, "signal_name": "SIGTERM", "stopped_by_us": True}
        for node, ranks in self._ranks.items():
            exits = [{"rank": r, "at": _t(end), **(how if r == rank else stopped)} for r in ranks]
            self._end_node(node, exits, "exited" if rank in ranks else "stopped")

    def _stop(self, answers: dict[str, Answer]) -> None:
        """It was told to stop: its ranks end by SIGTERM."""
        reason = next(answer.stop.reason for answer in answers.values() if answer.stop is not None)
        stopped = {"signal": 15, "signal_name": "SIGTERM", "stopped_by_us": True}
        for node, ranks in self._ranks.items():
            exits = [{"rank": rank, "at": _t(self._stage.now), **stopped} for rank in ranks]
            self._end_node(node, exits, "stopped", reason)
        self._leave(self._stage.now)

    def _end_node(self, node: str, exits: list[dict[str, Any]], reason: str, detail: str | None = None) -> None:
        at = exits[0]["at"] if exits else _t(self._stage.now)
        logs = self._stage.platform.logs
        sizes = {rank: size for rank in self._ranks[node] if (size := logs.size(self._attempt.id, rank))}
        self._send(node, "ended", exits=exits, ended={"at": at, "reason": reason, "detail": detail, "logs": sizes})

    def _leave(self, at: datetime) -> None:
        self.is_over = True
        part = self._stage.machines.parts[self._attempt.id]
        self._stage.machines.write(self._attempt.id, replace(part.life, runs_for=at - part.launched_at))

    def _send(self, node: str, phase: str = "running", **parts: Any) -> Answer:
        self._seq += 1
        told = {"seq": self._seq, "at": _t(self._stage.now), "agent": AGENT, "phase": phase, **parts}
        return take(self._stage.platform, self._attempt.id, node, Report.model_validate(told))

    def _print(self, rank: int, text: str) -> None:
        logs, id = self._stage.platform.logs, self._attempt.id
        logs.append(id, rank, logs.size(id, rank), text.encode(), self._lined, self._stage.now)
        self._lined = self._stage.now


def _t(at: datetime) -> float:
    return at.timestamp()


def _stamp(at: datetime) -> str:
    """As a program prints it, with the offset, so that nobody has to guess."""
    return at.isoformat(sep=" ", timespec="milliseconds")
