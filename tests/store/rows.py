"""Values for the store's tests, and the rows that others depend on."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection

from headway.domain.attempt import Attempt
from headway.domain.ids import AttemptId, JobId, attempt_id
from headway.domain.job import CheckpointPolicy, Job, JobKind, JobSpec, Launcher, Priority, RecoveryPolicy
from headway.domain.lifecycle import AttemptState, JobState
from headway.domain.quota import Department, Project, Quota
from headway.domain.resources import Maker, Node, Placement, Request
from headway.store import attempts, jobs, quotas

NOW = datetime(2026, 12, 1, 8, 30, 0, 123456, tzinfo=UTC)
JOB = JobId("j-aaaaaaaa")
ATTEMPT = AttemptId("j-aaaaaaaa.1")
PLACEMENTS = (Placement("n1", (0, 1)), Placement("n2", (0, 1)))


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def a_spec(name: str = "train", project: str = "vision", **changes: object) -> JobSpec:
    """A specification that uses every field."""
    spec: dict[str, object] = {
        "kind": JobKind.TRAINING,
        "template": "tiny-gpt@1",
        "command": ("python3", "train.py", "--名字", "进程"),
        "request": Request(nodes=2, devices_per_node=2, ranks_per_node=1, device_types=("cpu", "h200")),
        "launcher": Launcher.TORCHRUN,
        "priority": Priority.HIGH,
        "parameters": {"steps": "60"},
        "env": {"OMP_NUM_THREADS": "1"},
        "workdir": "/home/ann",
        "limit": timedelta(hours=1, microseconds=7),
        "checkpoint": CheckpointPolicy(every_steps=10, keep=3),
        "recovery": RecoveryPolicy(retries=2, grace=timedelta(seconds=2.5)),
        "dataset": "stdlib@1",
        "commit": "0123abc",
        "ready_path": "/health",
    }
    return JobSpec(name=name, project=project, **(spec | changes))  # type: ignore[arg-type]


def a_job(id: str = JOB, submitted_s: float = 0, spec: JobSpec | None = None, **changes: object) -> Job:
    values: dict[str, object] = {"owner": "ann", "state": JobState.QUEUED, "submitted_at": later(submitted_s)}
    return Job(id=JobId(id), spec=spec or a_spec(), **(values | changes))  # type: ignore[arg-type]


def an_attempt(job: str = JOB, number: int = 1, **changes: object) -> Attempt:
    values: dict[str, object] = {
        "engine": "local",
        "device_type": "cpu",
        "placements": PLACEMENTS,
        "state": AttemptState.PLACED,
        "placed_at": NOW,
    }
    return Attempt(attempt_id(JobId(job), number), JobId(job), number, **(values | changes))  # type: ignore[arg-type]


def a_node(name: str = "n1", **changes: object) -> Node:
    values: dict[str, object] = {"engine": "local", "device_type": "cpu", "devices": 2, "maker": Maker.CPU}
    return Node(name, **(values | changes))  # type: ignore[arg-type]


def with_projects(c: Connection) -> None:
    """Two projects of one department, one of them with a quota."""
    quotas.add_department(c, Department("research", NOW))
    for name in ("vision", "speech"):
        quotas.add_project(c, Project(name, "research", NOW))
    quotas.set_quota(c, Quota("vision", "cpu", 4), at=NOW, by="admin")


def with_job(c: Connection) -> None:
    with_projects(c)
    jobs.insert(c, a_job())


def with_attempt(c: Connection) -> None:
    with_job(c)
    attempts.insert(c, an_attempt(), "digest-1")
