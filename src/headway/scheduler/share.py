"""What each project holds of each device type, against its quota.

A held claim counts as used, so that nobody spends the room a resume will need. Quota never holds up another project.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from headway.scheduler.claims import Claim
from headway.scheduler.plan import QuotaReached
from headway.scheduler.snapshot import QueuedJob


class Shares:
    """Devices used by project and type, as a cycle hands them out."""

    def __init__(self, quotas: Mapping[tuple[str, str], int], claims: Iterable[Claim]) -> None:
        self._quotas = quotas
        self._used: Counter[tuple[str, str]] = Counter()
        for claim in claims:
            self.add(claim)

    def add(self, claim: Claim) -> None:
        """Count a claim as used."""
        self._used[claim.project, claim.device_type] += claim.devices

    def drop(self, claim: Claim) -> None:
        """Count a claim no longer."""
        self._used[claim.project, claim.device_type] -= claim.devices

    def room(self, project: str, device_type: str) -> int:
        """How many devices more the project may take; negative where its quota was lowered below what it has."""
        return self._quotas.get((project, device_type), 0) - self._used[project, device_type]

    def reached(self, job: QueuedJob, device_type: str, own: int) -> QuotaReached | None:
        """The refusal, if this job would exceed its project's quota; `own` devices are used by its own hold."""
        quota = self._quotas.get((job.project, device_type), 0)
        used = self._used[job.project, device_type] - own
        wanted = job.request.devices
        return QuotaReached(job.project, device_type, quota, used, wanted) if used + wanted > quota else None
