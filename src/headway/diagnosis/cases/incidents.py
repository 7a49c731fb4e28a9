"""What failed together: failures that share a node, a switch, a mount or an image become one incident.

Incidents are ordered by what they cost, cards idle × time. It groups; it never says what the cause is.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from headway.domain.ids import JobId

APART = timedelta(minutes=30)
"""Failures further apart than this are two incidents, whatever they share."""
WIDEST_FIRST = ("mount", "image", "switch", "node")
"""A wider thing explains more: it is asked first, but only counts when two jobs or two nodes share it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One attempt that broke: its cards stood idle from `at` until `until` (None: still).

    `shares`: what it might have in common with others, as {"node": …, "switch": …, "mount": …, "image": …}.
    """

    at: datetime
    job: JobId
    fault: str
    devices: int
    nodes: tuple[str, ...]
    until: datetime | None = None
    shares: Mapping[str, str] = field(default_factory=dict)

    def idle(self, now: datetime) -> timedelta:
        """Device-time lost so far."""
        return max(timedelta(0), (self.until or now) - self.at) * self.devices


@dataclass(frozen=True, slots=True)
class Incident:
    """Failures with one thing in common: its `kind` (node, switch, mount, image, job) and name.

    `idle` in device-time.
    """

    kind: str
    name: str
    began: datetime
    last: datetime
    failures: tuple[Failure, ...]
    idle: timedelta
    is_open: bool

    @property
    def jobs(self) -> tuple[JobId, ...]:
        return tuple(dict.fromkeys(failure.job for failure in self.failures))

    @property
    def nodes(self) -> tuple[str, ...]:
        return tuple(sorted({node for failure in self.failures for node in failure.nodes}))


def incidents(failures: Iterable[Failure], now: datetime) -> tuple[Incident, ...]:
    """Every failure in exactly one incident, the dearest first."""
    left = sorted(failures, key=lambda failure: (failure.at, failure.job))
    found: list[Incident] = []
    for kind in WIDEST_FIRST:
        taken, left = _group(kind, left)
        found += [_incident(kind, name, group, now) for name, group in taken]
    by_job: dict[JobId, list[Failure]] = defaultdict(list)
    for failure in left:
        by_job[failure.job].append(failure)
    found += [_incident("job", job, spell, now) for job, all in by_job.items() for spell in _spells(all)]
    return tuple(sorted(found, key=lambda incident: (-incident.idle, incident.began, incident.name)))


def _group(kind: str, failures: list[Failure]) -> tuple[list[tuple[str, list[Failure]]], list[Failure]]:
    """Spells of failures that share one thing of this kind, and the rest."""
    by_name: dict[str, list[Failure]] = defaultdict(list)
    for failure in failures:
        if kind in failure.shares:
            by_name[failure.shares[kind]].append(failure)
    spells = [(name, spell) for name, all in by_name.items() for spell in _spells(all)]
    shared = [(name, spell) for name, spell in spells if kind == "node" or _is_shared(spell)]
    taken = {id(failure) for _, spell in shared for failure in spell}
    return shared, [failure for failure in failures if id(failure) not in taken]


def _is_shared(spell: list[Failure]) -> bool:
    """One job on one node says nothing of what lies beneath several."""
    return len({f.job for f in spell}) > 1 and len({f.shares.get("node", f.job) for f in spell}) > 1


def _spells(failures: list[Failure]) -> list[list[Failure]]:
    spells: list[list[Failure]] = []
    for failure in failures:
        if spells and failure.at - spells[-1][-1].at <= APART:
            spells[-1].append(failure)
        else:
            spells.append([failure])
    return spells


def _incident(kind: str, name: str, failures: list[Failure], now: datetime) -> Incident:
    return Incident(
        kind=kind,
        name=name,
        began=failures[0].at,
        last=failures[-1].at,
        failures=tuple(failures),
        idle=sum((failure.idle(now) for failure in failures), timedelta(0)),
        is_open=any(failure.until is None for failure in failures),
    )
