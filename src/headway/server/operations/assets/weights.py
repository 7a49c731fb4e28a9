"""Copy a checkpoint's weights to where every account may read them: whoever serves need not be who trained.

The checkpoint's folder belongs to the user, and the server may be root: only files that the manifest lists are copied,
no link is followed on the way, and what is copied is what the manifest says.
"""

import os
from pathlib import Path

from headway.domain.errors import PlatformError
from headway.sdk.job.checkpoint import Rejected, Verification, open_inside
from headway.sdk.job.hashing import algorithm_of, begin
from headway.sdk.job.manifest import FileEntry

BLOCK = 1 << 20
WEIGHTS = "hf/"
INCOMING = ".new-"  # how the name begins of a version's folder that is not recorded yet


def copy_weights(found: Verification, target: Path) -> None:
    """Make `target` from the folder `hf` of a verified checkpoint, else from all of it. Raises `checkpoint-damaged`."""
    assert found.manifest is not None
    files = found.manifest.files
    weights = [entry for entry in files if entry.path.startswith(WEIGHTS)]
    root = os.open(found.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        target.mkdir(parents=True)
        for entry in weights or files:
            _copy(root, entry, target / entry.path.removeprefix(WEIGHTS if weights else ""))
    except Rejected as gone:
        told = {"reason": gone.reason, "detail": gone.detail}
        raise PlatformError("checkpoint-damaged", value=str(found.path), **told) from None
    except FileNotFoundError as gone:
        told = {"reason": "missing-file", "detail": str(gone.filename)}
        raise PlatformError("checkpoint-damaged", value=str(found.path), **told) from None
    finally:
        os.close(root)
    for path in (target, *target.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _copy(root: int, entry: FileEntry, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    algorithm = algorithm_of(entry.hash)
    running = begin(algorithm)
    with os.fdopen(open_inside(root, entry.path), "rb") as source, target.open("xb") as copy:
        while block := source.read(BLOCK):
            running.update(block)
            copy.write(block)
    if f"{algorithm}:{running.hexdigest()}" != entry.hash:
        raise PlatformError("checkpoint-damaged", value=entry.path, reason="wrong-hash")
