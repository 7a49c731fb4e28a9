"""Unix accounts by name. Decides nothing about who may run as whom."""

import os
import pwd

from headway.domain.errors import PlatformError
from headway.engines.protocol import UnixUser


def unix_user(name: str, node: str, *, allow_root: bool = False) -> UnixUser:
    """The account of this name on this machine, with all its groups.

    Raises `unmapped-user`, also for root unless `allow_root`.
    """
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        raise PlatformError("unmapped-user", user=name, node=node) from None
    if entry.pw_uid == 0 and not allow_root:
        raise PlatformError("unmapped-user", user=name, node=node)
    groups = tuple(os.getgrouplist(entry.pw_name, entry.pw_gid))
    return UnixUser(entry.pw_name, entry.pw_uid, entry.pw_gid, groups, entry.pw_dir)
