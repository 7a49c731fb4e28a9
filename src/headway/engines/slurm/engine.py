"""The Slurm engine's five verbs: work that may block goes to threads, everything that must last is on disk.

An engine object holds nothing that a new one on the same records and share could not find again.
"""

import asyncio
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from headway.domain.errors import PlatformError
from headway.domain.ids import NAME, AttemptId, check_name
from headway.domain.resources import NodeState, Occupied
from headway.engines import leftovers
from headway.engines.become import empty, needs_sudo
from headway.engines.protocol import (
    Capability,
    Charge,
    CordonKind,
    Engine,
    EngineConfig,
    Finding,
    Handle,
    Inventory,
    LaunchOrder,
    Notice,
    Observation,
    Sight,
    UnixUser,
)
from headway.engines.slurm.books import read_books
from headway.engines.slurm.check import SiteCheck
from headway.engines.slurm.commands import Commands
from headway.engines.slurm.cordon import Cordoning
from headway.engines.slurm.deliver import Deliveries
from headway.engines.slurm.inventory import SlurmNode
from headway.engines.slurm.jobs import Job, find, read_past_jobs
from headway.engines.slurm.launch import Launching
from headway.engines.slurm.look import Look
from headway.engines.slurm.occupancy import coming_end, occupied
from headway.engines.slurm.place import MODE, Place
from headway.engines.slurm.record import Record, Records
from headway.engines.slurm.script import MARK
from headway.engines.slurm.settings import SlurmSettings, read_settings
from headway.engines.slurm.watch import NODE_CAUSES, Seen, Watch

LOG_PIECE = 65536
UNUSABLE = frozenset({NodeState.DOWN, NodeState.UNKNOWN})
# Accounting is asked from a little before the first submission on: clocks differ.
EARLIER = timedelta(hours=1)


def utc_now() -> datetime:
    """The machine's clock."""
    return datetime.now(UTC)


def open_engine(config: EngineConfig) -> Engine:
    """The Slurm engine of a server; options as in `settings.py`."""
    return SlurmEngine(read_settings(config))


class SlurmEngine:
    """One Slurm cluster, or the part of it that Headway may use."""

    name = "slurm"

    def __init__(self, settings: SlurmSettings, clock: Callable[[], datetime] = utc_now) -> None:
        self._settings, self._clock = settings, clock
        others = {Capability.NUDGES, Capability.KEEPS}  # an allocation ends with the batch job that had it
        self.can = frozenset(set(Capability) - others - (set() if settings.become else {Capability.BECOMES}))
        self._commands = Commands(settings, self.name)
        self._look = Look(self._commands, settings, clock)
        self._records = Records(settings.records)
        self._launching = Launching(settings, self._commands, self._look, self._records, self.name)
        self._watch = Watch(settings, self._commands, self._records, self._launching, Deliveries(settings))
        self._cordoning = Cordoning(self._commands)
        self._check = SiteCheck(settings, self._commands, self._look)
        self._guards: dict[AttemptId, threading.Lock] = defaultdict(threading.Lock)
        self._open = self._records.unfinished()
        if not settings.share.is_dir():
            settings.share.mkdir(parents=True, exist_ok=True)
            settings.share.chmod(MODE)

    @property
    def shares(self) -> Sequence[str]:
        """The one folder that a site must have everywhere, under the same path."""
        return (str(self._settings.share),)

    async def inventory(self) -> Inventory:
        """The site's nodes with devices, its own states and reasons. Raises `engine-unreachable`."""
        nodes = await asyncio.to_thread(self._look.nodes)
        return Inventory(tuple(node.node(self.name) for node in nodes.values()), self._clock())

    async def launch(self, order: LaunchOrder) -> Handle:
        """One `sbatch`; again: what was not submitted yet, and the same handle."""
        return await asyncio.to_thread(self._launch, order)

    async def observe(self, handles: Sequence[Handle]) -> Sequence[Observation]:
        """One question to Slurm for all of them; besides, whatever is due for these attempts is done."""
        return await asyncio.to_thread(self._observe, handles)

    async def stop(self, handle: Handle, grace: timedelta) -> None:
        """SIGTERM to the agents now; later calls cancel in Slurm what outlives `grace` and a little."""
        await asyncio.to_thread(self._stop, handle, grace)

    async def logs(self, handle: Handle, node: str) -> AsyncIterator[bytes]:
        """What Slurm, the agent's interpreter and the agent said themselves."""
        place = Place(self._settings.share, handle.attempt, node)
        for name in ("slurm.out", "agent.out", "agent.log"):
            offset = 0
            while piece := await asyncio.to_thread(place.piece, name, offset, LOG_PIECE):
                offset += len(piece)
                yield piece

    async def cordon(self, node: str, reason: str) -> CordonKind:
        """Drain a node, or what comes next to it. Raises `engine-unreachable`, `not-found`."""
        return await asyncio.to_thread(self._cordon, node, reason)

    async def uncordon(self, node: str) -> None:
        """Take back this engine's own cordon. Raises `engine-unreachable`, `not-found`."""
        await asyncio.to_thread(self._uncordon, node)

    async def occupied(self) -> Sequence[Occupied]:
        """What jobs outside Headway use. Raises `engine-unreachable`."""
        return await asyncio.to_thread(self._occupied)

    async def unresponsive(self, nodes: Collection[str]) -> Collection[str]:
        """Nodes that do not answer slurmctld, which says so well before it calls them down."""
        known = await asyncio.to_thread(self._look.nodes_newly)
        return {name for name in nodes if name not in known or not known[name].responds}

    async def charged(self, since: datetime) -> Sequence[Charge]:
        """What Slurm's accounting counts for attempts, all incarnations of a job together."""
        return read_books(await asyncio.to_thread(self._commands.books, since))

    async def check(self, server_url: str, users: Sequence[UnixUser] = ()) -> Sequence[Finding]:
        """Name what the site lacks."""
        return await asyncio.to_thread(self._check.run, server_url, users)

    async def notices(self, handles: Sequence[Handle]) -> Sequence[Notice]:
        """Ends by time limit or preemption that are near."""
        return await asyncio.to_thread(self._notices, handles)

    async def kept(self) -> Sequence[AttemptId]:
        """Every attempt that has a folder on the share."""
        return await asyncio.to_thread(self._kept)

    async def clear(self, attempt: AttemptId) -> int | None:
        """Remove an attempt's folder, unless something of it is left to do or to tell."""
        return await asyncio.to_thread(self._clear, attempt)

    def _kept(self) -> Sequence[AttemptId]:
        try:
            return leftovers.kept(self._settings.share)
        except OSError as error:
            raise self._commands.unreachable(str(error)) from error

    def _clear(self, attempt: AttemptId) -> int | None:
        with self._guards[attempt]:
            record = self._records.read(attempt)
            places = [Place(self._settings.share, attempt, node) for node in record.nodes] if record else []
            if record is None or not record.is_done or not all(place.is_finished for place in places):
                return None
            for place in places:
                if record.user is not None and needs_sudo(record.user) and place.path.is_dir():
                    empty(record.user, place.path)
            try:
                return leftovers.remove(self._settings.share, attempt)
            except OSError as error:
                raise self._commands.unreachable(str(error)) from error

    def _cordon(self, node: str, reason: str) -> CordonKind:
        kind = self._cordoning.cordon(self._known(node).host, reason)
        self._look.forget_nodes()
        return kind

    def _uncordon(self, node: str) -> None:
        self._look.forget_nodes()
        known = self._known(node)
        self._cordoning.uncordon(known.host, known.reason)
        self._look.forget_nodes()

    def _known(self, node: str) -> SlurmNode:
        nodes = self._look.nodes()
        if node not in nodes:
            raise PlatformError("not-found", what="node", value=node, near=", ".join(nodes))
        return nodes[node]

    def _occupied(self) -> Sequence[Occupied]:
        return occupied(self._look.jobs(), tuple(self._look.nodes().values()), self._is_ours)

    def _is_ours(self, job: Job) -> bool:
        # A name is anybody's choice, and would be a path here.
        if job.comment != MARK + job.name or not NAME.fullmatch(job.name) or ".." in job.name:
            return False
        record = self._records.read(AttemptId(job.name))
        return record is not None and record.owner == job.user

    def _notices(self, handles: Sequence[Handle]) -> list[Notice]:
        found = []
        for handle, job in self._with_jobs(handles):
            record = self._records.read(handle.attempt)
            if isinstance(job, Job) and record is not None:
                limit = None if record.limit_s is None else timedelta(seconds=record.limit_s)
                found.append(coming_end(handle.attempt, job, limit, self._settings.notice, self._clock()))
        return [notice for notice in found if notice is not None]

    def _launch(self, order: LaunchOrder) -> Handle:
        check_name("attempt", order.attempt)
        with self._guards[order.attempt]:
            try:
                record = self._launching.launch(order, self._clock)
            except OSError as error:
                raise self._commands.unreachable(str(error)) from error
            if not record.is_done:
                self._open.add(order.attempt)
            return record.handle(self.name)

    def _observe(self, handles: Sequence[Handle]) -> list[Observation]:
        asked = {handle.attempt for handle in handles}
        others = [record for each in self._open - asked if (record := self._records.read(each))]
        seen = {}
        for handle, job in self._with_jobs([*handles, *(record.handle(self.name) for record in others)]):
            with self._guards[handle.attempt]:
                seen[handle.attempt] = self._see(handle, job)
        now = self._clock()
        return [
            _observation(handle.attempt, node, seen[handle.attempt][node], now)
            for handle in handles
            for node in handle.nodes
        ]

    def _see(self, handle: Handle, job: Job | PlatformError | None) -> Mapping[str, Seen]:
        try:
            record = self._records.read(handle.attempt)
            if record is None:
                return dict.fromkeys(handle.nodes, Seen(Sight.ABSENT))
            if isinstance(job, PlatformError):
                return self._watch.blind(record, str(job))
            if not self._settings.share.is_dir():
                raise FileNotFoundError(f"{self._settings.share} is not there")
            if record.is_done:
                self._open.discard(handle.attempt)
            return self._watch.look(record, job, self._failed(record, job), self._clock)
        except (OSError, ValueError, PlatformError) as error:
            return dict.fromkeys(handle.nodes, Seen(Sight.UNKNOWN, str(error)))

    def _failed(self, record: Record, job: Job | None) -> frozenset[str]:
        """The nodes for which Slurm failed a job: those it cannot use now, else any of the job's."""
        if job is None or job.cause not in NODE_CAUSES or record.is_over:
            return frozenset()
        nodes = self._look.nodes_since(job.ends or self._clock())
        gone = {node for node in record.nodes if node not in nodes or nodes[node].state in UNUSABLE}
        return frozenset(gone or record.nodes)

    def _stop(self, handle: Handle, grace: timedelta) -> None:
        ((_, job),) = self._with_jobs([handle])
        with self._guards[handle.attempt]:
            record = self._records.read(handle.attempt)
            if record is not None:
                self._watch.stop(record, None if isinstance(job, PlatformError) else job, grace, self._clock())
        if isinstance(job, PlatformError):
            raise job

    def _with_jobs(self, handles: Sequence[Handle]) -> list[tuple[Handle, Job | PlatformError | None]]:
        """Each handle with its job, from slurmctld or else from accounting; an error where that did not answer."""
        records = {handle.attempt: self._records.read(handle.attempt) for handle in handles}
        try:
            jobs = self._look.jobs()
        except PlatformError as error:
            return [(handle, error) for handle in handles]
        by_name: dict[str, list[Job]] = defaultdict(list)
        for job in jobs:
            by_name[job.name].append(job)
        owners = {attempt: record.owner for attempt, record in records.items() if record}
        found = {attempt: find(attempt, owner, by_name[attempt]) for attempt, owner in owners.items()}
        missing = [record for record in records.values() if record and found[record.attempt] is None]
        past = self._past([record for record in missing if not record.is_over])
        return [(handle, found.get(handle.attempt) or past.get(handle.attempt)) for handle in handles]

    def _past(self, records: Sequence[Record]) -> dict[AttemptId, Job | PlatformError | None]:
        """What accounting tells of jobs slurmctld knows no more; without accounting the share tells what is left."""
        old = [record for record in records if record.tried_at and self._has_settled(record)]
        if not old:
            return {}
        since = datetime.fromtimestamp(min(record.tried_at or 0 for record in old), UTC) - EARLIER
        try:
            jobs = read_past_jobs(self._commands.past_jobs([record.attempt for record in old], since))
        except PlatformError as error:
            if "disabled" in str(error):
                return {}
            return {record.attempt: error for record in old}
        return {record.attempt: _ended(find(record.attempt, record.owner, jobs)) for record in old}

    def _has_settled(self, record: Record) -> bool:
        return (
            self._clock().timestamp() - (record.missed_at or record.tried_at or 0)
            >= self._settings.settle.total_seconds()
        )


def _ended(job: Job | None) -> Job | None:
    """Accounting's word counts only for ends: it goes on calling running what a controller has forgotten."""
    return job if job is not None and job.is_over else None


def _observation(attempt: AttemptId, node: str, seen: Seen, at: datetime) -> Observation:
    return Observation(attempt, node, seen.sight, at, seen.detail, seen.cause, seen.waiting, seen.late)
