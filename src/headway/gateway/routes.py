"""What the server asks to have served: the content of `routes.json` as frozen values.

Decides whether a routes file is acceptable and says which field is not. Pure: reads no file and knows nothing of Envoy.
"""

import json
import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import cast

from headway.domain.errors import PlatformError, say
from headway.domain.ids import check_name

WHOLE = 100
ADDRESS = re.compile(r"(?:\[(?P<six>[0-9a-fA-F:.]+)\]|(?P<four>[0-9.]+)):(?P<port>[0-9]{1,5})")
PREFIX = re.compile(r"/(?:[A-Za-z0-9_-][A-Za-z0-9._-]*/)+")
ROUTES_KEYS = frozenset({"generation", "services"})
SERVICE_KEYS = frozenset({"name", "project", "prefix", "splits", "rewrite_model"})
SHARE_KEYS = frozenset({"version", "weight", "endpoints"})


@dataclass(frozen=True, slots=True)
class Share:
    """One version's part of a service, in percent, and where it listens (`ip:port`)."""

    version: str
    weight: int
    endpoints: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ServiceRoute:
    """One served name: requests under `prefix` go to its shares, the prefix taken off."""

    project: str
    name: str
    prefix: str
    shares: tuple[Share, ...]


@dataclass(frozen=True, slots=True)
class Routes:
    """Everything the gateway serves, numbered by the server."""

    generation: int
    services: tuple[ServiceRoute, ...]


def parse(text: str | bytes) -> Routes:
    """Read the content of a routes file.

    Raises `routes-unreadable` when it is not JSON, else `routes-refused` or `invalid-name` naming the field.
    """
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PlatformError("routes-unreadable", detail=str(error)) from None
    raw = _table("routes", found, ROUTES_KEYS)
    generation = _whole_number("generation", raw.get("generation"))
    listed = _list("services", raw.get("services"))
    services = tuple(_service(f"services[{at}]", each) for at, each in enumerate(listed))
    _all_different("services", (f"{service.project}/{service.name}" for service in services))
    _all_different("services.prefix", (service.prefix for service in services))
    return Routes(generation, services)


def _service(field: str, found: object) -> ServiceRoute:
    raw = _table(field, found, SERVICE_KEYS)
    project = _name(f"{field}.project", raw.get("project"))
    name = _name(f"{field}.name", raw.get("name"))
    prefix = raw.get("prefix", f"/s/{project}/{name}/")
    if not isinstance(prefix, str) or not PREFIX.fullmatch(prefix):
        raise _refused(f"{field}.prefix", prefix, say("route-prefix"))
    if raw.get("rewrite_model") is not None:
        raise _refused(f"{field}.rewrite_model", raw["rewrite_model"], say("route-null"))
    listed = _list(f"{field}.splits", raw.get("splits"))
    shares = tuple(_share(f"{field}.splits[{at}]", each) for at, each in enumerate(listed))
    _all_different(f"{field}.splits.version", (share.version for share in shares))
    total = sum(share.weight for share in shares)
    if total != WHOLE:
        raise _refused(f"{field}.splits", total, say("route-sum", whole=WHOLE))
    return ServiceRoute(project, name, prefix, shares)


def _share(field: str, found: object) -> Share:
    raw = _table(field, found, SHARE_KEYS)
    listed = _list(f"{field}.endpoints", raw.get("endpoints"))
    endpoints = tuple(_endpoint(f"{field}.endpoints", each) for each in listed)
    if not endpoints:
        raise _refused(f"{field}.endpoints", "[]", say("route-endpoint"))
    _all_different(f"{field}.endpoints", endpoints)
    weight = _whole_number(f"{field}.weight", raw.get("weight"))
    return Share(_version(f"{field}.version", raw.get("version")), weight, endpoints)


def address(endpoint: str) -> tuple[str, int]:
    """Split `ip:port` or `[ip6]:port`; raises ValueError for anything else."""
    found = ADDRESS.fullmatch(endpoint)
    if found is None or not 0 < int(found["port"]) < 65536:
        raise ValueError(f"not an address and a port: {endpoint!r}")
    host = IPv6Address(found["six"]) if found["six"] else IPv4Address(found["four"])
    return str(host), int(found["port"])


def _endpoint(field: str, found: object) -> str:
    try:
        address(found if isinstance(found, str) else "")
    except ValueError:
        raise _refused(field, found, say("route-address")) from None
    return cast(str, found)


def _table(field: str, found: object, keys: frozenset[str]) -> Mapping[str, object]:
    if not isinstance(found, dict):
        raise _refused(field, found, say("route-object"))
    unknown = sorted(set(found) - keys)
    if unknown:
        raise _refused(f"{field}.{unknown[0]}", found[unknown[0]], say("route-key"))
    return found


def _list(field: str, found: object) -> list[object]:
    if not isinstance(found, list):
        raise _refused(field, found, say("route-list"))
    return found


def _whole_number(field: str, found: object) -> int:
    if not isinstance(found, int) or isinstance(found, bool) or found < 0:
        raise _refused(field, found, say("route-number"))
    return found


def _version(field: str, found: object) -> str:
    """A name, or a model version as `name@number`."""
    name, at, number = found.partition("@") if isinstance(found, str) else (found, "", "")
    if at and not number.isdecimal():
        raise _refused(field, found, say("route-version"))
    return f"{_name(field, name)}{at}{number}"


def _name(field: str, found: object) -> str:
    if not isinstance(found, str):
        raise _refused(field, found, say("route-name"))
    return check_name(field, found)


def _all_different(field: str, found: Iterable[Hashable]) -> None:
    seen: set[Hashable] = set()
    for each in found:
        if each in seen:
            raise _refused(field, each, say("route-twice"))
        seen.add(each)


def _refused(field: str, value: object, rule: str) -> PlatformError:
    return PlatformError("routes-refused", field=field, value=repr(value)[:80], rule=rule)
