"""Watches one running attempt for a stall: steps and logs silent beyond its own rhythm, and the machines agreeing.

Fed with what is seen at moments that only go forward; says when a stall begins and when it is over. One watch an
attempt: nothing is carried over to the next. Never calls silence alone a stall, nor time in which nobody was heard.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from headway.diagnosis.stall.quiet import Usual, agreeing
from headway.diagnosis.stall.rhythm import LEARNT, Rhythm
from headway.diagnosis.stall.signs import STARTUP, TRAIN, Patience, Signs

EARLY = 0.9
"""A stall is called this part of its threshold after the last sign of life: told, it is still within it."""
SURVIVED = 1.5
"""A pause that the attempt has come out of by itself may come again, and half as long more."""
SLOWED = 2.0
"""The newest steps take so many times the usual: worth a look at who is late."""


@dataclass(frozen=True, slots=True)
class Stall:
    """Nothing has moved since `since`: longer than `threshold` allows. `agreeing`: the evidence beside the silence."""

    at: datetime
    since: datetime
    threshold: timedelta
    phase: str
    agreeing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Moved:
    """It moves again, after a stall that began at `since`."""

    at: datetime
    since: datetime


class Watch:
    """The watch over one attempt, from `at` on."""

    def __init__(self, patience: Patience, at: datetime) -> None:
        self._patience = patience
        self.rhythm = Rhythm()
        self._usual = Usual()
        self._seen_at = self._moved_at = at
        self._log_bytes: int | None = None
        self._phase = STARTUP
        self._phase_at = at
        self._told: str | None = None
        self._steps_in_phase = 0
        self._longest: dict[str, timedelta] = {}
        self._agreeing_since: datetime | None = None
        self._survived = timedelta()
        self.stall: Stall | None = None

    def see(self, signs: Signs) -> Stall | Moved | None:
        """What changes with what is seen now, if anything."""
        elapsed = max(timedelta(), signs.at - self._seen_at)
        self._seen_at = max(self._seen_at, signs.at)
        phase = self._phase
        if self._moves(signs):
            return self._moved(phase)
        if not signs.heard:  # silence of which nobody tells does not count
            self._moved_at += elapsed
            self._agreeing_since = None
            return None
        found = agreeing(signs, self._usual)
        if found is None:
            self._agreeing_since = None
        if not found:  # a reading that is missing now says nothing against those before
            return None
        self._agreeing_since = self._agreeing_since or self._seen_at
        return self._judge(found)

    @property
    def threshold(self) -> timedelta:
        """How long silence may last in the present phase."""
        own = max(self._of_steps, SURVIVED * self._survived)
        if self._phase not in (STARTUP, TRAIN):
            allowed = self._patience.phases.get(self._phase, self._patience.phase)
            return max(own, allowed, self._patience.factor * self._longest.get(self._phase, timedelta()))
        return own if self.rhythm.is_learnt else max(own, self._patience.startup)

    @property
    def _of_steps(self) -> timedelta:
        return max(self._patience.factor * self.rhythm.slowest(), self._patience.floor)

    @property
    def has_slowed(self) -> bool:
        """Whether the newest steps take much longer than this attempt's usual ones."""
        usual, recent = self.rhythm.usual(), self.rhythm.recent()
        return usual is not None and recent is not None and recent > SLOWED * usual

    def _moves(self, signs: Signs) -> bool:
        """Take in steps, phase and log; whether any of them is news."""
        if signs.steps and self.rhythm.is_learnt and self._seen_at - self._moved_at > self._of_steps:
            self.rhythm.pause(signs.steps[0][0])  # whatever that was, it was no step
        stepped = sum(self.rhythm.step(at, step) for at, step in signs.steps)
        self._steps_in_phase += stepped
        printed = self._log_bytes is not None and signs.log_bytes > self._log_bytes
        self._log_bytes = signs.log_bytes
        changed = self._enter(self._phase_of(signs.phase))
        if stepped and self._phase == TRAIN:
            self._usual.learn(signs)
        return bool(stepped) or printed or changed

    def _phase_of(self, told: str | None) -> str:
        """What is told, unless steps tell otherwise: a program may never say that it left a phase."""
        if told not in (None, STARTUP, TRAIN) and not (told == self._told and self._steps_in_phase >= LEARNT):
            if told != self._told:
                self._steps_in_phase = 0
            self._told = told
            return str(told)
        self._told = told
        return TRAIN if self.rhythm.has_begun else STARTUP

    def _enter(self, phase: str) -> bool:
        if phase == self._phase:
            return False
        lasted = self._seen_at - self._phase_at
        self._longest[self._phase] = max(lasted, self._longest.get(self._phase, timedelta()))
        if self._phase not in (STARTUP, TRAIN):
            self.rhythm.pause(self._seen_at)
        self._phase, self._phase_at = phase, self._seen_at
        return True

    def _moved(self, after: str) -> Moved | None:
        """Silence is over, which fell into the phase `after`."""
        gap = self._seen_at - self._moved_at
        stall, self.stall = self.stall, None
        if stall is None and after == TRAIN and self.rhythm.is_learnt:
            self._survived = max(self._survived, gap if gap > self._of_steps else timedelta())
        self._moved_at, self._agreeing_since = self._seen_at, None
        return Moved(self._seen_at, stall.since) if stall else None

    def _judge(self, found: tuple[str, ...]) -> Stall | None:
        assert self._agreeing_since is not None
        threshold = self.threshold
        silent, agreed = self._seen_at - self._moved_at, self._seen_at - self._agreeing_since
        if self.stall is not None or silent < EARLY * threshold or agreed < threshold / 2:
            return None
        self.stall = Stall(self._seen_at, self._moved_at, threshold, self._phase, found)
        return self.stall
