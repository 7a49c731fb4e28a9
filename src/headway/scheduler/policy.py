"""How a site wants its queue run: few numbers, each with a default that suits most.

Values only; what they do is decided where they are read.
"""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Policy:
    """Settings of order, backfill and reclaim.

    `fifo`: within a class nothing but age counts, and run times are the users' limits (classic backfill).
    `reservations`: how many blocked jobs are promised a start a pool. `firm_after`: from how long a wait on a promise
    keeps the nodes that are free the soonest. `stretch`: a job counts as submitted later by
    this many times its predicted length, at most `short_first` later, a gang of several nodes at most `gang_first`:
    when its turn has come, nodes have yet to empty for it. `fair_shift`: how much later it counts for each
    doubling of its project's use over its share, at most `fair_bound` either way. `half_life`: of past use.
    `min_run`: how long a job on borrowed quota may run before it can be taken.
    """

    fifo: bool = False
    reservations: int = 1
    firm_after: timedelta = timedelta(days=1)
    stretch: float = 4.0
    short_first: timedelta = timedelta(days=4)
    gang_first: timedelta = timedelta(hours=60)
    fair_shift: timedelta = timedelta(minutes=15)
    fair_bound: timedelta = timedelta(hours=2)
    half_life: timedelta = timedelta(days=7)
    min_run: timedelta = timedelta(minutes=30)
    reclaim: bool = True
