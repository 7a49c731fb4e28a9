"""Simulated trainings for the stall benchmark: what a server would see of healthy runs, and of hangs put into them.

Each run is a script of stretches (loading, tokenising, compiling, steps, evaluation, saving), some said by the program,
some not; the machines' readings are those of that work, with noise and gaps. A simulated clock; nothing is measured.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from headway.diagnosis.stall.signs import Activity, Signs

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
TICK_S = 5.0
MIB = 1024.0 * 1024.0
WORK, WAIT, FILES, BLOCKED, STOPPED = "work", "wait", "files", "blocked", "stopped"


@dataclass(frozen=True)
class Site:
    """What can be measured of a run: how many ranks, cards with power, with use only, or none; a network or none."""

    ranks: int
    cards: str
    network: bool
    step_s: float
    jitter: float
    prints_every: int

    @classmethod
    def random(cls, random: Random) -> "Site":
        return cls(
            ranks=random.choice((1, 2, 4, 8)),
            cards=random.choice(("none", "use", "power")),
            network=random.random() < 0.5,
            step_s=random.lognormvariate(1.0, 1.0) + 0.5,
            jitter=random.uniform(0.02, 0.3),
            prints_every=random.choice((0, 1, 10, 100)),
        )


@dataclass(frozen=True)
class Stretch:
    """So many seconds of one thing: what rank 0 does, what the others do, and the phase that the program tells."""

    kind: str
    seconds: float
    first: str = WORK
    others: str = WORK
    told: str | None = None


def script(random: Random, hours: float) -> Iterator[Stretch]:
    """A healthy run: start-up, then steps with evaluations, savings and hiccups between them."""
    yield Stretch("load", random.uniform(10, 600), FILES, FILES)
    if random.random() < 0.4:
        yield Stretch("tokenise", random.uniform(60, 5400), WORK, WAIT, _said(random, "tokenise"))
    if random.random() < 0.5:
        yield Stretch("compile", random.uniform(60, 2400), told=_said(random, "compile"))
    left = hours * 3600
    saves = random.choice((WORK, FILES, BLOCKED))
    while left > 0:
        steps = Stretch("steps", random.uniform(120, 5400))
        pause = _pause(random, saves)
        left -= steps.seconds + pause.seconds
        yield steps
        yield pause


def _pause(random: Random, saves: str) -> Stretch:
    kind = random.choice(("evaluate", "save", "save", "hiccup"))
    if kind == "evaluate":
        alone = random.random() < 0.4
        return Stretch(kind, random.uniform(30, 3600), WORK, WAIT if alone else WORK, _said(random, kind))
    if kind == "save":
        # What leaves no trace on the node (a remote store that answers late) is said by the SDK's own saving.
        silent = random.random() < 0.2
        first = WAIT if silent else saves
        return Stretch(kind, random.uniform(1, 1200), first, WAIT, kind if silent else _said(random, kind))
    return Stretch(kind, random.uniform(5, 240), FILES, WAIT)


def _said(random: Random, phase: str) -> str | None:
    return phase if random.random() < 0.6 else None


class Seen:
    """Turns stretches into what is seen every tick."""

    def __init__(self, site: Site, random: Random, gaps: bool = True) -> None:
        """`gaps`: at times nothing is heard of any agent for minutes."""
        self.site, self._random, self._gaps = site, random, gaps
        self.seconds = 0.0
        self._step = 0
        self._next_step = 0.0
        self._log = 0
        self._deaf = 0.0

    def of(self, stretch: Stretch) -> Iterator[Signs]:
        """Every tick of a stretch."""
        end = self.seconds + stretch.seconds
        self._next_step = self.seconds + self._step_time()
        while self.seconds < end:
            self.seconds += TICK_S
            steps = self._steps() if stretch.kind == "steps" else ()
            yield self._signs(stretch, steps)

    def _steps(self) -> tuple[tuple[datetime, int], ...]:
        made = []
        while self._next_step <= self.seconds:
            self._step += 1
            if self.site.prints_every and self._step % self.site.prints_every == 0:
                self._log += 80
            made.append((BEGIN + timedelta(seconds=self._next_step), self._step))
            self._next_step += self._step_time()
        return tuple(made)

    def _step_time(self) -> float:
        slow = self._random.uniform(2, 6) if self._random.random() < 0.005 else 1.0
        return self.site.step_s * slow * self._random.lognormvariate(0, self.site.jitter)

    def _signs(self, stretch: Stretch, steps: tuple[tuple[datetime, int], ...]) -> Signs:
        random, site = self._random, self.site
        if self._gaps and random.random() < 0.0005:
            self._deaf = self.seconds + random.uniform(5, 300)
        heard = self.seconds >= self._deaf
        does = [stretch.first, *[stretch.others] * (site.ranks - 1)]
        ranks = {rank: self._activity(what) for rank, what in enumerate(does)} if heard else {}
        busy = stretch.kind in ("steps", "load")
        flow = random.uniform(20, 60) * MIB if busy else random.uniform(0, 0.01) * MIB
        writes = FILES in does or BLOCKED in does
        return Signs(
            at=BEGIN + timedelta(seconds=self.seconds),
            heard=heard,
            steps=steps if heard else (),
            log_bytes=self._log,
            phase=stretch.told,
            ranks=ranks,
            network_bytes_per_s=flow if site.network and site.ranks > 1 and heard else None,
            disk_bytes_per_s=random.uniform(5, 50) * MIB if writes else random.uniform(0, 0.2) * MIB,
        )

    def _activity(self, does: str) -> Activity:
        random, cards = self._random, self.site.cards
        if random.random() < 0.002:
            return Activity()  # a reading that was not there
        polls = does == WAIT and cards == "power"
        cpu = random.uniform(60, 400) if does == WORK else random.uniform(95, 105) if polls else random.uniform(0, 4)
        percent = random.uniform(70, 100) if does == WORK else 100.0 if polls else random.uniform(0, 2)
        watts = random.uniform(300, 600) if does == WORK else random.uniform(110, 150)
        return Activity(
            cpu_percent=cpu,
            stopped=does == STOPPED,
            uninterruptible=does == BLOCKED,
            file_bytes_per_s=random.uniform(1, 80) * MIB if does == FILES else random.uniform(0, 20_000),
            card_percent=None if cards == "none" else percent,
            card_watts=watts if cards == "power" else None,
        )
