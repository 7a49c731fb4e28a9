"""The quota table: read by everybody, proposed, decided on by another role, withdrawn; closing a project."""

from dataclasses import asdict

from fastapi import APIRouter
from sqlalchemy import Connection

from headway.domain.errors import PlatformError
from headway.domain.quota import Project
from headway.domain.quota_table import differences, from_table
from headway.domain.quota_version import QuotaVersion
from headway.server import quota_file
from headway.server.access import OPERATORS, Verb
from headway.server.api.asking import Asker, AskerHere, OnceHere
from headway.server.api.beyond import ProposedView, of_table
from headway.server.api.bodies import ApproveQuota, NewQuotaVersion, RejectQuota, WithdrawQuota
from headway.server.api.paging import PageHere
from headway.server.api.showing import LanguageHere
from headway.server.api.table import TableView, table_of
from headway.server.operations.queue import quota as operations
from headway.store import accounts, quota_versions

router = APIRouter(tags=["quota"])


@router.get("/quota")
def show_table(asker: AskerHere) -> TableView:
    """The quota table: every member may read all of it, and who holds what of it since when."""
    asker.check(Verb.READ, "quota")
    platform = asker.platform
    with platform.database.read() as c:
        return table_of(c, platform.clock.now(), platform.settings.zone)


@router.get("/quota/versions")
def list_versions(asker: AskerHere, page: PageHere) -> list[QuotaVersion]:
    """Every table that was ever proposed, newest first, with its author, reason and difference."""
    asker.check(Verb.READ, "quota")
    with asker.platform.database.read() as c:
        return page.of(quota_versions.all(c), lambda version: (-version.number,))


@router.get("/quota/versions/{number}")
def show_version(number: int, asker: AskerHere) -> QuotaVersion:
    """One table."""
    asker.check(Verb.READ, "quota")
    with asker.platform.database.read() as c:
        return _version(c, number)


@router.get("/quota/versions/{number}/diff")
def show_difference(number: int, asker: AskerHere, against: int | None = None) -> list[str]:
    """What one table changes, against the one it was based on or another."""
    asker.check(Verb.READ, "quota")
    with asker.platform.database.read() as c:
        version = _version(c, number)
        base = _version(c, against).tree if against is not None else None
    return list(version.diff if base is None else differences(base, version.tree))


@router.post("/quota/versions", status_code=201)
def propose(body: NewQuotaVersion, asker: AskerHere, once: OnceHere, language: LanguageHere) -> ProposedView:
    """Propose a whole table, as TOML or YAML text or as a table; nothing changes before another role approves it.

    What it guarantees beyond what the site has is warned of, not refused.
    """
    asker.check(Verb.CREATE, "quota")
    if (body.content is None) == (body.table is None):
        raise PlatformError("invalid-field", field="content", value="", rule="content | table")
    tree = quota_file.read(body.content, body.format) if body.content is not None else from_table(body.table or {})

    def act(c: Connection) -> ProposedView:
        kept = operations.propose(c, asker.change(), tree, body.reason)
        return ProposedView(**asdict(kept), warnings=of_table(c, kept, kept.proposed_at, language))

    return once(body, ProposedView, act)


@router.post("/quota/versions/{number}/approve")
def approve(number: int, body: ApproveQuota, asker: AskerHere) -> QuotaVersion:
    """Let a proposed table be in force from a date on."""
    asker.check(Verb.CHANGE, "quota")
    with asker.platform.database.write() as c:
        approved = operations.approve(c, asker.change(), number, body.in_force_from, _roles(c, asker, number))
    asker.platform.wake("schedule")
    return approved


@router.post("/quota/versions/{number}/reject")
def reject(number: int, body: RejectQuota, asker: AskerHere) -> QuotaVersion:
    """Turn a proposed table down, with a reason for its author."""
    asker.check(Verb.CHANGE, "quota")
    with asker.platform.database.write() as c:
        return operations.reject(c, asker.change(), number, body.reason, _roles(c, asker, number))


@router.post("/quota/versions/{number}/withdraw")
def withdraw(number: int, body: WithdrawQuota, asker: AskerHere) -> QuotaVersion:
    """Take one's own proposed table back."""
    asker.check(Verb.CREATE, "quota")
    with asker.platform.database.write() as c:
        return operations.withdraw(c, asker.change(), number, body.reason)


@router.post("/projects/{project}/close")
def close(project: str, asker: AskerHere) -> Project:
    """Close a project: its quota is free at once, and its jobs are stopped."""
    asker.check(Verb.STOP, "project", project)
    with asker.platform.database.write() as c:
        closed = operations.close(c, asker.change(), project)
    asker.platform.wake("schedule", "observe")
    return closed


def _version(c: Connection, number: int) -> QuotaVersion:
    version = quota_versions.get(c, number)
    if version is None:
        raise PlatformError("not-found", what="quota version", value=str(number))
    return version


def _roles(c: Connection, asker: Asker, number: int) -> tuple[set[str], set[str]]:
    """The roles with which the asker decides on a version, and those its author holds everywhere."""
    mine = {role.value for role, scope in asker.held if scope is None and role in OPERATORS}
    return mine, {role for role, scope in accounts.roles(c, _version(c, number).author) if scope is None}
