"""Which ranks run on which node of an attempt: they are numbered node by node."""

from headway.domain.attempt import Attempt
from headway.domain.job import Job


def ranks_of(job: Job, attempt: Attempt) -> dict[str, range]:
    """The ranks of each node, in the order of the placements."""
    each = job.spec.request.ranks_per_node
    return {
        placement.node: range(index * each, (index + 1) * each) for index, placement in enumerate(attempt.placements)
    }
