"""The working state between cycles: free devices, who has the rest, the queue, the quota accounts.

Changes one event at a time (a submission, an end, time passing), so that one event costs little however long the queue
is. Decides nothing: a `Turn` does.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

from headway.domain.ids import JobId
from headway.domain.quota import flat
from headway.domain.resources import NodeState, Placement
from headway.scheduler.claims import held_claims
from headway.scheduler.desk.accounts import Accounts
from headway.scheduler.desk.asks import Asking
from headway.scheduler.desk.claims import Claim
from headway.scheduler.desk.endings import Endings, Spots
from headway.scheduler.desk.lines import Ask, Lines
from headway.scheduler.desk.pool import Pool
from headway.scheduler.predict import Predictor, traits_of
from headway.scheduler.share import FairShare
from headway.scheduler.snapshot import QueuedJob, RunningJob, Snapshot


class Desk:
    """Everything a cycle reads and changes."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.epoch = snapshot.now
        self.now = 0.0
        self.policy = snapshot.policy
        self.windows = snapshot.windows
        self.predictor = Predictor(snapshot.runtimes)
        self.finished: dict[JobId, bool] = dict(snapshot.finished)
        self.pools, self.names, self.where = lay_out(snapshot)
        tree = flat(snapshot.quotas) if snapshot.tree is None else snapshot.tree
        self.accounts = Accounts(tree, snapshot.grants, snapshot.spent)
        self.accounts.at(self.epoch)
        for project, device_type in snapshot.usage:  # Who used something counts, whether it has a job now or not.
            self.accounts.account(project, device_type)
        self.fair = FairShare(snapshot.usage, snapshot.policy)
        self.claims: dict[JobId, Claim] = {}
        self.holds: dict[JobId, Claim] = {}
        self.endings = [Endings() for _ in self.pools]
        self.arrays: Counter[str] = Counter()
        self.lines = Lines()
        self.gated: dict[JobId, QueuedJob] = {}
        self.asking = Asking(self.pools, snapshot.policy)
        self._seat(sorted(snapshot.running, key=lambda job: (job.placed_at, job.id)))
        self._keep(snapshot)
        self._queue(snapshot.queued)

    def copy(self) -> "Desk":
        """A desk that changes apart from this one."""
        twin = object.__new__(Desk)
        twin.__dict__.update(self.__dict__)
        twin.pools = [pool.copy() for pool in self.pools]
        twin.accounts, twin.fair, twin.lines = self.accounts.copy(), self.fair.copy(), self.lines.copy()
        twin.claims, twin.holds = self.claims.copy(), self.holds.copy()
        twin.gated, twin.finished = self.gated.copy(), self.finished.copy()
        twin.endings = [endings.copy() for endings in self.endings]
        twin.arrays = self.arrays.copy()
        return twin

    def forget(self) -> None:
        """More may be known of run times now."""
        self.predictor.forget()
        self.asking.forget()

    def seconds(self, moment: datetime) -> float:
        """A moment in the desk's time."""
        return (moment - self.epoch).total_seconds()

    def moment(self, seconds: float) -> datetime:
        """A time of the desk as a moment."""
        return self.epoch + timedelta(seconds=seconds)

    def elapse(self, now: float) -> None:
        """Time passes and nothing else: what runs until now counts as used. Before any change that comes with it."""
        self.now = now
        self.fair.advance(now, self.accounts.rules, self._running())

    def advance(self, now: float) -> None:
        """Time has passed: holds run out, grants begin and end, gates open, overdue ends are predicted anew."""
        self.elapse(now)
        self.accounts.at(self.moment(now))
        for job, hold in [*self.holds.items()] if self.holds else ():
            if hold.expires is not None and hold.expires <= now:
                self._expire(job)
        for pool in range(len(self.pools)):
            self._predict_anew(pool)
        self.open_gates()

    def submit(self, job: QueuedJob) -> None:
        """A job comes into the queue, or to a gate before it."""
        if self.asking.gate(job, self) is None:
            self.lines.add(self.asking.ask(job, self))
        else:
            self.gated[job.id] = job

    def withdraw(self, job: JobId) -> QueuedJob:
        """A queued job that nobody wants any more leaves; what was held for it is free."""
        self.release_hold(job)
        return self.gated.pop(job) if job in self.gated else self.lines.remove(job).job

    def finish(self, job: JobId, *, succeeded: bool = True) -> None:
        """A running job has given its devices back."""
        claim = self.claims.pop(job)
        self._give_back(claim)
        self.finished[job] = succeeded
        if claim.array:
            self.arrays[claim.array] -= 1

    def place(self, ask: Ask, pool: int, nodes: Sequence[int]) -> Claim:
        """A queued job takes devices; its hold is over."""
        job, line = ask.id, self.lines.lines[ask.line]
        if self.holds:
            self.release_hold(job)
        self.lines.remove(job)
        account, wanted, array = line.accounts[line.pools.index(pool)], line.wanted, line.array
        spots = tuple([(node, wanted) for node in nodes])
        end, takeable = self._believed_end(ask), not ask.job.protected and ask.job.preemptible
        owner, devices, own_end, expires = line.owner, line.devices, False, None
        claim = Claim(
            job, account, owner, pool, spots, devices, self.now, end, ask.traits, own_end, expires, array, takeable
        )
        self._take(claim)
        self.claims[job] = claim
        if array:
            self.arrays[array] += 1
        return claim

    def _believed_end(self, ask: Ask) -> float | None:
        if ask.job.remaining is not None:
            return self.now + ask.job.remaining.total_seconds()
        length = self.asking.length(self.predictor, ask.traits, 0.0)
        return None if length is None else self.now + length

    def hold(self, claim: Claim) -> None:
        """Keep devices for a job."""
        self.holds[claim.job] = claim
        self._take(claim)

    def release_hold(self, job: JobId) -> Claim | None:
        """What was held for a job is free."""
        hold = self.holds.pop(job, None) if self.holds else None
        if hold:
            self._give_back(hold)
        return hold

    def open_gates(self) -> None:
        """Jobs whose dependencies, approval or time have come join the queue."""
        for job in [job for job in self.gated.values() if self.asking.gate(job, self) is None] if self.gated else ():
            del self.gated[job.id]
            self.lines.add(self.asking.ask(job, self))

    def _queue(self, queued: Sequence[QueuedJob]) -> None:
        open_now = []
        waiting = {job.id for job in queued}
        for job in queued:
            if self.asking.gate(job, self, waiting) is None:
                open_now.append(self.asking.ask(job, self))
            else:
                self.gated[job.id] = job
        self.lines.fill(open_now)
        self.elapse(0.0)

    def _running(self) -> Sequence[int]:
        """Devices in use by account: what is only held is not used."""
        if not self.holds:
            return self.accounts.used
        used = self.accounts.used[:]
        for hold in self.holds.values():
            for number in self.accounts.chains[hold.account]:
                used[number] -= hold.devices
        return used

    def _seat(self, running: Sequence[RunningJob]) -> None:
        taken: list[list[tuple[int, int]]] = [[] for _ in self.pools]
        for job in running:
            claim = self._claim(job)
            self.claims[job.id] = claim
            self.accounts.add(claim.account, claim.person, claim.devices)
            if claim.spots:
                taken[claim.pool] += claim.spots
                if claim.end is not None:
                    self.endings[claim.pool].add(claim.end, claim.job, claim.spots)
            if job.array:
                self.arrays[job.array] += 1
        for pool, spots in zip(self.pools, taken, strict=True):
            pool.settle(spots)

    def _claim(self, job: RunningJob) -> Claim:
        spots, pool = self._spots(job.placements)
        began, traits = self.seconds(job.placed_at), traits_of(job)
        end, own_end = None, job.expected_end is not None
        if job.expected_end is not None:
            end = self.seconds(job.expected_end)
        elif (length := self.asking.length(self.predictor, traits, max(0.0, -began))) is not None:
            end = began + length
        return Claim(
            job=job.id,
            account=self.accounts.account(job.project, job.device_type),
            person=job.owner,
            pool=pool,
            spots=spots,
            devices=traits.devices,
            began=began,
            end=end,
            traits=traits,
            own_end=own_end,
            array=job.array,
            takeable=not job.protected and job.preemptible,
            saved=None if job.saved_at is None else self.seconds(job.saved_at),
            stopping=job.stopping,
        )

    def _keep(self, snapshot: Snapshot) -> None:
        owners = {job.id: job.owner for job in snapshot.queued} if snapshot.holds else {}
        untils = {hold.job: hold.until for hold in snapshot.holds}
        for held in held_claims(snapshot):
            spots, pool = self._spots(held.placements)
            account = self.accounts.account(held.project, held.device_type)
            end = None if held.ends is None else self.seconds(held.ends)
            claim = Claim(held.job, account, owners.get(held.job, ""), pool, spots, held.devices, 0.0, end)
            self.hold(claim._replace(expires=self.seconds(untils[held.job])))

    def _expire(self, job: JobId) -> None:
        """A hold is over; its job stands in line with the others."""
        self.release_hold(job)
        if job in self.lines.asks:
            self.lines.add(self.asking.ask(self.lines.remove(job).job, self))

    def _spots(self, placements: Sequence[Placement]) -> tuple[Spots, int]:
        spots, pool = [], 0
        for placement in placements:
            place = self.where.get(placement.node)
            if place is not None:
                pool = place[0]
                if self.pools[pool].up[place[1]]:
                    spots.append((place[1], len(placement.devices)))
        return tuple(spots), pool

    def _take(self, claim: Claim) -> None:
        if claim.spots:
            self.pools[claim.pool].take(claim.spots)
            if claim.end is not None:
                self.endings[claim.pool].add(claim.end, claim.job, claim.spots)
        self.accounts.add(claim.account, claim.person, claim.devices)

    def _give_back(self, claim: Claim) -> None:
        if claim.spots:
            self.pools[claim.pool].give(claim.spots)
            if claim.end is not None:
                self.endings[claim.pool].drop(claim.end, claim.job)
        self.accounts.add(claim.account, claim.person, -claim.devices)

    def _predict_anew(self, pool: int) -> None:
        """Jobs that outlived their predictions have one again, given that they have run this long, up to the first of
        which nothing more is known."""
        known = True
        for end, job, spots in self.endings[pool].overdue(self.now):
            later = self._later_end(job) if known else None
            known = later is not None
            if later is not None:
                self.claims[job] = self.claims[job]._replace(end=later)
            self.endings[pool].add(end if later is None else later, job, spots)

    def _later_end(self, job: JobId) -> float | None:
        """A believed end after now for a job that outlived its own."""
        claim = self.claims.get(job)
        if claim is None or claim.traits is None or claim.own_end or self.policy.fifo:
            return None
        length = self.asking.length(self.predictor, claim.traits, self.now - claim.began)
        return None if length is None or claim.began + length <= self.now else claim.began + length


def lay_out(snapshot: Snapshot) -> tuple[list[Pool], list[list[str]], dict[str, tuple[int, int]]]:
    """The pools by name; the names of their nodes; and pool and index of each node."""
    members: dict[tuple[str, str], list[int]] = defaultdict(list)
    nodes = sorted(snapshot.nodes, key=lambda node: node.name)
    for index, node in enumerate(nodes):
        members[node.device_type, node.engine].append(index)
    pools, names, where = [], [], {}
    for number, (device_type, engine) in enumerate(sorted(members)):
        mine = [nodes[index] for index in members[device_type, engine]]
        pool = Pool(device_type, engine, [n.devices for n in mine], [n.state is NodeState.UP for n in mine])
        if any(snapshot.domain_label in node.labels for node in mine):
            pool.domains = [node.labels.get(snapshot.domain_label, "") for node in mine]
        pools.append(pool)
        names.append([node.name for node in mine])
        where.update({node.name: (number, index) for index, node in enumerate(mine)})
    return pools, names, where
