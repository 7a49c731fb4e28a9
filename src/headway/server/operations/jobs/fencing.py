"""Name the attempt that may write a job's checkpoints before it is launched: whoever was thought dead may still run.

The folder is the user's, who may have put anything there: nothing is written through a link.
"""

import json
import os
from contextlib import suppress
from pathlib import Path

from headway.domain.attempt import Attempt
from headway.domain.errors import PlatformError
from headway.engines.protocol import UnixUser
from headway.sdk.job.lease import LEASE


def fence(folder: Path, attempt: Attempt, user: UnixUser | None) -> None:
    """From now on earlier attempts of the job are refused when they save. Raises `launch-refused` where it cannot."""
    try:
        _write(folder, attempt, user)
    except OSError as error:
        refused = {"engine": attempt.engine, "attempt": attempt.id, "detail": str(error)}
        raise PlatformError("launch-refused", **refused) from error


def _write(folder: Path, attempt: Attempt, user: UnixUser | None) -> None:
    draft = f".{LEASE}.server"
    within = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        with suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=within)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(draft, flags, 0o644, dir_fd=within), "w", encoding="utf-8") as file:
            json.dump({"job": attempt.job, "attempt_number": attempt.number}, file)
            file.flush()
            os.fsync(file.fileno())
            if user is not None and not os.geteuid():
                os.fchown(file.fileno(), user.uid, user.gid)
        os.rename(draft, LEASE, src_dir_fd=within, dst_dir_fd=within)
        os.fsync(within)
    finally:
        os.close(within)
