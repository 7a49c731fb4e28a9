"""Unix accounts behind users: whose account ranks run under, and whether that account may read a path.

In production ranks never run as root and a user is refused who is unmapped, or whose account the server cannot become.
In development their ranks run as the server itself.
"""

import grp
import os
import pwd
import subprocess
from collections.abc import Collection
from contextlib import suppress

from sqlalchemy import Connection

from headway.domain.errors import PlatformError
from headway.engines.become import KILL_AFTER_S, PATH, TIMED_OUT, acting_as, needs_sudo, try_to_become
from headway.engines.protocol import Capability, Engine, UnixUser
from headway.server.settings import Settings
from headway.store import accounts

SECONDS = 10.0
SECONDS_TO_DIE = 1.0
LOOK = 'test -r "$1" || { test -e "$1" && exit 1; exit 4; }'
ANSWERS = {0: None, 4: "word-no-such-path", TIMED_OUT: "word-timed-out"}


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


def check_account(settings: Settings, c: Connection, name: str, engines: Collection[Engine]) -> UnixUser | None:
    """The account under which ranks of this user run on one of these engines, None for the server's own.

    Raises `unmapped-user` and `cannot-become` by policy.
    """
    account = account_of(c, name)
    if settings.mode == "production" and (account is None or account.uid == 0):
        raise PlatformError("unmapped-user", user=name, node=os.uname().nodename)
    if account is None or may_become(engines):
        return account
    if settings.mode == "production" and account.uid != os.geteuid():
        raise PlatformError("cannot-become", user=account.name, detail="word-not-root")
    return None


def may_become(engines: Collection[Engine]) -> bool:
    """Whether the server acts as its users: root does, anybody else where one of the engines does."""
    return os.geteuid() == 0 or any(Capability.BECOMES in engine.can for engine in engines)


def check_readable(field: str, path: str, by: str, account: UnixUser | None) -> None:
    """Raise `not-readable` unless the account as which the server acts (None: its own) can read the path, and
    `cannot-become` where sudo does not let it act so.

    Takes up to `SECONDS` where a file system hangs: never within a transaction.
    """
    if not path.startswith("/"):
        raise PlatformError("invalid-field", field=field, value=path[:80], rule="rule-absolute-path")
    refused = _try_to_read(path, account)
    if refused is not None:
        if account is not None and needs_sudo(account) and (why := try_to_become(account)):
            raise PlatformError("cannot-become", user=account.name, detail=why)
        shown = by if account is None else f"{by} (uid {account.uid})"
        raise PlatformError("not-readable", field=field, value=path, user=shown, detail=refused)


def _try_to_read(path: str, account: UnixUser | None) -> str | None:
    """Why a path cannot be read, None: it can. A child looks, so that a file system that hangs holds up nobody."""
    acting = acting_as(account, ["/bin/sh", "-c", LOOK, "look", path], {"PATH": PATH}, SECONDS)
    looking = subprocess.Popen(acting.argv, env=acting.env, cwd="/", stdin=subprocess.DEVNULL, **acting.account)
    try:
        return ANSWERS.get(looking.wait(SECONDS + 2 * KILL_AFTER_S), "word-no-permission")
    except subprocess.TimeoutExpired:
        with suppress(
            subprocess.TimeoutExpired, PermissionError
        ):  # stuck in the kernel it dies when the file system answers
            looking.kill()
            looking.wait(SECONDS_TO_DIE)
        return "word-timed-out"
