"""Who has devices at the desk: running jobs, and holds."""

from typing import NamedTuple

from headway.domain.ids import JobId
from headway.scheduler.predict import Traits


class Claim(NamedTuple):
    """Devices taken by, or kept for, one job. `spots`: (node, devices) on nodes that are up; `devices`: all of them.

    `end`: when they are believed to come free, None if nobody knows. `own_end`: the job itself
    says so. `expires`: when a hold is over.
    """

    job: JobId
    account: int
    person: str
    pool: int
    spots: tuple[tuple[int, int], ...]
    devices: int
    began: float
    end: float | None
    traits: Traits | None = None
    own_end: bool = False
    expires: float | None = None
    array: str | None = None
    takeable: bool = True
    saved: float | None = None
    stopping: bool = False
