"""Which checkpoint a job that has ended is to go on from: looked through again now, whoever wrote it. Only reads.

What the in-job SDK saved is verified by its hashes; what a framework saved, by a child that acts as the account that
will load it (`inspecting`). A path elsewhere may be named too, so that a checkpoint can be copied to where a
pool sees it.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from headway.domain.carrying import OWN, Carried, Carry, Form, Saved
from headway.domain.checkpoint import Checkpoint, CheckpointState
from headway.domain.errors import Param, PlatformError
from headway.domain.job import Job, Origin
from headway.domain.seeing import Lies
from headway.engines.protocol import UnixUser
from headway.sdk.job import checkpoint as on_disk
from headway.sdk.job.manifest import MANIFEST
from headway.server.operations.jobs.checkpoints import Found, newer
from headway.server.operations.jobs.inspecting import Look, Written, inspect
from headway.server.operations.people.unix import check_readable
from headway.server.platform import Platform
from headway.store import checkpoints


@dataclass(frozen=True, slots=True)
class Chosen:
    """A checkpoint to go on from, how sure that is (`verified`), and where it lies; `world` None: nothing tells."""

    found: Found
    verified: Carry
    lies: Lies
    form: Form
    world: int | None
    copy: int = 1

    def saved(self, world: int) -> Saved:
        """What it says of itself; `world`: how many ranks the job had, where nothing tells how many saved it."""
        return Saved(self.found.step, self.world or world, self.form, self.copy, self.found.format)


@dataclass(frozen=True, slots=True)
class Asks:
    """Who wants to go on with which job: the account that will load the checkpoint, None: the server's own."""

    platform: Platform
    job: Job
    by: str
    account: UnixUser | None


def choose(asks: Asks, wanted: str | None) -> Chosen:
    """The checkpoint that is meant; `wanted`: a step or a path, None: the newest that is whole.

    Raises `no-checkpoint`, `checkpoint-bad`, `not-found`, `not-readable`.
    """
    if wanted is None:
        return _newest(asks)
    rows = _theirs(asks) + _copied(asks)
    known = {str(path): OWN for path in on_disk.checkpoint_folders(asks.platform.checkpoints / asks.job.id)}
    known |= {row.path: row.format or OWN for row in rows}
    if asks.job.spec.origin:
        known.setdefault(asks.job.spec.origin.path, asks.job.spec.origin.format)
    steps = {row.path: str(row.step) for row in rows}
    named = [path for path in known if wanted in (path, steps.get(path, _step_of(path)))]
    if named:
        path = min(named, key=lambda path: known[path] != OWN)
        return _own(asks, path) if known[path] == OWN else _framework(asks, path)
    if wanted.startswith("/"):
        return _elsewhere(asks, wanted)
    near = ", ".join(dict.fromkeys(steps.get(path, _step_of(path)) for path in known))
    raise PlatformError("not-found", what="checkpoint", value=wanted, near=near)


def newest_of(platform: Platform, job: Job) -> on_disk.Checkpoint:
    """The newest of the SDK's own that verifies, else the one that the job began with. Raises `no-checkpoint`."""
    newest, rejected = on_disk.newest_verified(platform.checkpoints / job.id)
    if newest is not None:
        return newest
    origin = job.spec.origin and on_disk.verify(job.spec.origin.path)
    if origin and origin.manifest:
        return on_disk.Checkpoint(origin.path, origin.manifest)
    raise _none(job, [f"{bad.path.name}: {bad.reason}" for bad in rejected])


def _newest(asks: Asks) -> Chosen:
    own, rejected = on_disk.newest_verified(asks.platform.checkpoints / asks.job.id)
    mine = None if own is None else Found(str(own.path), own.step)
    said = [f"{bad.path.name}: {bad.reason}" for bad in rejected]
    for row in _theirs(asks):
        theirs = Found(row.path, row.step, row.format or OWN)
        if row.state is not CheckpointState.VERIFIED or newer(mine, theirs)[0] != theirs:
            continue
        try:
            return _framework(asks, row.path)
        except PlatformError as refused:
            said.append(f"{Path(row.path).name}: {refused.params.get('reason', refused.params.get('detail'))}")
    lost = next((row for row in _copied(asks) if not os.path.lexists(row.path)), None)
    if lost is not None and (own is None or lost.step > own.step):
        return _of_copy(lost)
    if own is not None:
        return _of_manifest(asks, own)
    origin = asks.job.spec.origin
    if origin is None:
        raise _none(asks.job, said)
    return _began_with(asks, origin, said)


def _began_with(asks: Asks, origin: Origin, said: list[str]) -> Chosen:
    try:
        return _own(asks, origin.path) if origin.format == OWN else _framework(asks, origin.path)
    except PlatformError as refused:
        raise _none(asks.job, [*said, f"{Path(origin.path).name}: {refused.params.get('reason')}"]) from None


def _none(job: Job, rejected: list[str]) -> PlatformError:
    return PlatformError("no-checkpoint", job=job.id, rejected=", ".join(rejected))


def _own(asks: Asks, path: str) -> Chosen:
    verified = on_disk.verify(path)
    copied = next((row for row in _copied(asks) if row.path == path), None)
    if copied is not None and verified.reason == "no-manifest":
        return _of_copy(copied)
    if verified.manifest is None:
        raise PlatformError("checkpoint-bad", value=path, reason=verified.reason, detail=verified.detail)
    return _of_manifest(asks, on_disk.Checkpoint(Path(path), verified.manifest))


def _of_manifest(asks: Asks, found: on_disk.Checkpoint) -> Chosen:
    manifest, path = found.manifest, str(found.path)
    check_readable("from", path, asks.by, asks.account)
    told: dict[str, Param] = {"step": found.step, "files": len(manifest.files), "path": path}
    form = Form.WHOLE if manifest.layout.get("kind") == "full" else Form.PARTS
    look = inspect(asks.platform, path, asks.account)
    verified = Carry("checkpoint", Carried.YES, "carry-checkpoint", told)
    return Chosen(Found(path, found.step), verified, _lies(look, path), form, manifest.world_size)


def _of_copy(row: Checkpoint) -> Chosen:
    """One that is here no longer: the in-job SDK fetches its copy, and verifies that."""
    told: dict[str, Param] = {"step": row.step, "copy": row.copy or ""}
    verified = Carry("checkpoint", Carried.UNSURE, "carry-checkpoint-copy", told)
    return Chosen(Found(row.path, row.step), verified, _lies(None, row.path), Form.FILE, None)


def _framework(asks: Asks, path: str) -> Chosen:
    """One that an agent saw, or that is named: as it is now, or as it was told where the account cannot look."""
    check_readable("from", path, asks.by, asks.account)
    look = inspect(asks.platform, path, asks.account)
    if look is None:
        return _as_told(asks, path)
    if look.written is None:
        raise PlatformError("checkpoint-unknown", value=path)
    return _of_framework(look, look.written)


def _of_framework(look: Look, written: Written) -> Chosen:
    if written.reason:
        raise PlatformError("checkpoint-bad", value=written.path, reason=written.reason, detail=written.detail)
    if written.step is None:
        raise PlatformError("checkpoint-without-step", value=written.path)
    told: dict[str, Param] = {"step": written.step, "format": written.format, "bytes": written.bytes}
    verified = Carry("checkpoint", Carried.YES, "carry-checkpoint-framework", told)
    found = Found(written.path, written.step, written.format)
    return Chosen(found, verified, look.lies, written.form, written.ranks, written.copy)


def _as_told(asks: Asks, path: str) -> Chosen:
    row = next((row for row in _theirs(asks) if row.path == path and row.state is CheckpointState.VERIFIED), None)
    if row is None:
        raise PlatformError("checkpoint-unknown", value=path)
    told: dict[str, Param] = {"step": row.step, "format": row.format or OWN, "at": row.saved_at.isoformat()}
    verified = Carry("checkpoint", Carried.UNSURE, "carry-checkpoint-told", told)
    return Chosen(Found(path, row.step, row.format or OWN), verified, _lies(None, path), Form.FILE, None)


def _elsewhere(asks: Asks, path: str) -> Chosen:
    """A path that is not this job's. What lies among other jobs' checkpoints is not to be had by naming it."""
    check_readable("from", path, asks.by, asks.account)
    real, root = Path(path).resolve(), asks.platform.checkpoints.resolve()
    if real.is_relative_to(root) and not real.is_relative_to(root / asks.job.id):
        raise PlatformError("not-found", what="checkpoint", value=path, near="")
    return _own(asks, path) if (Path(path) / MANIFEST).is_file() else _framework(asks, path)


def _copied(asks: Asks) -> list[Checkpoint]:
    """What the in-job SDK has copied to a store, newest first."""
    with asks.platform.database.read() as c:
        return [row for row in checkpoints.of_job(c, asks.job.id) if row.copy and not row.format]


def _theirs(asks: Asks) -> list[Checkpoint]:
    """What frameworks saved and is not known to be gone, newest first."""
    with asks.platform.database.read() as c:
        rows = checkpoints.of_job(c, asks.job.id)
    return [row for row in rows if row.format and row.state is not CheckpointState.DELETED]


def _lies(look: Look | None, path: str) -> Lies:
    return look.lies if look is not None else Lies(path, path)


def _step_of(path: str) -> str:
    """`step-00000040.1` is of step 40."""
    return Path(path).name.removeprefix("step-").partition(".")[0].lstrip("0") or "0"
