"""What Slurm knows, asked in bulk and not too often: every answer is used again until it is old.

How old is old grows with the number of jobs, as the cost of the question does. A question that failed is not repeated
at once either. Decides nothing about attempts.
"""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from headway.domain.errors import PlatformError
from headway.engines.slurm.commands import Commands
from headway.engines.slurm.inventory import SlurmNode, read_nodes, read_partitions, read_switches
from headway.engines.slurm.jobs import Job, read_jobs
from headway.engines.slurm.settings import SlurmSettings

PER_JOB = timedelta(milliseconds=15)
# Nodes change less often than jobs, and the site's layout hardly ever.
NODES_FACTOR = 4
LAYOUT_KEPT = timedelta(minutes=30)

T = TypeVar("T")


class Asked(Generic[T]):
    """The last answer to one question. Threads that ask at once share one."""

    def __init__(self, ask: Callable[[], T], clock: Callable[[], datetime]) -> None:
        self._ask, self._clock = ask, clock
        self._guard = threading.Lock()
        self._at: datetime | None = None
        self._answer: T | None = None
        self._error: PlatformError | None = None

    def get(self, age: timedelta) -> T:
        """An answer at most so old. Raises `engine-unreachable` as long as the last question failed."""
        with self._guard:
            if self._at is None or self._clock() - self._at >= age:
                try:
                    self._answer, self._error = self._ask(), None
                except PlatformError as error:
                    self._error = error
                self._at = self._clock()
            if self._error is not None:
                raise PlatformError(self._error.code, **self._error.params) from self._error
            assert self._answer is not None
            return self._answer

    def forget(self, before: datetime | None = None) -> None:
        """Ask again next time; only if the last answer is from `before` that moment."""
        if before is None or (self._at is not None and self._at <= before):
            self._at = None


class Look:
    """The site as last seen."""

    def __init__(self, commands: Commands, settings: SlurmSettings, clock: Callable[[], datetime]) -> None:
        self._commands, self._settings = commands, settings
        self._jobs = Asked(lambda: read_jobs(commands.jobs()), clock)
        self._nodes = Asked(self._ask_nodes, clock)
        self._switches = Asked(lambda: read_switches(commands.switches()), clock)
        self._partitions = Asked(lambda: read_partitions(commands.partitions()), clock)
        self._count = 0

    def jobs(self) -> tuple[Job, ...]:
        """Every job slurmctld knows. Raises `engine-unreachable`."""
        found = self._jobs.get(self._age)
        self._count = sum(not job.is_over for job in found)
        return found

    def jobs_now(self) -> tuple[Job, ...]:
        """The same, not older than this call: for when something hangs on it."""
        self._jobs.forget()
        return self.jobs()

    def nodes(self) -> dict[str, SlurmNode]:
        """Headway's nodes by name, those of the chosen partition only. Raises `engine-unreachable`."""
        return self._nodes.get(NODES_FACTOR * self._age)

    def nodes_newly(self) -> dict[str, SlurmNode]:
        """The same, as new as jobs are: for when something is amiss. Raises `engine-unreachable`."""
        return self._nodes.get(self._age)

    def nodes_since(self, moment: datetime) -> dict[str, SlurmNode]:
        """The same as seen after a moment, which has passed. Raises `engine-unreachable`."""
        self._nodes.forget(before=moment)
        return self.nodes()

    def forget_nodes(self) -> None:
        """Ask for nodes again next time: one has just been changed."""
        self._nodes.forget()

    def time_limit(self) -> timedelta | None:
        """The longest time limit the chosen partition allows; None: unlimited. Raises `engine-unreachable`."""
        partitions = self._partitions.get(LAYOUT_KEPT)
        chosen = [part for part in partitions if part.name == self._settings.partition]
        chosen = chosen or [part for part in partitions if part.is_default]
        return chosen[0].max_time if chosen else None

    def _ask_nodes(self) -> dict[str, SlurmNode]:
        switches = self._switches.get(LAYOUT_KEPT)
        wanted = self._settings.partition
        found = read_nodes(self._commands.nodes(), switches, self._settings.makers)
        return {node.name: node for node in found if wanted is None or wanted in node.partitions}

    @property
    def _age(self) -> timedelta:
        least, most = self._settings.look
        return min(most, max(least, PER_JOB * self._count))
