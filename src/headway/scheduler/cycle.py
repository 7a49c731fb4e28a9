"""One cycle of the queue: `schedule(snapshot) -> Plan`.

Decides which jobs start where and why each other one waits. It must never look outside the snapshot: equal snapshots
give equal plans.
"""

from collections.abc import Mapping, Sequence

from headway.scheduler.order import ahead_of_each, in_order
from headway.scheduler.plan import BehindOthers, CapacityShort, NodesUnfit, Plan, QuotaReached, Reason, Start, Waits
from headway.scheduler.snapshot import QueuedJob, Snapshot
from headway.scheduler.steps import Steps
from headway.scheduler.stock import Pool


def schedule(snapshot: Snapshot) -> Plan:
    """Give every queued job a start or a reason to wait.

    A gang starts whole or not at all; no project exceeds its quota; a later job passes an earlier one only where that
    delays no promised start.
    """
    steps = Steps(snapshot)
    starts: list[Start] = []
    waiting: list[tuple[QueuedJob, Reason]] = []
    for job in in_order(snapshot.queued):  # 1. Order: who is asked first.
        refusals: dict[Pool, Reason] = {}
        for pool in steps.pools_for(job):
            # 2. Quota: may its project have that many?  3. Fit: is there room for the whole gang?  4. Backfill: and
            # does nobody with a promised start come later for it?
            answer = steps.check_quota(job, pool) or steps.find_room(job, pool)
            if isinstance(answer, Start):
                steps.take(job, answer)
                starts.append(answer)
                break
            refusals[pool] = answer
        else:
            steps.reserve(job, refusals)  # 5. Reserve: the first to wait for a pool's capacity is promised a start.
            waiting.append((job, _dominant(job, refusals)))
    return Plan(snapshot.version, tuple(starts), _explained(waiting, steps))  # 6. Explain: where the others stand.


def _dominant(job: QueuedJob, refusals: Mapping[Pool, Reason]) -> Reason:
    """The refusal nearest to a start; of two alike, that of the more wanted pool."""
    if not refusals:
        wanted = ", ".join(job.request.device_types)
        return CapacityShort(wanted, job.request.devices, job.request.nodes, free=0, held=0)
    return min(refusals.values(), key=_distance)


def _distance(reason: Reason) -> tuple[int, int]:
    kinds = (BehindOthers, CapacityShort, QuotaReached, NodesUnfit)
    over = reason.used + reason.wanted - reason.quota if isinstance(reason, QuotaReached) else 0
    return kinds.index(type(reason)), over


def _explained(waiting: Sequence[tuple[QueuedJob, Reason]], steps: Steps) -> tuple[Waits, ...]:
    promised = steps.promised_starts()
    aheads = ahead_of_each([(job.id, steps.stock.accepted(job.request)) for job, _ in waiting])
    return tuple(
        Waits(job.id, position, reason, ahead, promised.get(job.id))
        for position, ((job, reason), ahead) in enumerate(zip(waiting, aheads, strict=True), start=1)
    )
