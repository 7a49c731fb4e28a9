"""Register data sets and weights: a version number, a digest of every file, and where it came from.

Weights are copied out of the checkpoint into the model folder, so that no retention of checkpoints can take them away.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from sqlalchemy import Connection

from headway.domain.asset_events import DatasetRegistered, TemplateAdded, VersionRegistered
from headway.domain.checkpoint import Checkpoint, CheckpointState
from headway.domain.errors import PlatformError
from headway.domain.ids import check_name
from headway.domain.job import Job
from headway.domain.template import Template, parse
from headway.domain.version import DatasetVersion, Lineage, ModelVersion
from headway.engines.protocol import UnixUser
from headway.sdk.job.checkpoint import verify
from headway.server.operations.assets import hashing
from headway.server.operations.assets.models import check_name_is_free
from headway.server.operations.assets.weights import INCOMING, copy_weights
from headway.server.operations.people.directory import Change
from headway.server.operations.people.unix import account_of, check_readable, may_become
from headway.server.platform import Platform
from headway.server.secrets import make_id
from headway.store import agents, assets, attempts, checkpoints, facts, templates


def add_template(c: Connection, change: Change, content: dict[str, object]) -> tuple[Template, int]:
    """Check a template and store it as the next version; the same content again is the same version."""
    template = parse(content)
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    newest = templates.get(c, template.name)
    if newest is not None and newest.digest == digest:
        return template, newest.version
    number = templates.add(c, template.name, content, digest, change.at, change.by)
    facts.append(c, TemplateAdded(at=change.at, by=change.by, template=f"{template.name}@{number}"))
    return template, number


def register_dataset(platform: Platform, change: Change, name: str, path: str, note: str) -> DatasetVersion:
    """Register a folder as it is now. The same content under the same name is the same version."""
    check_name("name", name)
    with platform.database.read() as c:
        account = account_of(c, change.by) if may_become(platform.engines.values()) else None
    check_readable("path", path, change.by, account)
    digest, size, count = digest_as(account if os.geteuid() == 0 else None, path, change.by)
    with platform.database.write() as c:
        newest = assets.dataset(c, name)
        if newest is not None and newest.digest == digest and newest.path == path:
            return newest
        number = assets.next_dataset_number(c, name)
        version = DatasetVersion(name, number, path, digest, size, count, change.at, change.by, note)
        assets.add_dataset(c, version)
        facts.append(c, DatasetRegistered(at=change.at, by=change.by, dataset=version.reference, digest=digest))
    return version


def register_model(platform: Platform, change: Change, name: str, job: Job, step: int | None) -> ModelVersion:
    """Register the weights of a job's verified checkpoint (the newest, or the one of a step) as the next version.

    The same checkpoint again under the same name is the same version. Hashing and copying happen outside any
    transaction; the folder gets its number in the one that records it.
    """
    check_name("name", name)
    with platform.database.read() as c:
        check_name_is_free(c, name, job.spec.project)
        chosen = _choose(c, job, step)
        lineage = _lineage(c, job, chosen)
    found = verify(chosen.path)
    if not found.ok:
        raise PlatformError("checkpoint-damaged", value=chosen.path, reason=found.reason, detail=found.detail)
    incoming = platform.models / name / f"{INCOMING}{make_id('m')}"
    copy_weights(found, incoming)
    digest, size, _ = digest_folder(incoming)
    lineage = replace(lineage, checkpoint_digest=digest_folder(Path(chosen.path))[0])
    version = ModelVersion(name, 0, job.spec.project, str(incoming), digest, size, change.at, change.by, lineage)
    with platform.database.write() as c:
        check_name_is_free(c, name, job.spec.project)
        same = [known for known in assets.models(c, name=name) if _is_same(known, version)]
        if not same:
            return _number(c, version)
    shutil.rmtree(incoming)
    return same[-1]


def _is_same(known: ModelVersion, version: ModelVersion) -> bool:
    mine, theirs = version.lineage, known.lineage
    return known.digest == version.digest and (mine.job, mine.checkpoint_digest) == (
        theirs.job,
        theirs.checkpoint_digest,
    )


def _number(c: Connection, version: ModelVersion) -> ModelVersion:
    """Give a version its number and its place."""
    incoming = Path(version.path)
    number = assets.next_model_number(c, version.name)
    target = incoming.with_name(str(number))
    numbered = replace(version, number=number, path=str(target))
    assets.add_model(c, numbered)
    registered = VersionRegistered(
        at=version.created_at,
        by=version.created_by,
        version=numbered.reference,
        job=version.lineage.job,
        step=version.lineage.step,
    )
    facts.append(c, registered)
    # A crash before the commit leaves a folder under a number nobody knows: the next one takes its place.
    shutil.rmtree(target, ignore_errors=True)
    os.replace(incoming, target)
    return numbered


def digest_folder(folder: Path) -> tuple[str, int, int]:
    """A digest over names, sizes and contents of every file below; total bytes; number of files."""
    if not folder.is_dir():
        raise PlatformError("invalid-field", field="path", value=str(folder), rule="rule-folder")
    return _with_files(hashing.digest(str(folder)), str(folder))


def digest_as(account: UnixUser | None, folder: str, by: str) -> tuple[str, int, int]:
    """The same for a folder that somebody names: read with the rights of their account (None: the server's own).

    The child is the server's Python, which becomes the user before it looks at anything. Raises `not-readable`.
    """
    if not Path(folder).is_dir():
        raise PlatformError("invalid-field", field="path", value=folder, rule="rule-folder")
    identity = [str(number) for number in (account.uid, account.gid, *account.groups)] if account else []
    program = Path(hashing.__file__).read_text(encoding="utf-8")
    command = [sys.executable, "-I", "-S", "-c", program, folder, *identity]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd="/", check=True)
    told = json.loads(done.stdout)
    if "digest" not in told:
        shown = told["path"].encode("utf-8", "backslashreplace").decode()
        raise PlatformError("not-readable", field="path", value=shown, user=by, detail=told["why"])
    return _with_files(tuple(told["digest"]), folder)


def _with_files(found: tuple[str, int, int], folder: str) -> tuple[str, int, int]:
    if found[2] == 0:
        raise PlatformError("invalid-field", field="path", value=folder, rule="rule-folder-with-files")
    return found


def _choose(c: Connection, job: Job, step: int | None) -> Checkpoint:
    known = [p for p in checkpoints.of_job(c, job.id) if p.state in (CheckpointState.VERIFIED, CheckpointState.SAVED)]
    fitting = [p for p in known if step is None or p.step == step]
    if not fitting:
        near = ", ".join(str(p.step) for p in known)
        raise PlatformError("not-found", what="checkpoint", value=f"{job.id} step {step or 'latest'}", near=near)
    return fitting[0]


def _lineage(c: Connection, job: Job, checkpoint: Checkpoint) -> Lineage:
    dataset = None
    if job.spec.dataset is not None:
        name, _, number = job.spec.dataset.partition("@")
        dataset = assets.dataset(c, name, int(number))
    attempt = attempts.get(c, checkpoint.attempt)
    seen = [part.environment for part in agents.of_attempt(c, checkpoint.attempt) if part.environment]
    environment = {key: str(value) for key, value in seen[0].items()} if seen else {}
    if attempt is not None:
        environment["device_type"] = attempt.device_type
        environment["nodes"] = ",".join(placement.node for placement in attempt.placements)
    return Lineage(
        job=job.id,
        attempt=checkpoint.attempt,
        step=checkpoint.step,
        checkpoint=checkpoint.path,
        checkpoint_digest="",
        template=job.spec.template,
        parameters=job.spec.parameters,
        dataset=job.spec.dataset,
        dataset_digest=dataset.digest if dataset else None,
        commit=job.spec.commit,
        environment=environment,
    )
