"""Unix accounts behind users: whose account ranks run under, and whether that account may read a path.

In production ranks never run as root and an unmapped user is refused. In development an unmapped user's ranks run as
the server itself.
"""

import grp
import os
import pwd
import subprocess

from sqlalchemy import Connection

from headway.domain.errors import PlatformError
from headway.engines.protocol import UnixUser
from headway.server.settings import Settings
from headway.store import accounts

SECONDS = 10


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


def check_account(settings: Settings, c: Connection, name: str) -> UnixUser | None:
    """The account ranks of this user run under, None for the server's own. Raises `unmapped-user` by policy."""
    account = account_of(c, name)
    if settings.mode == "production" and (account is None or account.uid == 0):
        raise PlatformError("unmapped-user", user=name, node=os.uname().nodename)
    return account if account is not None and os.geteuid() == 0 else None


def check_readable(c: Connection, field: str, path: str, by: str) -> None:
    """Raise `not-readable` unless the account `by` is mapped to (else the server) can read the path."""
    account = account_of(c, by)
    if account is None or os.geteuid() != 0:
        readable = os.access(path, os.R_OK)
        shown = by
    else:
        readable = _readable_as(account, path)
        shown = f"{by} (uid {account.uid})"
    if not readable:
        detail = "word-no-permission" if os.path.lexists(path) else "word-no-such-path"
        raise PlatformError("not-readable", field=field, value=path, user=shown, detail=detail)


def _readable_as(account: UnixUser, path: str) -> bool:
    done = subprocess.run(
        ["/usr/bin/test", "-r", path],
        user=account.uid,
        group=account.gid,
        extra_groups=account.groups,
        cwd="/",
        timeout=SECONDS,
        check=False,
    )
    return done.returncode == 0
