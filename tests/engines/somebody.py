"""A real account of this machine for as long as a test runs, under a name that no other run uses."""

import os
import pwd
import secrets
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

from headway.engines.protocol import UnixUser

DEADLINE_S = 60


@contextmanager
def account(prefix: str = "hw") -> Iterator[UnixUser]:
    """Add an account with a home of its own; afterwards it is removed once none of its processes is left."""
    name = f"{prefix}-{secrets.token_hex(3)}"
    # slurmctld keeps associations by uid: one that was somebody else's a moment ago would still have theirs.
    uid = str(20000 + secrets.randbelow(30000))
    subprocess.run(["useradd", "--create-home", "--uid", uid, name], check=True)
    entry = pwd.getpwnam(name)
    try:
        yield UnixUser(name, entry.pw_uid, entry.pw_gid, (entry.pw_gid,), entry.pw_dir)
    finally:
        deadline = time.monotonic() + DEADLINE_S
        while owned(entry.pw_uid) and time.monotonic() < deadline:
            time.sleep(0.1)
        subprocess.run(["userdel", "--remove", name], check=True, capture_output=True)


def owned(uid: int) -> list[int]:
    """The processes of an account."""
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            if os.stat(f"/proc/{name}").st_uid == uid:
                found.append(int(name))
        except FileNotFoundError:
            continue
    return found
