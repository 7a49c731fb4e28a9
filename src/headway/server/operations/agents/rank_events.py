"""Read what ranks say through the in-job SDK: progress, checkpoints, phases, restores.

Each rank's lines are taken once, by byte offset, in the transaction that records what they say. A line that is not
understood is skipped: a program's mistake must not stop its agent.
"""

from datetime import datetime
from pathlib import Path

from pydantic import ValidationError
from sqlalchemy import Connection

from headway.domain.attempt import Attempt
from headway.domain.cadence_events import CheckpointCopied
from headway.domain.checkpoint import Checkpoint
from headway.domain.events import CheckpointRejected, CheckpointSaved, PhaseEntered, Restored
from headway.domain.ids import JobId
from headway.registry.storages import STAGED
from headway.server.operations.jobs.advance import Progress, advance
from headway.server.operations.jobs.bills import after_restore
from headway.server.platform import Platform
from headway.server.wire import EventChunk, RankEvent
from headway.store import agents, checkpoints, facts
from headway.store.readings import Reading

OUTSIDE = "outside"
LONGEST_LINE = 64 << 10  # bytes; agents send so much of a line without waiting for its end


class RankEvents:
    """The events of one node's ranks within one report."""

    def __init__(self, platform: Platform, c: Connection, attempt: Attempt, node: str) -> None:
        self.platform = platform
        self.c = c
        self.attempt = attempt
        self.by = f"agent:{node}"
        self.node = node
        self.readings: list[Reading] = []
        self.newest: RankEvent | None = None
        self.steps: list[tuple[datetime, int]] = []

    def take(self, chunks: dict[int, EventChunk]) -> tuple[dict[int, int], list[Reading]]:
        """Record every new line; return the offset recorded for each rank, and readings to be stored."""
        offsets: dict[int, int] = {}
        for rank, chunk in chunks.items():
            offsets[rank] = self._take_rank(rank, chunk)
        if self.newest is not None:
            self._progress(self.newest)
        return offsets, self.readings

    def _take_rank(self, rank: int, chunk: EventChunk) -> int:
        known = agents.event_offset(self.c, self.attempt.id, rank)
        data = chunk.data.encode()
        if chunk.offset > known or chunk.offset + len(data) <= known:
            return known
        new = _whole_lines(data[known - chunk.offset :])
        for line in new.splitlines():
            try:
                event = RankEvent.model_validate_json(line)
            except ValidationError:
                continue
            self._event(rank, event)
        agents.set_event_offset(self.c, self.attempt.id, rank, known + len(new))
        return known + len(new)

    def _event(self, rank: int, event: RankEvent) -> None:
        self.platform.live.event(self.attempt.id, rank, event)
        if event.kind == "progress" and event.step is not None:
            self._sample(rank, event)
        elif event.kind == "checkpoint-saved" and event.path and event.step is not None:
            self._saved(event)
        elif event.kind == "checkpoint-copied" and event.path and event.to and event.step is not None:
            self._copied(event)
        elif event.kind == "checkpoint-rejected" and event.path:
            self._rejected(event, event.reason or "unknown")
        elif event.kind == "restored":
            self._restored(rank, event)
        elif event.kind == "phase" and event.name:
            phase = PhaseEntered(
                at=event.t, by=self.by, job=self.attempt.job, attempt=self.attempt.id, rank=rank, phase=event.name
            )
            facts.append(self.c, phase)

    def _sample(self, rank: int, event: RankEvent) -> None:
        """Keep every rank's samples as readings; the job's own progress is its furthest rank's."""
        metrics = {"step": float(event.step or 0), **event.metrics}
        self.steps.append((event.t, event.step or 0))
        self.readings += [
            Reading(self.attempt.id, self.node, rank, None, name, event.t, value) for name, value in metrics.items()
        ]
        if self.newest is None or (event.step or 0) >= (self.newest.step or 0):
            self.newest = event

    def _progress(self, event: RankEvent) -> None:
        assert event.step is not None
        told = Progress(event.t, event.step, event.total, event.metrics.get("loss"), self.steps)
        self.platform.printed.reports_itself(self.attempt.id)
        advance(self.platform, self.c, self.attempt, self.by, told)

    def _saved(self, event: RankEvent) -> None:
        assert event.step is not None
        assert event.path is not None
        attempt = self.attempt
        if not is_inside(event.path, self.platform.checkpoints / attempt.job):
            self._rejected(event, OUTSIDE)
            return
        path = str(Path(event.path))
        saved = Checkpoint(
            attempt.job,
            attempt.id,
            event.step,
            path,
            event.bytes,
            event.seconds,
            saved_at=event.t,
            blocked=event.blocked,
            storage=event.storage,
        )
        checkpoints.record(self.c, saved)
        fact = CheckpointSaved(
            at=event.t,
            by=self.by,
            job=attempt.job,
            attempt=attempt.id,
            step=event.step,
            path=path,
            bytes=event.bytes,
            seconds=event.seconds,
        )
        facts.append(self.c, fact)

    def _copied(self, event: RankEvent) -> None:
        """Only of a checkpoint that the job has: a copy of anything else is nobody's to speak of."""
        assert event.step is not None
        assert event.path is not None
        assert event.to is not None
        attempt, path, storage = self.attempt, str(Path(event.path)), event.storage or "unknown"
        copy = checkpoints.Copied(event.to, STAGED + storage, event.seconds)
        if not checkpoints.set_copy(self.c, attempt.job, path, copy):
            return
        fact = CheckpointCopied(
            at=event.t,
            by=self.by,
            job=attempt.job,
            attempt=attempt.id,
            step=event.step,
            path=path,
            to=event.to,
            storage=storage,
            bytes=event.bytes,
            seconds=event.seconds,
        )
        facts.append(self.c, fact)

    def _rejected(self, event: RankEvent, reason: str) -> None:
        assert event.path is not None
        fact = CheckpointRejected(
            at=event.t, by=self.by, job=self.attempt.job, step=event.step, path=event.path, reason=reason
        )
        facts.append(self.c, fact)

    def _restored(self, rank: int, event: RankEvent) -> None:
        fact = Restored(
            at=event.t,
            by=self.by,
            job=self.attempt.job,
            attempt=self.attempt.id,
            rank=rank,
            step=event.step or 0,
            path=event.path,
            seconds=event.seconds,
        )
        facts.append(self.c, fact)
        if rank == 0 and event.path is not None:
            after_restore(self.c, self.attempt, event.step or 0)
            # It may be another job's, which this one goes on from.
            checkpoints.set_restored(
                self.c, JobId(Path(event.path).parent.name), event.path, event.seconds, event.copy_ is not None
            )


def is_inside(path: str, folder: Path) -> bool:
    """Whether a path names something directly in a folder, by its words alone: nothing is looked up or followed.

    The server may be root, and will read what is recorded.
    """
    told = Path(path)
    return told.parent == folder and told.name not in ("", "..")


def _whole_lines(new: bytes) -> bytes:
    """Up to the last newline; what is too long for a line is taken as it is, and passed over."""
    end = new.rfind(b"\n") + 1
    return new[:end] if end or len(new) < LONGEST_LINE else new
