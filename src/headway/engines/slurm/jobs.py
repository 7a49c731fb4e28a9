"""Slurm's jobs as values, read from `squeue` and `sacct`, and which of them are an attempt's. Pure.

An attempt's job has its id as name, `headway:<id>` as comment and its submitter as user: somebody else's job that
merely has the name is not taken for it, and a numeric id alone is never trusted.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from headway.engines.protocol import Cause
from headway.engines.slurm.hostlist import expand
from headway.engines.slurm.script import MARK

WAITING = frozenset(
    {"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD"}
)
LIVING = frozenset({"RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "RESIZING", "STAGE_OUT"})
# What Slurm gives for a signal to a step in which the kernel killed for want of memory.
OUT_OF_MEMORY = 125
CAUSES = {
    "NODE_FAIL": Cause.NODE_FAIL,
    "BOOT_FAIL": Cause.BOOT_FAIL,
    "OUT_OF_MEMORY": Cause.OUT_OF_MEMORY,
    "TIMEOUT": Cause.TIMEOUT,
    "DEADLINE": Cause.TIMEOUT,
    "PREEMPTED": Cause.PREEMPTED,
    "CANCELLED": Cause.CANCELLED,
    "REVOKED": Cause.CANCELLED,
}


@dataclass(frozen=True, slots=True)
class Job:
    """One job as Slurm tells of it. `gres`: allocated devices of each type on all its hosts together."""

    id: str
    state: str
    user: str
    hosts: tuple[str, ...]
    name: str
    comment: str
    reason: str | None = None
    account: str = ""
    started: datetime | None = None
    ends: datetime | None = None
    gres: Mapping[str, int] | None = None

    @property
    def is_waiting(self) -> bool:
        return self.state in WAITING

    @property
    def is_over(self) -> bool:
        return self.state not in WAITING and self.state not in LIVING

    @property
    def cause(self) -> Cause | None:
        """Why Slurm ended it, where Slurm did."""
        return CAUSES.get(self.state)


def read_jobs(text: str) -> tuple[Job, ...]:
    """Read `squeue` in `JOB_FORMAT`; what is no such line is left out."""
    jobs = []
    for line in text.splitlines():
        fields = line.split("|", 10)
        if len(fields) < 11:
            continue
        number, word, steps, reason, user, account, hosts, start, end, tres, rest = fields
        state = _state(word, steps)
        name, _, comment = rest.removesuffix("|").partition("|")
        why = reason.strip("()") if state in WAITING else None
        jobs.append(
            Job(number, state, user, _hosts(hosts), name, comment, why, account, _time(start), _time(end), _gres(tres))
        )
    return tuple(jobs)


def read_past_jobs(text: str) -> tuple[Job, ...]:
    """Read `sacct` in `PAST_FORMAT`, oldest first; `CANCELLED by 0` is CANCELLED."""
    jobs = []
    for line in text.splitlines():
        fields = line.split("|", 8)
        if len(fields) == 9:
            number, told, steps, user, hosts, start, end, name, comment = fields
            state = _state(told.split()[0] if told else "UNKNOWN", steps)
            jobs.append(
                Job(number, state, user, _hosts(hosts), name, comment, started=_time(start), ends=_time(end), gres=None)
            )
    return tuple(jobs)


def find(attempt: str, owner: str, jobs: Iterable[Job]) -> Job | None:
    """The attempt's job; of several the one that still lives, else the newest."""
    mine = [job for job in jobs if (job.name, job.comment, job.user) == (attempt, MARK + attempt, owner)]
    return max(
        mine, key=lambda job: (not job.is_over, not job.is_waiting, int(re.sub(r"\D.*", "", job.id) or 0)), default=None
    )


def _state(state: str, steps: str) -> str:
    """A job of a script whose steps ran out of memory is only FAILED, or even COMPLETED, to Slurm; `steps`: the highest
    exit code among them, `0:125` or as a wait status."""
    code, _, signal = steps.rpartition(":")
    number = int(signal) if signal.isdecimal() else 0
    is_killed = number == OUT_OF_MEMORY if code else number & 0x7F == OUT_OF_MEMORY
    return "OUT_OF_MEMORY" if is_killed and state in ("FAILED", "COMPLETED") else state


def _hosts(text: str) -> tuple[str, ...]:
    return expand(text)


def _time(text: str) -> datetime | None:
    return datetime.fromtimestamp(int(text), UTC) if text.isdecimal() and int(text) else None


def _gres(text: str) -> dict[str, int]:
    """`cpu=16,gres/gpu=4,gres/gpu:h200=4` → {"h200": 4}; the untyped count stands alone where there is no type."""
    found = re.findall(r"gres/(\w+)(?::([^=,]+))?=(\d+)", text)
    typed = {kind: int(count) for _, kind, count in found if kind}
    return typed or {name: int(count) for name, _, count in found}
