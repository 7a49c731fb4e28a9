"""Facts about what is registered and served: templates, data, model versions, services and their traffic."""

from dataclasses import dataclass
from typing import ClassVar

from headway.domain.event import Event
from headway.domain.ids import JobId
from headway.domain.service import Share


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateAdded(Event):
    kind: ClassVar[str] = "template-added"
    template: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetRegistered(Event):
    kind: ClassVar[str] = "dataset-registered"
    dataset: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRegistered(Event):
    kind: ClassVar[str] = "version-registered"
    version: str
    job: JobId
    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceDeployed(Event):
    kind: ClassVar[str] = "service-deployed"
    service: str
    version: str
    job: JobId


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaReady(Event):
    kind: ClassVar[str] = "replica-ready"
    service: str
    version: str
    job: JobId
    endpoint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficShifted(Event):
    kind: ClassVar[str] = "traffic-shifted"
    service: str
    split: int
    shares: tuple[Share, ...]
    reason: str
    rollback_of: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceStopped(Event):
    kind: ClassVar[str] = "service-stopped"
    service: str
