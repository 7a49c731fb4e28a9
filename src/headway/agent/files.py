"""Files of the node directory: written whole or not at all, and read with suspicion where a rank could have put them.

The agent may be root while a rank's directory belongs to the user: nothing here follows a link the user made.
"""

from __future__ import annotations

import json
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def own_mode(directory: str) -> int:
    """The mode of the agent's files there: its own, or its group's too where the engine shares the directory by that.

    An engine that is not root gets in by the group of a directory that hands its group down (setgid).
    """
    return 0o660 if os.stat(directory).st_mode & stat.S_ISGID else 0o600


def write_atomically(path: str, content: bytes, mode: int | None = None) -> None:
    """Replace `path` by `content`: a reader sees the old file or the new one. Raises OSError.

    `mode` None: as `own_mode` has it.
    """
    mode = own_mode(os.path.dirname(path)) if mode is None else mode
    draft = f"{path}.{os.getpid()}.new"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    try:
        fd = os.open(draft, flags, mode)
    except FileExistsError:
        os.unlink(draft)
        fd = os.open(draft, flags, mode)
    try:
        os.fchmod(fd, mode)
        while content:
            content = content[os.write(fd, content) :]
    finally:
        os.close(fd)
    os.rename(draft, path)


def write_json(path: str, value: object, mode: int | None = None) -> None:
    """Replace `path` by `value` as JSON. Raises OSError."""
    write_atomically(path, json.dumps(value, separators=(",", ":")).encode(), mode)


def read_json(path: str) -> Any:
    """The JSON value in `path`; None where there is no such file. Raises OSError, ValueError."""
    try:
        with open(path, "rb") as file:
            return json.loads(file.read())
    except FileNotFoundError:
        return None


def read_text(path: str) -> str | None:
    """A small kernel file as text; None where it cannot be read."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        chunks: list[bytes] = []
        while True:
            chunk = os.read(fd, 65536)
            if not chunk:
                return b"".join(chunks).decode("utf-8", "replace")
            chunks.append(chunk)
    except OSError:
        return None
    finally:
        os.close(fd)


def read_foreign(path: str, owner: int | None, offset: int, limit: int) -> bytes:
    """At most `limit` bytes from `offset` on of a file that a rank wrote; nothing where it is not a plain file.

    `owner`: the uid that must own it (a hard link to somebody else's file is refused); None: any.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or (owner is not None and status.st_uid != owner):
            return b""
        return os.pread(fd, limit, offset) if status.st_size > offset else b""
    except OSError:
        return b""
    finally:
        os.close(fd)
