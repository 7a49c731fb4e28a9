"""A drill of storage: the agent's file in this rank's directory makes the save that is about to begin fail, once.

The error is the one that a mount gives whose server is gone; nothing is written, and nothing saved before is touched.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Optional

FILE = "storage-gone.json"


def meet(rank_dir: Optional[Path], directory: Path) -> None:
    """Raise OSError (EIO) where the agent has left its file, and take it away: the next save goes through."""
    if rank_dir is None:
        return
    try:
        os.unlink(rank_dir / FILE)
    except OSError:
        return
    raise OSError(errno.EIO, os.strerror(errno.EIO), str(directory))
