"""Reading a saved state and its hash in one pass: what the loader reads is hashed as it goes by.

Nothing that was read may be used before the hash has been seen to be right.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any, Callable, Dict, Tuple

from headway.sdk.job.checkpoint import CheckpointError, Rejected, open_inside
from headway.sdk.job.hashing import BLOCK, algorithm_of, begin, hash_file
from headway.sdk.job.manifest import FileEntry

_SKIPPED = 4 * BLOCK
_NO_MEMORY = ("OutOfMemoryError", "can't allocate memory")


class HashedFile(io.RawIOBase):
    """A file that hashes what is read of it in order, small gaps included; `named` reads what is left."""

    def __init__(self, fd: int, algorithm: str) -> None:
        super().__init__()
        self._fd = fd
        self._algorithm = algorithm
        self._running = begin(algorithm)
        self._hashed = 0
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: os.fstat(self._fd).st_size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:
        done = 0
        with memoryview(buffer).cast("B") as whole:
            while done < len(whole):
                with whole[done : done + BLOCK] as block:
                    count = os.preadv(self._fd, [block], self._at)
                    self._see(block[:count])
                self._at += count
                done += count
                if count == 0:
                    break
        return done

    def named(self) -> str:
        """The hash of the whole file, as `algorithm:hex`."""
        return hash_file(self._fd, self._algorithm, self._hashed, self._running)

    def _see(self, block: memoryview) -> None:
        """`block` was read at `_at`; hash of it what continues what is hashed already."""
        if self._hashed < self._at <= self._hashed + _SKIPPED:
            gap = os.pread(self._fd, self._at - self._hashed, self._hashed)
            self._running.update(gap)
            self._hashed += len(gap)
        fresh = self._hashed - self._at
        if 0 <= fresh < len(block):
            self._running.update(block[fresh:])
            self._hashed = self._at + len(block)


def read_verified(folder: Path, entry: FileEntry, load: Callable[[io.RawIOBase], Dict[str, Any]]) -> Dict[str, Any]:
    """What `load` makes of a file, once its hash was right.

    Raises Rejected where the file is not what was saved or cannot be loaded although it is, CheckpointError where this
    program lacks what the state is made of.
    """
    root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fd = open_inside(root, entry.path)
    except FileNotFoundError:
        raise Rejected("missing-file", entry.path) from None
    finally:
        os.close(root)
    try:
        file = HashedFile(fd, algorithm_of(entry.hash))
        state, failure = _tried(load, file)
        if file.named() != entry.hash:
            raise Rejected("wrong-hash", entry.path)
    except OSError as error:
        raise Rejected("unreadable", f"{entry.path}: {error.strerror or error}") from None
    finally:
        os.close(fd)
    if failure is not None:
        raise blamed(failure, folder, entry.path) from failure
    return state


def blamed(failure: BaseException, folder: Path, file: str) -> Exception:
    """What to raise for a state that could not be loaded though its hashes are right: is it the file's fault or ours?

    Rejected, by which it is marked and not tried again, unless this program or its memory was to blame.
    """
    if isinstance(failure, (ImportError, AttributeError)):
        return CheckpointError(f"{folder} holds what this program does not have: {failure}")
    if isinstance(failure, OSError):
        return Rejected("unreadable", f"{file}: {failure.strerror or failure}")
    said = f"{type(failure).__name__}: {failure}"
    if isinstance(failure, MemoryError) or any(words in said for words in _NO_MEMORY):
        return CheckpointError(f"there is no memory to load {folder}: {failure}")
    return Rejected("marked-bad", f"{file}: {said}")


def _tried(load: Callable[[io.RawIOBase], Dict[str, Any]], file: HashedFile) -> Tuple[Dict[str, Any], Any]:
    """What was loaded, or why it could not be: damage can raise anything, and the hash tells whether it was damage."""
    try:
        return load(file), None
    except OSError:
        raise
    except Exception as error:
        return {}, error
