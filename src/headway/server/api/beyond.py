"""Warns of what a proposed table or a wished grant promises beyond what the site has, and of what a cut makes borrowed.

Decides only what is said to the author: it must never refuse, since nodes may be on their way.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from headway.domain.errors import Language, message
from headway.domain.grant import GrantRequest
from headway.domain.quota import Quota
from headway.domain.quota_version import QuotaVersion
from headway.server.operations.queue.quota import beyond_grants
from headway.store import nodes, quotas

Key = tuple[str, str]
"""A project and a device type."""


@dataclass(frozen=True, slots=True)
class ProposedView(QuotaVersion):
    """A table as it was kept. `warnings`: what it guarantees beyond the site, or less than what runs, in words."""

    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RequestedView(GrantRequest):
    """A request as it was kept. `warnings`: that it is for more than the site has, in words."""

    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SetView(Quota):
    """A number as it was set. `warnings`: that it is more than the site has, or less than what runs, in words."""

    warnings: tuple[str, ...] = ()


def of_table(c: Connection, version: QuotaVersion, now: datetime, language: Language) -> tuple[str, ...]:
    """Every branch that is guaranteed more of a device type than there is, and every cut below what runs."""
    branches = version.tree.branches.values()
    promised = [(branch.name, kind, entry.guaranteed) for branch in branches for kind, entry in branch.entries.items()]
    projects = {(name, kind): devices for name, kind, devices in promised if version.tree.branches[name].is_project}
    return _warnings(c, promised, language) + of_cuts(c, projects, now, language)


def of_number(c: Connection, quota: Quota, language: Language) -> tuple[str, ...]:
    """Whether one number alone is more than there is."""
    return _warnings(c, [(quota.project, quota.device_type, quota.devices)], language)


def of_grant(c: Connection, asked: GrantRequest, language: Language) -> tuple[str, ...]:
    """Whether the grant alone is for more than there is."""
    return _warnings(c, [(asked.project, asked.device_type, asked.devices)], language)


def of_cuts(c: Connection, promised: Mapping[Key, int], now: datetime, language: Language) -> tuple[str, ...]:
    """Every project that is promised less than now, and less than what runs there beyond its grants."""
    before = {(quota.project, quota.device_type): quota.devices for quota in quotas.quotas(c, now)}
    used = beyond_grants(c, now)
    cut = [key for key, devices in promised.items() if 0 <= devices < min(before.get(key, 0), used.get(key, 0))]
    return tuple(_cut(key, promised[key], used[key], language) for key in sorted(cut))


def _cut(key: Key, guaranteed: int, used: int, language: Language) -> str:
    numbers = {"used": used, "guaranteed": guaranteed, "borrowed": used - guaranteed}
    return message("cut-borrows", {"branch": key[0], "device_type": key[1], **numbers}, language)


def _warnings(c: Connection, promised: Iterable[tuple[str, str, int]], language: Language) -> tuple[str, ...]:
    has = Counter[str]()
    for node in nodes.all(c):
        has[node.device_type] += node.devices
    return tuple(
        message("beyond-site", {"branch": name, "device_type": kind, "devices": devices, "has": has[kind]}, language)
        for name, kind, devices in promised
        if devices > has[kind]
    )
