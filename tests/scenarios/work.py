"""One job as a story follows it: what its agents do, and what the platform knows of it."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from headway.diagnosis.verdict import Verdict
from headway.domain.attempt import Attempt
from headway.domain.checkpoint import Checkpoint, LossBill
from headway.domain.events import Fact
from headway.domain.ids import AttemptId, JobId
from headway.domain.job import Job
from headway.registry.losses import Losses
from headway.scheduler.plan import Waits
from headway.sdk.job.environment import read_environment
from headway.sdk.job.run import Run
from headway.server.operations.jobs.losses import Recovery, losses, recoveries
from headway.server.operations.jobs.stopping import stop
from headway.store import attempts, bills, checkpoints, facts, jobs, plans, verdicts
from tests.scenarios.agents import Agent

if TYPE_CHECKING:
    from tests.scenarios.world import World

TOTAL = 3000


@dataclass
class Work:
    """A submitted job."""

    world: "World"
    id: JobId

    def __post_init__(self) -> None:
        self._agents: dict[AttemptId, list[Agent]] = {}

    @property
    def job(self) -> Job:
        with self.world.platform.database.read() as c:
            found = jobs.get(c, self.id)
        assert found is not None
        return found

    @property
    def state(self) -> str:
        return self.job.state.value

    @property
    def attempts(self) -> list[Attempt]:
        with self.world.platform.database.read() as c:
            return attempts.of_job(c, self.id)

    @property
    def attempt(self) -> Attempt:
        return self.attempts[-1]

    @property
    def agents(self) -> list[Agent]:
        """The agents of the newest attempt, by node rank."""
        attempt = self.attempt
        if attempt.id not in self._agents:
            per_node = self.job.spec.request.ranks_per_node
            self._agents[attempt.id] = [
                Agent(self.world, attempt.id, placement.node, range(index * per_node, (index + 1) * per_node))
                for index, placement in enumerate(attempt.placements)
            ]
        return self._agents[attempt.id]

    @property
    def spoken(self) -> list[Agent]:
        """Every agent of any attempt that has reported something."""
        return [agent for some in self._agents.values() for agent in some if agent.seq]

    @property
    def waits(self) -> Waits | None:
        with self.world.platform.database.read() as c:
            return plans.waits(c, self.id)

    @property
    def verdict(self) -> Verdict | None:
        """The newest there is."""
        with self.world.platform.database.read() as c:
            found = [verdicts.get(c, attempt.id) for attempt in attempts.of_job(c, self.id)]
        return next((verdict for verdict in reversed(found) if verdict is not None), None)

    @property
    def bills(self) -> list[LossBill]:
        with self.world.platform.database.read() as c:
            return bills.of_job(c, self.id)

    @property
    def recoveries(self) -> list[Recovery]:
        with self.world.platform.database.read() as c:
            return recoveries(c, self.job)

    @property
    def losses(self) -> Losses:
        with self.world.platform.database.read() as c:
            return losses(self.world.platform, c, self.job)

    @property
    def checkpoints(self) -> list[Checkpoint]:
        with self.world.platform.database.read() as c:
            return checkpoints.of_job(c, self.id)

    def facts(self, *kinds: str) -> list[Fact]:
        with self.world.platform.database.read() as c:
            return facts.all(c, job=self.id, kinds=kinds or None)

    def starts(self) -> "Work":
        """Every agent of the newest attempt starts its ranks."""
        for agent in self.agents:
            agent.starts()
        return self

    def reaches(self, step: int, loss: float = 1.0) -> None:
        """Every rank is at this step."""
        for agent in self.agents:
            for rank in agent.ranks:
                agent.tells(rank, "progress", step=step, total=TOTAL, metrics={"loss": loss})

    def saves(self, step: int, size: int | None = None) -> str:
        """Rank 0 saves a real checkpoint folder with the in-job SDK and says so, or that it is of another size."""
        folder = self.world.platform.checkpoints / self.id
        told = {"HEADWAY_JOB": self.id, "HEADWAY_ATTEMPT": "offline", "HEADWAY_CHECKPOINT_DIR": str(folder)}
        told["HEADWAY_ATTEMPT_NUMBER"] = str(self.attempt.number)
        saved = Run(read_environment(told)).checkpoints(extra={"step": step}, keep=100).save(step)
        assert saved is not None
        size = saved.manifest.bytes if size is None else size
        self.agents[0].tells(0, "checkpoint-saved", step=step, path=str(saved.path), bytes=size, seconds=0.5)
        return str(saved.path)

    def finishes(self) -> None:
        """Every rank ends with 0, everywhere."""
        for agent in self.agents:
            agent.all_exit(0)
        self._ends_on_its_machines()

    def breaks(self, rank: int = 0, *, code: int | None = None, signal: int | None = None, **more: Any) -> None:
        """One rank ends badly; the agents stop the rest of the gang, and everything has ended."""
        first = next(agent for agent in self.agents if rank in agent.ranks)
        first.exits_with(rank, code=code, signal=signal, **more)
        for agent in self.agents:
            agent.obeys("gang") if agent is not first else agent.ends()
        self._ends_on_its_machines()

    def obeys(self, reason: str = "user") -> None:
        """Its agents do as they are told: everything stops."""
        for agent in self.agents:
            agent.obeys(reason)
        self._ends_on_its_machines()

    def loses_its_agents(self) -> None:
        """The agents die without a word; the engine sees it from now on."""
        part = self.world.machines.parts[self.attempt.id]
        life = replace(part.life, loses_agent=self.world.now - part.launched_at)
        self.world.machines.write(self.attempt.id, life)

    def stop(self, reason: str = "user") -> None:
        """A person asks it to stop."""
        with self.world.platform.database.write() as c:
            stop(c, self.job, at=self.world.now, by="ann", reason=reason)

    def _ends_on_its_machines(self) -> None:
        part = self.world.machines.parts[self.attempt.id]
        life = replace(part.life, runs_for=self.world.now - part.launched_at)
        self.world.machines.write(self.attempt.id, life)
