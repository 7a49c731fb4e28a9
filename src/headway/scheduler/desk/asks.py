"""How a queued job comes to the desk: what gates it, what line it stands in, and what it counts as submitted at.

Decides order within a class: a job counts as submitted later by a bounded multiple of its predicted length, so that
short jobs go first and nothing waits for ever.
"""

from collections.abc import Collection, Sequence
from math import ceil, log2
from typing import TYPE_CHECKING, NamedTuple

from headway.domain.ids import JobId
from headway.domain.job import Priority
from headway.scheduler.desk.lines import Ask, Common
from headway.scheduler.desk.pool import Pool
from headway.scheduler.plan import ApprovalPending, DependencyFailed, DependencyPending, NotBefore, Reason
from headway.scheduler.policy import Policy
from headway.scheduler.predict import Kind, Predictor, Traits, seconds_of, traits_of
from headway.scheduler.snapshot import QueuedJob

if TYPE_CHECKING:
    from headway.scheduler.desk.desk import Desk

USUAL = 0.6
"""The quantile of run times lately that the order goes by."""
AT_MOST = 0.9
"""The quantile of run times for windows, and where no limit says when a job is over."""
GRID = 4
"""Predictions are rounded up to 2^(1/GRID), so that jobs predicted nearly alike are alike."""
_CLASSES = {priority: priority.order for priority in Priority}


def rank(job: QueuedJob) -> int:
    """What no length and no age outweighs: who resumes is first, then the priority class."""
    return (0 if job.resuming else 10) + _CLASSES[job.priority]


class _Lengths(NamedTuple):
    usual: float | None
    at_most: float | None
    bound: float | None
    shift: float


class Asking:
    """Makes asks of queued jobs, by one policy."""

    def __init__(self, pools: Sequence[Pool], policy: Policy) -> None:
        self._pools = pools
        self._policy = policy
        self._accepted: dict[tuple[tuple[str, ...], tuple[str, ...]], tuple[int, ...]] = {}
        self._lengths: dict[tuple[Kind, float | None, bool], _Lengths] = {}
        self._runs: dict[Traits, float | None] = {}

    def gate(self, job: QueuedJob, desk: "Desk", waiting: Collection[JobId] = ()) -> Reason | None:
        """What must come before the job may queue at all."""
        if job.awaits is not None:
            return ApprovalPending(job.awaits)
        for earlier in job.after_ok:
            if desk.finished.get(earlier) is not True:
                failed = earlier in desk.finished
                return DependencyFailed(earlier) if failed else DependencyPending(earlier, "succeeded")
        for earlier in job.after:
            if earlier not in desk.finished and self._is_known(earlier, desk, waiting):
                return DependencyPending(earlier, "ended")
        if job.not_before is not None and desk.seconds(job.not_before) > desk.now:
            return NotBefore(job.not_before)
        return None

    def ask(self, job: QueuedJob, desk: "Desk") -> Ask:
        """The job with its line and its place in it."""
        traits = traits_of(job)
        lengths = self._lengths_of(job, traits, desk.predictor)
        line = desk.lines.number(self._common(job, lengths, desk))
        counts_from = (job.submitted_at - desk.epoch).total_seconds() + lengths.shift
        return Ask(counts_from, job.id, job, traits, line, lengths.usual, lengths.shift)

    def length(self, predictor: Predictor, traits: Traits, ran: float) -> float | None:
        """How long a running job may run, from its start: to its limit, else as history believes."""
        if traits.limit is not None or self._policy.fifo:
            return traits.limit
        if ran:
            return predictor.longer_than(traits, ran, AT_MOST)
        try:
            return self._runs[traits]
        except KeyError:
            length = self._runs[traits] = predictor.quantile(traits, AT_MOST)
            return length

    def accepted(self, job: QueuedJob) -> tuple[int, ...]:
        """The pools a job may use, most wanted first: by device type, then by engine."""
        key = (job.request.device_types, job.engines)
        known = self._accepted.get(key)
        if known is None:
            types, engines = key
            able = [
                number
                for number, pool in enumerate(self._pools)
                if job.request.accepts(pool.device_type) and (not engines or pool.engine in engines)
            ]
            able.sort(
                key=lambda number: (
                    types.index(self._pools[number].device_type) if types else 0,
                    engines.index(self._pools[number].engine) if engines else 0,
                )
            )
            known = self._accepted[key] = tuple(able)
        return known

    def forget(self) -> None:
        """Predictions may have changed."""
        self._lengths.clear()
        self._runs.clear()

    def _common(self, job: QueuedJob, lengths: _Lengths, desk: "Desk") -> Common:
        """The fields of the job's `Line`."""
        hold = desk.holds.get(job.id) if desk.holds else None
        request, project, pools = job.request, job.project, self.accepted(job)
        nodes, wanted = request.nodes, request.devices_per_node
        if hold:
            pools = tuple(sorted(pools, key=lambda pool: not (hold.pool == pool and hold.spots)))
        return (
            rank(job),
            project,
            job.owner if desk.accounts.counts_people(project) else "",
            nodes,
            wanted,
            nodes * wanted,
            pools,
            self._accounts(project, pools, desk),
            lengths.at_most,
            lengths.bound,
            job.protected,
            job.excluded,
            job.array,
            job.array_cap,
            job.id if hold else None,
        )

    def _accounts(self, project: str, pools: tuple[int, ...], desk: "Desk") -> tuple[int, ...]:
        account = desk.accounts.account
        if len(pools) == 1:
            return (account(project, self._pools[pools[0]].device_type),)
        return tuple([account(project, self._pools[pool].device_type) for pool in pools])

    def _lengths_of(self, job: QueuedJob, traits: Traits, predictor: Predictor) -> _Lengths:
        gang = job.request.nodes > 1
        if job.remaining is not None:
            left = seconds_of(job.remaining)
            return _Lengths(left, left, left, self._shift(left, gang=gang))
        if self._policy.fifo:
            return _Lengths(None, traits.limit, traits.limit, 0.0)
        alike = (predictor.kind(traits), traits.limit, gang)
        known = self._lengths.get(alike)
        if known is None:
            usual = _rounded(predictor.usual(traits, USUAL), traits.limit)
            at_most = _rounded(predictor.quantile(traits, AT_MOST), traits.limit)
            bound = at_most if traits.limit is None else traits.limit
            known = self._lengths[alike] = _Lengths(usual, at_most, bound, self._shift(usual, gang=gang))
        return known

    def _shift(self, length: float | None, *, gang: bool) -> float:
        if self._policy.fifo:
            return 0.0
        most = (self._policy.gang_first if gang else self._policy.short_first).total_seconds()
        return most if length is None else min(most, self._policy.stretch * length)

    def _is_known(self, job: JobId, desk: "Desk", waiting: Collection[JobId]) -> bool:
        return job in waiting or job in desk.lines.asks or job in desk.claims or job in desk.gated


def _rounded(length: float | None, limit: float | None) -> float | None:
    """Up to the next step of the grid, but the user's own limit exactly."""
    if length is None or length == limit or length <= 0:
        return length
    up: float = 2.0 ** (ceil(GRID * log2(length)) / GRID)
    return up if limit is None else min(up, limit)
