"""Past jobs run again in virtual time, under the very turns that plan the real queue.

Decides nothing of its own: a job starts when a turn starts it and ends when its recorded run time is over. The desk
sees a run time only once it has passed.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush

from headway.domain.ids import JobId
from headway.scheduler.desk.claims import Claim
from headway.scheduler.desk.desk import Desk
from headway.scheduler.desk.reclaim import Taking
from headway.scheduler.desk.turn import Turn
from headway.scheduler.predict import History
from headway.scheduler.snapshot import QueuedJob

PRICE = 300.0
"""Seconds a preemption costs its victim beside the work since its last save."""
LEARN = 25
"""Ends after which predictions are made anew."""
SAVES = 1800.0
"""Seconds between two saves of a replayed job."""


@dataclass(slots=True)
class Past:
    """A job as it was: what was asked, and how long it really ran (seconds). `submitted` in seconds of the replay.

    `spells`: from when until when the replay gave it its devices, once and after each eviction.
    """

    job: QueuedJob
    submitted: float
    length: float
    left: float = 0.0
    began: float | None = None
    ended: float | None = None
    evictions: int = 0
    spells: tuple[tuple[float, float], ...] = ()

    @property
    def wait(self) -> float:
        """All the time it was neither running usefully nor over: end − submit − run time."""
        assert self.ended is not None
        return self.ended - self.submitted - self.length

    def held_until(self, last: float) -> float:
        """Device-seconds it had until then."""
        return self.job.request.devices * sum(max(0.0, min(end, last) - begin) for begin, end in self.spells)


@dataclass(slots=True)
class Replay:
    """Virtual time. `watch` is called after each turn; `breach` adds up, with `guarantees`, the
    seconds in which a project within its guarantee waits; `history` learns from every end."""

    desk: Desk
    history: History | None = None
    watch: Callable[["Replay", list[Past]], None] | None = None
    guarantees: bool = False
    now: float = 0.0
    breach: float = 0.0
    unserved: int = 0
    learned: int = 0
    runs: dict[JobId, Past] = field(default_factory=dict)
    ends: list[tuple[float, JobId, int]] = field(default_factory=list)
    versions: dict[JobId, int] = field(default_factory=dict)

    def run(self, past: Iterable[Past]) -> None:
        """Submit the jobs at their times, in order of submission, and go on until all have ended."""
        coming = iter(past)
        following = next(coming, None)
        while following is not None or self.ends:
            at = min(self.ends[0][0] if self.ends else float("inf"), following.submitted if following else float("inf"))
            self._pass_time(at)
            self._end_due()
            fresh: list[Past] = []
            while following is not None and following.submitted <= at:
                self._submit(following)
                fresh.append(following)
                following = next(coming, None)
            self.turn()
            if self.watch:
                self.watch(self, fresh)

    def turn(self) -> None:
        """One turn at the present time, and what it decided carried out."""
        self.desk.advance(self.now)
        turn = Turn(self.desk).run()
        for began in turn.began:
            self._begin(began.claim)
        for job, taking in turn.lending.takings.items():
            self._carry_out(job, taking)
        self.unserved = self._unserved() if self.guarantees else 0

    def _unserved(self) -> int:
        """How many projects have a job that waits although it is within their guarantee."""
        lines = self.desk.lines.lines
        turn = Turn(self.desk)
        return len({lines[n].project for n in self.desk.lines.live if not turn.is_borrowing(lines[n])})

    def _pass_time(self, at: float) -> None:
        span = at - self.now
        self.breach += span * self.unserved
        self.now = at
        self.desk.elapse(at)

    def _submit(self, past: Past) -> None:
        past.left = past.length
        self.runs[past.job.id] = past
        self.desk.submit(past.job)

    def _begin(self, claim: Claim) -> None:
        past = self.runs[claim.job]
        past.began = self.now if past.began is None else past.began
        version = self.versions[claim.job] = self.versions.get(claim.job, 0) + 1
        heappush(self.ends, (self.now + past.left, claim.job, version))

    def _end_due(self) -> None:
        while self.ends and self.ends[0][0] <= self.now:
            _, job, version = heappop(self.ends)
            if self.versions[job] != version:
                continue
            past, claim = self.runs.pop(job), self.desk.claims[job]
            self.desk.finish(job)
            past.ended = self.now
            past.spells += ((claim.began, self.now),)
            if self.history is not None and claim.traits is not None:
                self.history.add(claim.traits, past.length)
                self.learned += 1
                if self.learned % LEARN == 0:
                    self.desk.forget()

    def _carry_out(self, job: JobId, taking: Taking) -> None:
        """Victims end at once and queue again; the job starts on what was freed for it."""
        for victim in taking.victims:
            past = self.runs[victim.job]
            self.versions[victim.job] += 1
            ran = self.now - victim.began
            past.left = past.left - ran // SAVES * SAVES + PRICE
            past.evictions += 1
            past.spells += ((victim.began, self.now),)
            self.desk.finish(victim.job)
            del self.desk.finished[victim.job]
        ask = self.desk.lines.asks[job]
        self.desk.release_hold(job)
        self._begin(self.desk.place(ask, taking.pool, taking.nodes))
        for victim in taking.victims:
            self.desk.submit(self.runs[victim.job].job)
