"""Services: deploy a version as a serving job, shift shares, roll back, stop."""

from dataclasses import dataclass

from sqlalchemy import Connection

from headway.domain.asset_events import ServiceDeployed, ServiceStopped, TrafficShifted
from headway.domain.errors import PlatformError
from headway.domain.ids import check_name
from headway.domain.lifecycle import JobState
from headway.domain.service import Replica, ReplicaState, Service, Share, Split
from headway.domain.version import ModelVersion
from headway.registry import rollout
from headway.server.operations.assets.models import find_model
from headway.server.operations.jobs.stopping import stop
from headway.server.operations.jobs.submit import Submission, check_paths, find_template, is_number, submit
from headway.server.operations.people.directory import Change, require_project
from headway.server.platform import Platform
from headway.store import facts, jobs, services

TEMPLATE = "transformers-serve"


@dataclass(frozen=True, slots=True)
class Deployment:
    """What a person asks for: this version of a model behind that service's endpoint."""

    name: str
    project: str
    version: str
    template: str = TEMPLATE


def key_of(service: Service) -> str:
    """How splits and replicas name their service."""
    return services.key(service.name, service.project)


def deploy(platform: Platform, c: Connection, change: Change, wanted: Deployment) -> Service:
    """Start a serving job for a version. The first version of a new service gets all requests once ready."""
    check_name("name", wanted.name)
    require_project(c, wanted.project)
    version = _version(c, wanted.version, change.by)
    before = services.get(c, wanted.name, wanted.project)
    is_new = before is None or before.stopped_at is not None
    service = Service(wanted.name, wanted.project, change.at, change.by) if before is None or is_new else before
    if is_new:
        services.add(c, service)
    key = key_of(service)
    if any(r.version == version.reference and r.state != ReplicaState.GONE for r in services.replicas(c, key)):
        raise PlatformError("already-exists", field="version", value=f"{version.reference} in {key}")
    job = submit(platform, c, _submission(c, wanted, version), change.by)
    services.put_replica(c, Replica(key, version.reference, job.id, ReplicaState.STARTING))
    deployed = ServiceDeployed(at=change.at, by=change.by, service=key, version=version.reference, job=job.id)
    facts.append(c, deployed)
    if is_new:
        number = before.split.number + 1 if before is not None and before.split is not None else 1
        split = Split(key, number, (Share(version.reference, 100),), change.at, change.by, "first version")
        record_split(c, split)
    return service


def check_readable(platform: Platform, wanted: Deployment, by: str) -> None:
    """Raise what keeps the serving job from being submitted; outside any transaction, as `check_paths`."""
    with platform.database.read() as c:
        submission = _submission(c, wanted, _version(c, wanted.version, by))
    check_paths(platform, submission, by)


def shift(c: Connection, change: Change, service: Service, shares: dict[str, int], reason: str) -> Split:
    """Change the shares; every version that gets requests must be ready."""
    because = rollout.Change(change.at, change.by, reason)
    split = rollout.shift(service.split, shares, _ready(c, service), key_of(service), because)
    record_split(c, split)
    return split


def roll_back(c: Connection, change: Change, service: Service, reason: str) -> Split:
    """Go back to the split before the present one."""
    because = rollout.Change(change.at, change.by, reason)
    history = services.splits(c, service.name, service.project)
    split = rollout.rollback(history, _ready(c, service), because)
    record_split(c, split)
    return split


def stop_service(c: Connection, change: Change, service: Service) -> None:
    """Stop every serving job of a service and take it off the gateway; stopped already: nothing changes."""
    if service.stopped_at is not None:
        return
    key = key_of(service)
    for replica in services.replicas(c, key):
        job = jobs.get(c, replica.job)
        if job is not None and not job.state.is_terminal and job.state != JobState.STOPPING:
            stop(c, job, at=change.at, by=change.by)
        services.put_replica(c, Replica(key, replica.version, replica.job, ReplicaState.GONE))
    services.stop(c, service.name, service.project, change.at)
    facts.append(c, ServiceStopped(at=change.at, by=change.by, service=key))


def record_split(c: Connection, split: Split) -> None:
    services.add_split(c, split)
    shifted = TrafficShifted(
        at=split.at,
        by=split.by,
        service=split.service,
        split=split.number,
        shares=split.shares,
        reason=split.reason,
        rollback_of=split.rollback_of,
    )
    facts.append(c, shifted)


def _ready(c: Connection, service: Service) -> set[str]:
    return {r.version for r in services.replicas(c, key_of(service)) if r.state == ReplicaState.READY}


def _submission(c: Connection, wanted: Deployment, version: ModelVersion) -> Submission:
    return Submission(
        name=f"{wanted.name}-{version.number}",
        project=wanted.project,
        template=wanted.template,
        parameters=_parameters(c, wanted, version),
    )


def _parameters(c: Connection, wanted: Deployment, version: ModelVersion) -> dict[str, str]:
    """The model, and the name it answers to where the template wants one: the same for every version of a service."""
    template, _ = find_template(c, wanted.template)
    named = {"served_name": wanted.name} if any(p.name == "served_name" for p in template.parameters) else {}
    return {"model": version.reference} | named


def _version(c: Connection, reference: str, by: str) -> ModelVersion:
    name, _, number = reference.partition("@")
    if not is_number(number):
        raise PlatformError("invalid-field", field="version", value=reference, rule="rule-model-reference")
    return find_model(c, by, name, int(number))
