"""Submit a job: fill the template's blanks, refuse what can never run, write the job with its fact."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from headway.domain import template as templates_of
from headway.domain.errors import PlatformError
from headway.domain.events import JobSubmitted
from headway.domain.ids import JobId, check_name
from headway.domain.job import Job, JobSpec, Priority
from headway.domain.lifecycle import JobState
from headway.domain.parse import known_keys, positive, seconds, text_list
from headway.domain.resources import Request
from headway.domain.template import Template
from headway.scheduler.admissible import largest_possible
from headway.server.operations.assets.models import find_model
from headway.server.operations.jobs.conditions import Wishes, conditions_of
from headway.server.operations.people.unix import account_of, check_account, check_readable, may_become
from headway.server.platform import Platform
from headway.server.secrets import make_id
from headway.store import assets, facts, jobs, nodes, quotas, templates

LONGEST_NUMBER = 10
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PORT = "{port}"  # the engine puts the port in when it has chosen one


@dataclass(frozen=True, slots=True)
class Submission:
    """What a person sends. Anything left out comes from the template."""

    name: str
    project: str
    template: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    resources: Mapping[str, Any] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    checkpoint: Mapping[str, Any] = field(default_factory=dict)
    priority: Priority | None = None
    limit_s: float | None = None
    source: str | None = None
    workdir: str | None = None
    commit: str | None = None
    after: Sequence[str] = ()
    after_ok: Sequence[str] = ()
    protected: bool = False
    engines: Sequence[str] = ()
    excluded: Sequence[str] = ()
    not_before: datetime | None = None

    @property
    def wishes(self) -> Wishes:
        """What it asks for beside the devices."""
        return Wishes(
            after=tuple(self.after),
            after_ok=tuple(self.after_ok),
            protected=self.protected,
            engines=tuple(self.engines),
            excluded=tuple(self.excluded),
            not_before=self.not_before,
        )


def submit(platform: Platform, c: Connection, submission: Submission, by: str) -> Job:
    """Write a queued job. Raises an error naming the field and the way out; nothing is created then."""
    now = platform.clock.now()
    spec = specify(platform, c, submission, by)
    job = Job(id=JobId(make_id("j")), spec=spec, owner=by, state=JobState.QUEUED, submitted_at=now)
    return enqueue(c, job, now, by)


def enqueue(c: Connection, job: Job, now: datetime, by: str) -> Job:
    """Write a job and its fact."""
    jobs.insert(c, job)
    submitted = JobSubmitted(
        at=now,
        by=by,
        job=job.id,
        project=job.spec.project,
        name=job.spec.name,
        devices=job.spec.request.devices,
        origin=job.spec.origin.job if job.spec.origin else None,
    )
    facts.append(c, submitted)
    return job


def check_paths(platform: Platform, submission: Submission, by: str) -> None:
    """Raise what `specify` raises, and `not-readable` for a path that the submitter may not read.

    A file system may hang for seconds: nothing of this happens within a transaction, and `submit` does not repeat it.
    """
    with platform.database.read() as c:
        specify(platform, c, submission, by)
        template, _ = find_template(c, submission.template)
        given = templates_of.values(template, submission.parameters)
        paths = {
            f"parameters.{parameter.name}": _folder(c, parameter.type, given[parameter.name], by)
            for parameter in template.parameters
            if parameter.type in ("dataset", "model")
        }
        account = account_of(c, by) if may_become(platform.engines.values()) else None
    paths |= {name: path for name in ("source", "workdir") if (path := getattr(submission, name)) is not None}
    for name, path in paths.items():
        check_readable(name, path, by, account)


def specify(platform: Platform, c: Connection, submission: Submission, by: str) -> JobSpec:
    """Everything needed to launch: the template filled in, checked against projects, nodes and accounts."""
    check_name("name", submission.name)
    project = quotas.project(c, submission.project)
    if project is None or project.closed_at is not None:
        raise PlatformError("not-found", what="project", value=submission.project, near=_projects(c))
    template, reference = find_template(c, submission.template)
    request = request_of(template.request, submission.resources)
    largest_possible(nodes.all(c), request)
    given = templates_of.values(template, submission.parameters)
    check_account(platform.settings, c, by, platform.engines.values())
    _check_variables(submission.env)
    filled = {"python": platform.settings.python} | _filled(c, template, given, submission, by)
    return JobSpec(
        name=submission.name,
        project=submission.project,
        kind=template.kind,
        template=reference,
        command=tuple(templates_of.fill(filled, word) for word in template.command),
        request=request,
        launcher=template.launcher,
        priority=submission.priority or Priority.NORMAL,
        parameters=given,
        env={key: templates_of.fill(filled, value) for key, value in template.env.items()} | dict(submission.env),
        workdir=submission.workdir or template.workdir,
        limit=None if submission.limit_s is None else seconds("limit_s", submission.limit_s),
        checkpoint=templates_of.checkpoint_policy(submission.checkpoint, template.checkpoint),
        recovery=template.recovery,
        dataset=_first_of_type(template, given, "dataset"),
        commit=submission.commit,
        ready_path=template.ready_path,
        conditions=conditions_of(c, submission.wishes, request),
    )


def _check_variables(env: Mapping[str, str]) -> None:
    for name in env:
        if not VARIABLE.fullmatch(name):
            raise PlatformError("invalid-field", field="env", value=name[:80], rule=VARIABLE.pattern)


def find_template(c: Connection, reference: str) -> tuple[Template, str]:
    """A template by `name` (its newest version) or `name@version`, and the full reference."""
    name, _, version = reference.partition("@")
    if version and not is_number(version):
        raise PlatformError("invalid-field", field="template", value=reference, rule="name | name@version")
    row = templates.get(c, name, int(version) if version else None)
    if row is None:
        near = ", ".join(templates.names(c))
        raise PlatformError("not-found", what="template", value=reference, near=near)
    return templates_of.parse(row.content), f"{row.name}@{row.version}"


def is_number(text: str) -> bool:
    """Whether it may be the number of a version."""
    return text.isascii() and text.isdecimal() and len(text) < LONGEST_NUMBER


def request_of(plain: Request, changes: Mapping[str, Any]) -> Request:
    """The template's resources with the submitter's changes."""
    known_keys("resources", changes, ("nodes", "devices_per_node", "ranks_per_node", "device_types"))
    request = plain
    if "nodes" in changes:
        request = replace(request, nodes=positive("resources.nodes", changes["nodes"]))
    if "devices_per_node" in changes:
        devices = positive("resources.devices_per_node", changes["devices_per_node"])
        request = replace(request, devices_per_node=devices, ranks_per_node=min(plain.ranks_per_node, devices))
    if "ranks_per_node" in changes:
        request = replace(request, ranks_per_node=positive("resources.ranks_per_node", changes["ranks_per_node"]))
    if "device_types" in changes:
        request = replace(request, device_types=text_list("resources.device_types", changes["device_types"]))
    if request.ranks_per_node > request.devices_per_node:
        rule = f"≤ {request.devices_per_node} (devices_per_node)"
        raise PlatformError("invalid-field", field="resources.ranks_per_node", value=request.ranks_per_node, rule=rule)
    return request


def _filled(
    c: Connection, template: Template, given: Mapping[str, str], submission: Submission, by: str
) -> dict[str, str]:
    """Values for placeholders: parameters as given, data sets and models as their folders."""
    filled = dict(given)
    for parameter in template.parameters:
        if parameter.type in ("dataset", "model"):
            filled[parameter.name] = _folder(c, parameter.type, given[parameter.name], by)
    filled["source"] = submission.source or ""
    filled["name"] = submission.name
    filled["port"] = PORT
    return filled


def _folder(c: Connection, what: str, reference: str, by: str) -> str:
    name, _, number = reference.partition("@")
    if what == "model":
        return find_model(c, by, name, int(number)).path
    found = assets.dataset(c, name, int(number))
    if found is None:
        near = ", ".join(version.reference for version in assets.datasets(c))
        raise PlatformError("not-found", what=what, value=reference, near=near)
    return found.path


def _first_of_type(template: Template, given: Mapping[str, str], kind: str) -> str | None:
    return next((given[p.name] for p in template.parameters if p.type == kind), None)


def _projects(c: Connection) -> str:
    return ", ".join(project.name for project in quotas.projects(c))
