"""What a directory lies on: the type of its file system as the kernel names it, `ext4`, `lustre`, `nfs4`, `fuse.s3fs`.

Only reads the table of mounts; where there is none, nothing is said.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Optional

MOUNTS = Path("/proc/self/mountinfo")
_ESCAPED = re.compile(r"\\([0-7]{3})")


def storage_of(directory: Path, mounts: Path = MOUNTS) -> Optional[str]:
    """The type of the file system under `directory`, which need not be there yet; None where it is not known."""
    try:
        table = mounts.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    place = os.path.realpath(directory)
    found, length = None, -1
    for line in table.splitlines():
        mount, _, system = line.partition(" - ")
        words = mount.split(" ")
        if len(words) < 5 or not system:
            continue
        point = _ESCAPED.sub(lambda octal: chr(int(octal[1], 8)), words[4]).rstrip("/")
        if (place == point or place.startswith(point + "/")) and len(point) >= length:
            found, length = system.split(" ")[0], len(point)
    return found
