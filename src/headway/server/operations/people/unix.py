"""Unix accounts behind users: whose account ranks run under, and whether that account may read a path.

In production ranks never run as root and an unmapped user is refused. In development an unmapped user's ranks run as
the server itself.
"""

import grp
import os
import pwd
import subprocess
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection

from headway.domain.errors import PlatformError
from headway.engines.protocol import UnixUser
from headway.server.settings import Settings
from headway.store import accounts

SECONDS = 10.0
SECONDS_TO_DIE = 1.0
LOOK = 'test -r "$1" || { test -e "$1" && exit 1; exit 4; }'
ANSWERS = {0: None, 4: "word-no-such-path"}


def account_of(c: Connection, name: str) -> UnixUser | None:
    """The Unix account a user is mapped to; None when unmapped. Raises `unmapped-user` when it does not exist here."""
    user = accounts.user(c, name)
    if user is None or user.unix_name is None:
        return None
    try:
        entry = pwd.getpwnam(user.unix_name)
    except KeyError:
        raise PlatformError("unmapped-user", user=name, node=os.uname().nodename) from None
    groups = tuple(sorted({group.gr_gid for group in grp.getgrall() if entry.pw_name in group.gr_mem} | {entry.pw_gid}))
    return UnixUser(entry.pw_name, entry.pw_uid, entry.pw_gid, groups, entry.pw_dir)


def check_unix_name(name: str) -> None:
    """Raise `invalid-field` for an account that this machine does not know: ranks could never run under it."""
    try:
        pwd.getpwnam(name)
    except KeyError:
        raise PlatformError("invalid-field", field="unix_name", value=name, rule="rule-unix-account") from None


def check_account(settings: Settings, c: Connection, name: str) -> UnixUser | None:
    """The account ranks of this user run under, None for the server's own. Raises `unmapped-user` by policy."""
    account = account_of(c, name)
    if settings.mode == "production" and (account is None or account.uid == 0):
        raise PlatformError("unmapped-user", user=name, node=os.uname().nodename)
    return account if account is not None and os.geteuid() == 0 else None


def check_readable(field: str, path: str, by: str, account: UnixUser | None) -> None:
    """Raise `not-readable` unless the account that `by` is mapped to (None: the server's own) can read the path.

    Takes up to `SECONDS` where a file system hangs: never within a transaction.
    """
    if not path.startswith("/"):
        raise PlatformError("invalid-field", field=field, value=path[:80], rule="rule-absolute-path")
    runs_as = account if os.geteuid() == 0 else None
    refused = _try_to_read(path, runs_as)
    if refused is not None:
        shown = by if runs_as is None else f"{by} (uid {runs_as.uid})"
        raise PlatformError("not-readable", field=field, value=path, user=shown, detail=refused)


def _try_to_read(path: str, account: UnixUser | None) -> str | None:
    """Why a path cannot be read, None: it can. A child looks, so that a file system that hangs holds up nobody."""
    identity: dict[str, Any] = {}
    if account is not None:
        identity = {"user": account.uid, "group": account.gid, "extra_groups": account.groups}
    looking = subprocess.Popen(["/bin/sh", "-c", LOOK, "look", path], cwd="/", stdin=subprocess.DEVNULL, **identity)
    try:
        return ANSWERS.get(looking.wait(SECONDS), "word-no-permission")
    except subprocess.TimeoutExpired:
        looking.kill()
        with suppress(subprocess.TimeoutExpired):  # stuck in the kernel it dies when the file system answers
            looking.wait(SECONDS_TO_DIE)
        return "word-timed-out"
