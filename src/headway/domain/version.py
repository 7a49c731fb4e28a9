"""Registered data and weights with their lineage."""

from dataclasses import dataclass, field
from datetime import datetime

from headway.domain.ids import AttemptId, JobId


@dataclass(frozen=True, slots=True)
class DatasetVersion:
    """A version of a data set: a folder and the digest of its manifest. Referred to as `name@number`."""

    name: str
    number: int
    path: str
    digest: str
    bytes: int
    files: int
    created_at: datetime
    created_by: str
    note: str = ""

    @property
    def reference(self) -> str:
        return f"{self.name}@{self.number}"


@dataclass(frozen=True, slots=True)
class Lineage:
    """Where weights came from: enough to make them again."""

    job: JobId
    attempt: AttemptId
    step: int
    checkpoint: str
    checkpoint_digest: str
    template: str
    parameters: dict[str, str]
    dataset: str | None
    dataset_digest: str | None
    commit: str | None
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelVersion:
    """Registered weights. Referred to as `name@number`."""

    name: str
    number: int
    project: str
    path: str
    digest: str
    bytes: int
    created_at: datetime
    created_by: str
    lineage: Lineage

    @property
    def reference(self) -> str:
        return f"{self.name}@{self.number}"
