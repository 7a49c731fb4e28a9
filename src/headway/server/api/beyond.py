"""Warns of what a proposed table or a wished grant promises beyond the devices that the site has.

Decides only what is said to the author: it must never refuse, since nodes may be on their way.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection

from headway.domain.errors import Language, message
from headway.domain.grant import GrantRequest
from headway.domain.quota import Quota
from headway.domain.quota_version import QuotaVersion
from headway.store import nodes


@dataclass(frozen=True, slots=True)
class ProposedView(QuotaVersion):
    """A table as it was kept. `warnings`: what it guarantees beyond what the site has, in words."""

    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RequestedView(GrantRequest):
    """A request as it was kept. `warnings`: that it is for more than the site has, in words."""

    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SetView(Quota):
    """A number as it was set. `warnings`: that it is more than the site has, in words."""

    warnings: tuple[str, ...] = ()


def of_table(c: Connection, version: QuotaVersion, language: Language) -> tuple[str, ...]:
    """Every branch that is guaranteed more of a device type than there is."""
    promised = (
        (branch.name, kind, entry.guaranteed)
        for branch in version.tree.branches.values()
        for kind, entry in branch.entries.items()
    )
    return _warnings(c, promised, language)


def of_number(c: Connection, quota: Quota, language: Language) -> tuple[str, ...]:
    """Whether one number alone is more than there is."""
    return _warnings(c, [(quota.project, quota.device_type, quota.devices)], language)


def of_grant(c: Connection, asked: GrantRequest, language: Language) -> tuple[str, ...]:
    """Whether the grant alone is for more than there is."""
    return _warnings(c, [(asked.project, asked.device_type, asked.devices)], language)


def _warnings(c: Connection, promised: Iterable[tuple[str, str, int]], language: Language) -> tuple[str, ...]:
    has = Counter[str]()
    for node in nodes.all(c):
        has[node.device_type] += node.devices
    return tuple(
        message("beyond-site", {"branch": name, "device_type": kind, "devices": devices, "has": has[kind]}, language)
        for name, kind, devices in promised
        if devices > has[kind]
    )
