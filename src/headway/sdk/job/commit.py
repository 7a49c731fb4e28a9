"""How a checkpoint comes to be: every rank's files, then its word, then the manifest, then one rename into place.

The ranks talk through the folder being built and nothing else, so that none waits for another within the training. A
crash at any act leaves either no checkpoint or a complete one. Nothing that is already there is written over.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple

from headway.sdk.job.checkpoint import Checkpoint, CheckpointError, checkpoint_folders, verify
from headway.sdk.job.disk import Disk
from headway.sdk.job.hashing import BLOCK, Block, Running, begin, hash_file
from headway.sdk.job.image import Part
from headway.sdk.job.lease import check_lease
from headway.sdk.job.manifest import FULL, MANIFEST, FileEntry, Manifest, encode_manifest

WORDS = ".words"
LOOK_EVERY_S = 0.02


@dataclass(frozen=True)
class Order:
    """What one rank is to make of its image, as values that JSON can carry to another process.

    `ranks` take part, and rank 0 publishes once each has given its word, or after `patience_s` gives up. `folder` is
    where they build; `save` tells this save from every other. `local`: the image's name, where it outlives processes.
    """

    directory: str
    folder: str
    job: str
    attempt: str
    attempt_number: int
    step: int
    save: str
    parts: Tuple[Part, ...]
    python: str
    torch: Optional[str] = None
    rank: int = 0
    ranks: int = 1
    world_size: int = 1
    algorithm: str = "crc32"
    layout: Dict[str, Any] = field(default_factory=lambda: dict(FULL))
    alike: str = ""
    data: Any = None
    random: Optional[str] = None
    keep: Optional[int] = None
    held: Optional[str] = None
    patience_s: float = 600.0
    local: Optional[str] = None

    def to_json(self) -> Dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(values: Dict[str, Any]) -> Order:
        return Order(**{**values, "parts": tuple(Part(*part) for part in values["parts"])})


def begin_folder(folder: Path, disk: Disk) -> None:
    """An empty folder to build in, whatever an earlier try left there."""
    disk.remove_tree(folder)
    disk.make_folder(folder)
    disk.make_folder(folder / WORDS)


def perform(order: Order, image: Block, disk: Disk) -> Checkpoint:
    """Write this rank's files from its image, give its word, and publish or wait for rank 0 to.

    Raises CheckpointError when a rank failed or stayed away, or another attempt has taken the directory over; OSError
    when the disk does not take it. What was being built is then removed by rank 0.
    """
    folder = Path(order.folder)
    try:
        entries = _write_parts(order, image, disk)
        if order.rank != 0:
            _give_word(order, disk, {"files": [asdict(entry) for entry in entries], "alike": order.alike})
            return _await_publishing(order)
        words = _words(order)
        entries = sorted(entries + _files_in(words), key=lambda entry: entry.path)
        manifest = _seal(order, entries, all(word["alike"] == order.alike for word in words), disk)
        # Once more, as building takes long: another attempt may have come meanwhile.
        check_lease(Path(order.directory), order.job, order.attempt_number)
        return publish(folder, Path(order.directory), manifest, disk)
    except BaseException as error:
        _give_up(order, error, disk)
        raise


def _give_up(order: Order, error: BaseException, disk: Disk) -> None:
    """Rank 0 removes what was built; another leaves its reason, so that rank 0 need not wait out its patience."""
    try:
        if order.rank == 0:
            disk.remove_tree(Path(order.folder))
        else:
            _give_word(order, disk, {"failed": str(error)})
    except OSError:
        return


def _write_parts(order: Order, image: Block, disk: Disk) -> List[FileEntry]:
    folder, whole, entries = Path(order.folder), memoryview(image), []
    for part in order.parts:
        path = folder / part.path
        for missing in reversed([above for above in path.parents if folder in above.parents]):
            _make_folder(missing, disk)
        running = begin(order.algorithm)
        disk.create(path, _hashed(whole[part.offset : part.offset + part.bytes], running))
        entries.append(FileEntry(part.path, part.bytes, f"{order.algorithm}:{running.hexdigest()}"))
    return entries


def _hashed(content: memoryview, running: Running) -> Iterator[Block]:
    for start in range(0, len(content), BLOCK):
        block = content[start : start + BLOCK]
        running.update(block)
        yield block


def _make_folder(path: Path, disk: Disk) -> None:
    """A folder that another rank may make at the same time."""
    try:
        disk.make_folder(path)
    except FileExistsError:
        if not path.is_dir() or path.is_symlink():
            raise


def _give_word(order: Order, disk: Disk, word: Dict[str, Any]) -> None:
    """Whole once it is seen. The last act in the folder: from then on rank 0 may do with it what it likes."""
    words = Path(order.folder) / WORDS
    building = words / f".{order.rank:05d}.tmp"
    disk.create(building, [json.dumps({"save": order.save, **word}).encode()])
    disk.rename(building, words / f"{order.rank:05d}.json")


def _files_in(words: List[Dict[str, Any]]) -> List[FileEntry]:
    return [FileEntry(**entry) for word in words for entry in word["files"]]


def _words(order: Order) -> List[Dict[str, Any]]:
    """What the other ranks say they wrote, once every one has said so."""
    deadline = time.monotonic() + order.patience_s
    awaited = set(range(1, order.ranks))
    words: List[Dict[str, Any]] = []
    while awaited:
        for rank in sorted(awaited):
            word = _word(Path(order.folder) / WORDS / f"{rank:05d}.json", order.save)
            if word is None:
                continue
            if "failed" in word:
                raise CheckpointError(f"step {order.step} is not saved: rank {rank} failed: {word['failed']}")
            awaited.remove(rank)
            words.append(word)
        if awaited and time.monotonic() > deadline:
            missing = ", ".join(map(str, sorted(awaited)))
            raise CheckpointError(
                f"step {order.step} is not saved: within {order.patience_s:g} s nothing came from rank {missing}. "
                "Every rank has to call save(), at the same step, with the checkpoint directory on shared storage."
            )
        if awaited:
            time.sleep(LOOK_EVERY_S)
    return words


def _word(path: Path, save: str) -> Optional[Dict[str, Any]]:
    try:
        os.listdir(path.parent)  # makes NFS look again
        word: Dict[str, Any] = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    return word if word.get("save") == save else None


def _await_publishing(order: Order) -> Checkpoint:
    """For ranks other than 0: rank 0 takes the folder away, and then the checkpoint is there or is not."""
    folder, directory = Path(order.folder), Path(order.directory)
    deadline = time.monotonic() + 2 * order.patience_s
    while folder.exists() and time.monotonic() < deadline:
        time.sleep(LOOK_EVERY_S)
    for path in checkpoint_folders(directory):
        manifest = _manifest_of(path, order)
        if manifest is not None:
            return Checkpoint(path, manifest)
    raise CheckpointError(f"step {order.step} is not saved: rank 0 did not publish it; its output says why.")


def _manifest_of(path: Path, order: Order) -> Optional[Manifest]:
    found = verify(path, only=())
    return found.manifest if found.manifest is not None and found.manifest.save == order.save else None


def _seal(order: Order, entries: List[FileEntry], is_alike: bool, disk: Disk) -> Manifest:
    """List every file in a manifest, which is written last; what the program added is made durable first."""
    folder = Path(order.folder)
    disk.remove_tree(folder / WORDS)
    known = {entry.path for entry in entries}
    entries = entries + [_durable(folder, path, disk) for path in _files(folder, disk) if path not in known]
    manifest = Manifest(
        job=order.job,
        attempt=order.attempt,
        attempt_number=order.attempt_number,
        step=order.step,
        created_at=datetime.now(timezone.utc),
        world_size=order.world_size,
        python=order.python,
        torch=order.torch,
        files=tuple(entries),
        save=order.save,
        layout=order.layout if order.layout == FULL else {**order.layout, "same_data": is_alike},
        data=order.data,
        random=order.random,
    )
    disk.create(folder / MANIFEST, [encode_manifest(manifest)])
    disk.sync_folder(folder)
    return manifest


def publish(folder: Path, directory: Path, manifest: Manifest, disk: Disk) -> Checkpoint:
    """Rename a sealed folder into its place; where another checkpoint of that step stands, beside it as `step-N.1`."""
    name = f"step-{manifest.step:08d}"
    taken = {path.name for path in checkpoint_folders(directory)}
    copies = (name if copy == 0 else f"{name}.{copy}" for copy in range(len(taken) + 1))
    path = directory / next(free for free in copies if free not in taken)
    disk.rename(folder, path)
    disk.sync_folder(directory)
    return Checkpoint(path, manifest)


def _files(folder: Path, disk: Disk) -> List[str]:
    """Every file below a folder, whose names are durable once this returns."""
    found = []
    for root, folders, names in os.walk(folder):
        folders.sort()
        linked = [name for name in folders if Path(root, name).is_symlink()]
        for name in sorted(names + linked):
            path = Path(root, name)
            if path.is_symlink() or not path.is_file():
                raise CheckpointError(
                    f"{path.relative_to(folder)} is not a regular file: a checkpoint holds files only"
                )
            found.append(path.relative_to(folder).as_posix())
        disk.sync_folder(Path(root))
    return found


def _durable(folder: Path, path: str, disk: Disk) -> FileEntry:
    """A file the program added; its SHA-256, as it may become a published artifact."""
    disk.sync_file(folder / path)
    fd = os.open(folder / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        named = hash_file(fd, "sha256")
        return FileEntry(path, os.fstat(fd).st_size, named)
    finally:
        os.close(fd)
