"""What is seen of each part of an attempt, from Slurm's word and the agent's last one, and what is due there.

The agent's word wins: Slurm's exit code is that of the highest rank. Every look does at most a quick thing and leaves
it on disk. What Slurm does not answer is UNKNOWN; what it has forgotten is looked for on the share before anything is
concluded.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headway.domain.errors import PlatformError, say
from headway.engines.protocol import WITHDRAWN, Cause, Sight, word_of
from headway.engines.slurm.commands import Commands
from headway.engines.slurm.deliver import Deliveries
from headway.engines.slurm.jobs import Job
from headway.engines.slurm.launch import TRIES, Launching
from headway.engines.slurm.place import Place
from headway.engines.slurm.record import Record, Records, Stop
from headway.engines.slurm.settings import SlurmSettings

AGENT_LOST = "agent-lost"
NODE_CAUSES = frozenset({Cause.NODE_FAIL, Cause.BOOT_FAIL})
TELL_EVERY = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Seen:
    """One part's sight, and Slurm's words about it."""

    sight: Sight
    detail: str | None = None
    cause: Cause | None = None
    waiting: str | None = None
    late: bool = False


class Watch:
    """Sees what became of attempts, and finishes what their agents cannot."""

    def __init__(
        self,
        settings: SlurmSettings,
        commands: Commands,
        records: Records,
        launching: Launching,
        deliveries: Deliveries,
    ) -> None:
        self._settings, self._commands, self._records = settings, commands, records
        self._launching, self._deliveries = launching, deliveries

    def look(
        self, record: Record, job: Job | None, failed: Collection[str], clock: Callable[[], datetime]
    ) -> Mapping[str, Seen]:
        """What is seen of each node's part. `job`: what Slurm tells of it, None when it knows nothing; `failed`: the
        nodes for which Slurm failed it."""
        if record.is_done:
            return {node: _kept(record, node) for node in record.nodes}
        if job is not None and record.missed_at is not None:
            record = self._records.write(replace(record, missed_at=None))
        if job is None and not record.is_over:
            record = self._missed(record, clock)
        now = clock()
        record = self._press(record, job, now)
        seen = {node: self._part(record, job, node, node in failed, now) for node in record.nodes}
        self._close(record, job, seen, now)
        return seen

    def stop(self, record: Record, job: Job | None, grace: timedelta, now: datetime) -> None:
        """Ask for an end within `grace`; asked again, the earlier deadline holds. No grace: it is cancelled now."""
        if record.is_over:
            return
        deadline = (now + grace).timestamp()
        known = record.stop
        if known is None or deadline < known.deadline:
            stop = replace(known, deadline=deadline) if known and grace else Stop(now.timestamp(), deadline)
            record = self._records.write(replace(record, stop=stop))
        self._press(record, job, now)

    def blind(self, record: Record, detail: str) -> Mapping[str, Seen]:
        """What can be said while Slurm does not answer: only what the agents have written."""
        return {
            node: _closed(record, node) or _last_word(self._place(record, node)) or Seen(Sight.UNKNOWN, detail)
            for node in record.nodes
        }

    def _part(self, record: Record, job: Job | None, node: str, failed: bool, now: datetime) -> Seen:
        place = self._place(record, node)
        cause = _cause(job, failed)
        if said := _closed(record, node) or _last_word(place, cause):
            return said
        if job is None:
            return self._forgotten(record, place, now)
        if not job.is_over:
            return _running(record, job, now, self._settings.pending)
        if not place.has_begun:
            if record.stop and place.withdraw(record.stop.at, record.user):
                return Seen(Sight.ENDED, WITHDRAWN)
            return Seen(Sight.ABSENT, place.tail() or job.state.lower(), cause)
        if not failed and place.is_locked():
            return Seen(Sight.RUNNING, "ending", cause)
        # The agent may have written its last word since it was looked for.
        return _last_word(place, cause) or Seen(Sight.AGENT_LOST, job.state.lower(), cause)

    def _forgotten(self, record: Record, place: Place, now: datetime) -> Seen:
        """Slurm knows no such job: it has not come up yet, or a controller lost its last seconds."""
        if place.has_begun:
            if place.is_locked():
                return Seen(Sight.RUNNING, say("forgotten"))
            return _last_word(place) or Seen(Sight.AGENT_LOST, say("forgotten"))
        if record.stop and place.withdraw(record.stop.at, record.user):
            return Seen(Sight.ENDED, WITHDRAWN)
        if record.tries >= TRIES and not self._is_fresh(record, now):
            return Seen(Sight.ABSENT, say("forgotten"))
        return Seen(Sight.RUNNING, "submitted", waiting="submitted")

    def _missed(self, record: Record, clock: Callable[[], datetime]) -> Record:
        """Submit again what Slurm has forgotten before any rank started; `begun` keeps ranks from starting twice."""
        now = clock()
        if record.missed_at is None:
            record = self._records.write(replace(record, missed_at=now.timestamp()))
        began = any(self._place(record, node).has_begun for node in record.nodes)
        if began or record.stop or record.tries >= TRIES or self._is_fresh(record, now):
            return record
        try:
            return self._launching.submit(record, clock)
        except PlatformError:
            # Refused or unreachable, the next look tries again, so often and no more.
            return self._records.read(record.attempt) or record

    def _is_fresh(self, record: Record, now: datetime) -> bool:
        """Whether the job may still come up: submitted, or missed for the first time, a moment ago."""
        latest = max(record.tried_at or 0.0, record.missed_at or 0.0)
        return now.timestamp() - latest < self._settings.settle.total_seconds()

    def _press(self, record: Record, job: Job | None, now: datetime) -> Record:
        """Carry a stop further: out of Slurm's queue, SIGTERM to the agents by way of SIGURG, then Slurm's cancel."""
        stop = record.stop
        if stop is None or job is None or job.is_over:
            return record
        late = now - datetime.fromtimestamp(stop.deadline, now.tzinfo)
        told = stop.told_at is not None and now.timestamp() - stop.told_at < TELL_EVERY.total_seconds()
        if told:
            return record
        if job.is_waiting or stop.is_at_once or late > self._settings.kill_after:
            self._commands.cancel(record.attempt, record.owner, record.user)
        elif job.state == "RUNNING":
            self._commands.cancel(record.attempt, record.owner, record.user, "URG")
        return self._records.write(replace(record, stop=replace(stop, told_at=now.timestamp())))

    def _close(self, record: Record, job: Job | None, seen: Mapping[str, Seen], now: datetime) -> None:
        """See that what dead agents knew is delivered, and keep the sights of an attempt that is over for good."""
        if job is not None and not job.is_over:
            return
        over = {node: part for node, part in seen.items() if part.sight in (Sight.ENDED, Sight.AGENT_LOST)}
        closed = {node: (str(part.sight), part.detail, part.cause) for node, part in over.items()} | dict(record.closed)
        ends = job.ends.timestamp() if job is not None and job.ends is not None else record.ends
        # What was lost stays lost, even if its agent was only cut off and speaks again.
        kept = replace(record, closed=closed, ends=record.ends if closed == record.closed else ends)
        due = [node for node in over if node not in record.delivered]
        done = [node for node in due if self._deliveries.advance(self._place(kept, node), kept, over[node].sight, now)]
        kept = replace(kept, delivered=(*record.delivered, *done))
        if kept != record:
            self._records.write(kept)

    def _place(self, record: Record, node: str) -> Place:
        return Place(self._settings.share, record.attempt, node)


def _running(record: Record, job: Job, now: datetime, patience: timedelta) -> Seen:
    if job.is_waiting:
        waited = now.timestamp() - (record.tried_at or now.timestamp())
        return Seen(Sight.RUNNING, "waiting", waiting=job.reason, late=waited > patience.total_seconds())
    return Seen(Sight.RUNNING, "stopping" if record.stop else job.state.lower())


def _cause(job: Job | None, failed: bool) -> Cause | None:
    """Of the nodes of a job that Slurm failed for one of them, the others did nothing wrong."""
    if job is None or (job.cause in NODE_CAUSES and not failed):
        return None
    return job.cause


def _last_word(place: Place, cause: Cause | None = None) -> Seen | None:
    """What the agent, or who buried it, wrote at the end."""
    final = place.final()
    reason = final.get("reason")
    if reason is None:
        return None
    if reason != AGENT_LOST:
        return Seen(Sight.ENDED, word_of(final), cause)
    return Seen(Sight.AGENT_LOST, place.tail(), cause)


def _closed(record: Record, node: str) -> Seen | None:
    return _kept(record, node) if node in record.closed else None


def _kept(record: Record, node: str) -> Seen:
    sight, detail, cause = record.closed[node]
    return Seen(Sight(sight), detail, Cause(cause) if cause else None)
