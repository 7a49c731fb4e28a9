"""Which checkpoint a training goes on from: the newest that every rank can read, tried one after another.

Restoring is the same decision on every rank. What is not used is named with its reason, and left as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

from headway.sdk.job.checkpoint import (
    Checkpoint,
    CheckpointError,
    Rejected,
    Verification,
    checkpoint_folders,
    encode_mark,
    mark_path,
    verify,
)
from headway.sdk.job.disk import Disk
from headway.sdk.job.events import EventLog, PrintedEvents, complain
from headway.sdk.job.manifest import Manifest
from headway.sdk.job.ranks import Ranks

Reads = Callable[[Path, Manifest], Dict[str, Any]]
Found = Tuple[Checkpoint, Dict[str, Any]]
PutsBack = Callable[[Found], None]


@dataclass(frozen=True)
class Tried:
    """What came of reading one checkpoint on this rank; `error` ends the search, `rejected` goes on to the next."""

    found: Optional[Found] = None
    rejected: Optional[Verification] = None
    error: Optional[Exception] = None


class Search:
    """Looks for what to restore in one directory; `preferred` comes first if it is given."""

    def __init__(
        self, directory: Path, preferred: Optional[Path], events: Union[EventLog, PrintedEvents], ranks: Ranks
    ) -> None:
        self._directory = directory
        self._preferred = preferred
        self._events = events
        self._ranks = ranks

    def newest(self, reads: Reads, put_back: Optional[PutsBack] = None) -> Optional[Found]:
        """The newest checkpoint that every rank has read with `reads`, and what this rank read of it.

        `put_back` puts it into the program; it raises Rejected on every rank or on none, and what it has then left half
        filled must be filled by an older one: CheckpointError where there is none.
        """
        half_filled: Optional[Path] = None
        for path in self._ranks.share(self._candidates()):
            found, rejected = self._agreed(path, self._try(path, reads))
            if found is not None and put_back is not None:
                rejected = _refused(found, put_back)
                half_filled = path if rejected is not None else half_filled
            if rejected is None:
                return found
            if self._ranks.rank == 0 or self._ranks.group is None:
                self._reject(rejected)
        if half_filled is not None:
            raise CheckpointError(
                f"{half_filled} could not be loaded and has left the model half filled, and there is no older one: "
                "start the program again, which then begins at step 0"
            )
        return None

    def _agreed(self, path: Path, tried: Tried) -> Tuple[Optional[Found], Optional[Verification]]:
        """What came of `path` on all ranks: what this one read of it, or the first reason why not."""
        said = self._ranks.gather((tried.rejected, str(tried.error) if tried.error else None))
        if tried.error is not None:
            raise tried.error
        for rank, (_, error) in enumerate(said):
            if error is not None:
                raise CheckpointError(f"rank {rank} cannot restore {path}: {error}")
        rejections = [rejected for rejected, _ in said if rejected is not None]
        return (None, rejections[0]) if rejections else (tried.found, None)

    def _candidates(self) -> List[Path]:
        first = [self._preferred] if self._preferred is not None else []
        try:
            return first + [path for path in checkpoint_folders(self._directory) if path not in first]
        except OSError as error:
            self._reject(Verification(self._directory, False, None, "unreadable", str(error)))
            return first

    def _try(self, path: Path, reads: Reads) -> Tried:
        found = verify(path, sizes_only=True)
        if found.manifest is None:
            return Tried(rejected=found)
        try:
            return Tried(found=(Checkpoint(path, found.manifest), reads(path, found.manifest)))
        except Rejected as rejected:
            return Tried(rejected=_verification(path, found.manifest, rejected))
        except (CheckpointError, OSError) as error:
            return Tried(error=error)

    def _reject(self, found: Verification) -> None:
        self._events.write("checkpoint-rejected", path=str(found.path), step=found.step, reason=found.reason)
        complain(f"checkpoint {found.path} is skipped: {found.reason}: {found.detail}")
        if found.reason == "marked-bad" and found.manifest is not None:
            mark(found.path, found.manifest, found.detail)


def _refused(found: Found, put_back: PutsBack) -> Optional[Verification]:
    try:
        put_back(found)
    except Rejected as rejected:
        return _verification(found[0].path, found[0].manifest, rejected)
    return None


def _verification(path: Path, manifest: Manifest, rejected: Rejected) -> Verification:
    return Verification(path, False, manifest.step, rejected.reason, rejected.detail, manifest)


def mark(folder: Path, manifest: Manifest, detail: str) -> None:
    """Say beside a checkpoint that it must not be tried again; where that cannot be written it is tried again."""
    path = mark_path(folder)
    try:
        Disk().replace_file(path, encode_mark(manifest, detail), path.with_name(f".tmp-{path.name}"))
    except OSError as error:
        complain(f"{folder} cannot be marked as bad: {error}")


def published_in(directory: Path) -> List[Manifest]:
    """The manifests of what is there whole, as far as sizes tell."""
    found = (verify(path, sizes_only=True).manifest for path in checkpoint_folders(directory))
    return [manifest for manifest in found if manifest is not None]


def newest_held(held: List[Dict[str, int]], published: List[Tuple[int, str]]) -> Optional[str]:
    """Of the saves every rank still holds (save to step), the newest, if it is newer than any published; else None."""
    common = set(held[0]).intersection(*held[1:]) - {save for _, save in published}
    newest = max(common, key=lambda save: held[0][save], default=None)
    return newest if newest is not None and held[0][newest] > max((step for step, _ in published), default=0) else None


def all_verified(folder: Path, _manifest: Manifest) -> Dict[str, Any]:
    """Reads nothing but the hashes, of every file."""
    found = verify(folder)
    if not found.ok:
        raise Rejected(found.reason, found.detail)
    return {}
