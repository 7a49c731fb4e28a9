"""Grants: requested by whoever needs more, decided by another with the role for it, expiring by themselves."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from headway.domain.errors import PlatformError
from headway.domain.grant import GrantRequest, GrantState
from headway.domain.ids import check_name
from headway.domain.queue_events import GrantDecided, GrantEnding, GrantExpired, GrantRequested, GrantWithdrawn
from headway.domain.quota import Branch, QuotaTree, check_grants
from headway.server.operations.people.directory import Change, require_project
from headway.server.secrets import make_id
from headway.store import facts, grants, nodes, quota_versions


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody asks for."""

    project: str
    device_type: str
    devices: int
    begins: datetime
    ends: datetime
    reason: str


def request(c: Connection, change: Change, wish: Wish) -> GrantRequest:
    """Keep a request. Raises what `check_grants` raises, `grant-over`, and `quota-unknown-type`."""
    require_project(c, wish.project)
    check_name("device_type", wish.device_type)
    _check_type(c, wish)
    if wish.ends <= change.at:
        raise PlatformError("grant-over", ends=_iso(wish.ends))
    asked = GrantRequest(
        id=make_id("g"),
        project=wish.project,
        device_type=wish.device_type,
        devices=wish.devices,
        begins=wish.begins,
        ends=wish.ends,
        reason=wish.reason,
        requested_by=change.by,
        requested_at=change.at,
    )
    _check(c, asked, change.at)
    grants.insert(c, asked)
    said = GrantRequested(
        at=change.at,
        by=change.by,
        grant=asked.id,
        project=asked.project,
        device_type=asked.device_type,
        devices=asked.devices,
        begins=asked.begins,
        ends=asked.ends,
        reason=asked.reason,
    )
    facts.append(c, said)
    return asked


def decide(c: Connection, change: Change, id: str, approved: bool, note: str) -> GrantRequest:
    """Approve or deny a request of somebody else. Raises `grant-decided`, `grant-own-decision`, `grant-over`."""
    asked = _open(c, id)
    if asked.requested_by == change.by:
        raise PlatformError("grant-own-decision", grant=id, user=change.by)
    if approved and asked.ends <= change.at:
        raise PlatformError("grant-over", ends=_iso(asked.ends))
    state = GrantState.APPROVED if approved else GrantState.DENIED
    decided = replace(asked, state=state, decided_by=change.by, decided_at=change.at, note=note)
    if approved:
        _check(c, decided, change.at)
    grants.decide(c, decided)
    said = GrantDecided(at=change.at, by=change.by, grant=id, project=asked.project, approved=approved, note=note)
    facts.append(c, said)
    return decided


def withdraw(c: Connection, change: Change, id: str, reason: str) -> GrantRequest:
    """Take one's own request back before it is decided. Raises `grant-not-yours`, `grant-decided`, `not-found`."""
    asked = _open(c, id)
    if asked.requested_by != change.by:
        raise PlatformError("grant-not-yours", grant=id, asker=asked.requested_by, user=change.by)
    withdrawn = replace(
        asked, state=GrantState.WITHDRAWN, decided_by=change.by, decided_at=change.at, note=reason or None
    )
    grants.decide(c, withdrawn)
    facts.append(c, GrantWithdrawn(at=change.at, by=change.by, grant=id, project=asked.project, reason=reason))
    return withdrawn


def expire(c: Connection, now: datetime) -> int:
    """Let every grant end whose time has come; returns how many."""
    return _end(c, [granted for granted in grants.approved(c) if granted.ends <= now], now)


def revoke(c: Connection, project: str, now: datetime) -> int:
    """Let every grant of a project end now; returns how many."""
    return _end(c, [granted for granted in grants.approved(c) if granted.project == project], now)


def warn(c: Connection, soon: datetime, now: datetime) -> int:
    """Tell the holders of grants that end before `soon`, once each; returns how many."""
    ending = [g for g in grants.approved(c) if g.warned_at is None and now < g.ends <= soon]
    for granted in ending:
        grants.warn(c, granted.id, now)
        said = GrantEnding(
            at=now,
            by="server",
            grant=granted.id,
            project=granted.project,
            holder=granted.requested_by,
            ends=granted.ends,
        )
        facts.append(c, said)
    return len(ending)


def _open(c: Connection, id: str) -> GrantRequest:
    """A request that nobody has decided on. Raises `not-found`, `grant-decided`."""
    asked = grants.get(c, id)
    if asked is None:
        raise PlatformError("not-found", what="grant", value=id)
    if asked.state is not GrantState.REQUESTED:
        raise PlatformError("grant-decided", grant=id, state=asked.state)
    return asked


def _end(c: Connection, over: Sequence[GrantRequest], now: datetime) -> int:
    for granted in over:
        grants.expire(c, granted.id)
        facts.append(c, GrantExpired(at=now, by="server", grant=granted.id, project=granted.project))
    return len(over)


def _check(c: Connection, asked: GrantRequest, now: datetime) -> None:
    """Grants of one project and device type follow one another; the project is one of the table's."""
    tree = quota_versions.tree(c, now)
    others = [granted.grant for granted in grants.approved(c)]
    check_grants([*others, asked.grant], tree if asked.project in tree.branches else _alone(tree, asked.project))


def _alone(tree: QuotaTree, project: str) -> QuotaTree:
    """A project of the directory that the table does not name yet may be granted something all the same."""
    return QuotaTree({**tree.branches, project: Branch(project, None, is_project=True)})


def _check_type(c: Connection, wish: Wish) -> None:
    known = {node.device_type for node in nodes.all(c)}
    if wish.device_type not in known:
        shown = ", ".join(sorted(known)) or None
        raise PlatformError("quota-unknown-type", branch=wish.project, device_type=wish.device_type, known=shown)


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
