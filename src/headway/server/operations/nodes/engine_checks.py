"""Whether an engine is ready for jobs: what its own preflight finds, else whether it shows any node."""

from collections.abc import Sequence
from contextlib import suppress
from typing import cast

from sqlalchemy import Connection

from headway.domain.errors import PlatformError
from headway.engines.protocol import Capability, Engine, Finding, Preflight, UnixUser
from headway.server.operations.people.unix import account_of
from headway.store import accounts


async def findings(opened: Engine, server_url: str, users: Sequence[UnixUser]) -> list[Finding]:
    """Everything that was tried; `users`: whose jobs will be started. An engine that is away is a finding too."""
    if Capability.PREFLIGHT in opened.can:
        return list(await cast(Preflight, opened).check(server_url, users))
    try:
        shown = (await opened.inventory()).nodes
    except PlatformError as error:
        return [Finding("check-nodes", False, {"detail": str(error)})]
    detail = ", ".join(f"{node.name}: {node.devices} × {node.device_type}" for node in shown)
    return [Finding("check-nodes", bool(shown), {"detail": detail or "0"})]


def mapped(c: Connection) -> list[UnixUser]:
    """The accounts of this machine that users are mapped to, those it does not know left out."""
    known = {}
    for user in accounts.users(c):
        with suppress(PlatformError):
            known[user.unix_name] = account_of(c, user.name)
    return [account for account in known.values() if account is not None]
