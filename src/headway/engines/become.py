"""Acting as another account: root becomes it, anybody else asks `sudo`. Decides nothing about who may.

Folders that an account is to own, and this process to read and write, need neither root nor a common group: the account
makes them inside a folder of ours that hands its group down (setgid), and whose name it alone is told.
"""

import os
import secrets
import shutil
import stat
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headway.domain.errors import PlatformError, say
from headway.engines.protocol import UnixUser

SUDO = ("sudo", "-n")
# Its owner and our group may do everything inside, and files made there belong to our group too; others pass nowhere.
SHARED = stat.S_ISGID | 0o770
# Only while something is made inside, under a name nobody can guess; nobody lists it, nobody removes others' entries.
STAGING = stat.S_ISGID | stat.S_ISVTX | 0o733
MAKE = 'umask 007 && cd "$1" && shift && exec mkdir -- "$@"'
PATH = "/usr/local/bin:/usr/bin:/bin"
SECONDS = 30.0
KILL_AFTER_S = 2
TIMED_OUT = 124


@dataclass(frozen=True, slots=True)
class Acting:
    """A command as it is started: its words, its environment, and what `Popen` is told of the account."""

    argv: Sequence[str]
    env: Mapping[str, str]
    account: Mapping[str, Any] = field(default_factory=dict)


def needs_sudo(user: UnixUser | None) -> bool:
    """Whether this process cannot become the user by itself."""
    return user is not None and os.geteuid() not in (0, user.uid)


def acting_as(
    user: UnixUser | None, argv: Sequence[str], env: Mapping[str, str], limit_s: float | None = None
) -> Acting:
    """A command that runs as the user (None: as this process) with exactly this environment.

    What runs by sudo cannot be killed from here: `limit_s` ends it by itself, with exit code 124 (`TIMED_OUT`).
    """
    if user is None or os.geteuid() == user.uid:
        return Acting(argv, env)
    if not os.geteuid():
        return Acting(argv, env, {"user": user.uid, "group": user.gid, "extra_groups": user.groups})
    words = (f"{name}={value}" for name, value in env.items())
    limit = ("timeout", f"--kill-after={KILL_AFTER_S}", str(limit_s)) if limit_s else ()
    # What it makes must be ours to read, whatever our own mask is.
    return Acting((*SUDO, "-u", user.name, "--", "env", "-i", *words, *limit, *argv), {"PATH": PATH}, {"umask": 0o022})


def hand_over(user: UnixUser, parent: Path, names: Sequence[str]) -> None:
    """Make folders of the user's in a folder of ours, `SHARED` with us; what is theirs already is left alone.

    Raises `cannot-become` where sudo or the file system does not let us.
    """
    missing = [name for name in names if not _is_theirs(user, parent / name)]
    if not missing:
        return
    staging = parent / f".for-{secrets.token_hex(16)}"
    staging.mkdir()
    try:
        staging.chmod(STAGING)
        _as_user(user, ["/bin/sh", "-c", MAKE, "make", str(staging), *missing])
        for name in missing:
            if not _is_shared(user, staging / name):
                raise _refusal(user, say("group-not-kept", path=str(parent)))
            os.rename(staging / name, parent / name)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def empty(user: UnixUser, folder: Path) -> None:
    """Remove what the user has in a folder, following nothing out of it. Raises `cannot-become`."""
    _as_user(user, ["find", str(folder), "-xdev", "-mindepth", "1", "-delete"])


def try_to_become(user: UnixUser) -> str | None:
    """Why this process may not act as the user; None: it may."""
    try:
        _as_user(user, ["true"])
    except PlatformError as refusal:
        return str(refusal.params["detail"])
    return None


def sudoers_line(server: str, users: Sequence[str]) -> str:
    """The line a site's administrator adds for these users."""
    return f"{server} ALL=({','.join(users)}) NOPASSWD: ALL"


def _as_user(user: UnixUser, argv: Sequence[str]) -> None:
    acting = acting_as(user, argv, {"PATH": PATH}, SECONDS)
    try:
        done = subprocess.run(
            acting.argv,
            env=acting.env,
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            **acting.account,
        )
    except OSError as error:
        raise _refusal(user, str(error)) from error
    if done.returncode:
        raise _refusal(user, " ".join(done.stderr.split()) or f"exit {done.returncode}")


def _is_theirs(user: UnixUser, folder: Path) -> bool:
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == user.uid


def _is_shared(user: UnixUser, folder: Path) -> bool:
    status = folder.lstat()
    ours = status.st_gid == os.getegid() and stat.S_IMODE(status.st_mode) == SHARED
    return ours and _is_theirs(user, folder)


def _refusal(user: UnixUser, detail: str) -> PlatformError:
    return PlatformError("cannot-become", user=user.name, detail=detail)
