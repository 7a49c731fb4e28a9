"""A served name and the shares of its versions."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from headway.domain.ids import JobId


@dataclass(frozen=True, slots=True)
class Share:
    """One version's part of a service's requests, in percent."""

    version: str
    weight: int


@dataclass(frozen=True, slots=True)
class Split:
    """What was live from `at` on, who set it and why. Weights add up to 100."""

    service: str
    number: int
    shares: tuple[Share, ...]
    at: datetime
    by: str
    reason: str = ""
    rollback_of: int | None = None


class ReplicaState(StrEnum):
    """Whether a replica may receive requests."""

    STARTING = "starting"
    READY = "ready"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Replica:
    """One serving job of one version; `endpoint` is host:port once its attempt was placed."""

    service: str
    version: str
    job: JobId
    state: ReplicaState
    endpoint: str | None = None


@dataclass(frozen=True, slots=True)
class Service:
    """An inference endpoint of a project under one name."""

    name: str
    project: str
    created_at: datetime
    created_by: str
    split: Split | None = None
    stopped_at: datetime | None = None
