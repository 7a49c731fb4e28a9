"""Writing, and making durable with the calls that a crash of the machine asks for. Knows nothing of what is written."""

import os
from pathlib import Path


def fsync(path: Path) -> None:
    """Make a file's content, or a folder's list of names, survive a crash of the machine."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_empty_file(path: Path) -> None:
    """Make a private file and its folder so that both survive a crash, up to the folder two above."""
    folder = path.parent
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    for each in (folder, folder.parent, folder.parent.parent):
        fsync(each)


def write_at(path: Path, content: bytes, position: int) -> None:
    """Write at the end of a file that ends at `position`, or leave it as it was."""
    descriptor = os.open(path, os.O_WRONLY)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.pwrite(descriptor, rest, position + len(content) - len(rest)) :]
    except OSError:
        os.ftruncate(descriptor, position)
        raise
    finally:
        os.close(descriptor)
