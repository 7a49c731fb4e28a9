"""Services, the splits of their traffic, and their replicas.

A service's key is (project, name); splits and replicas carry it as `project/name`.
"""

from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, bindparam, update

from headway.domain.errors import PlatformError
from headway.domain.service import Replica, Service, Split
from headway.store import schema
from headway.store.shape import Shape
from headway.store.upsert import InsertNew, Upsert

_services, _splits, _replicas = schema.services, schema.splits, schema.replicas
_SERVICE = Shape(Service, _services, without=("split",))
_SPLIT = Shape(Split, _splits)
_REPLICA = Shape(Replica, _replicas)
# A name is free again once its service was stopped; its splits go on counting.
_ADD = Upsert(_services, when=lambda _new: _services.c.stopped_at.is_not(None))
_ALL = _SERVICE.select().order_by(_services.c.project, _services.c.name)
_GET = _SERVICE.select().where(_services.c.project == bindparam("project"), _services.c.name == bindparam("name"))
_STOP = (
    update(_services)
    .where(_services.c.project == bindparam("in_project"), _services.c.name == bindparam("called"))
    .where(_services.c.stopped_at.is_(None))
    .values(stopped_at=bindparam("at"))
)
_ADD_SPLIT = InsertNew(_splits)
_OF_SERVICE = _SPLIT.select().where(_splits.c.service == bindparam("service"))
_SPLITS = _OF_SERVICE.order_by(_splits.c.number)
_CURRENT = _OF_SERVICE.order_by(_splits.c.number.desc()).limit(1)
_PUT_REPLICA = Upsert(_replicas)
_ALL_REPLICAS = _REPLICA.select().order_by(_replicas.c.service, _replicas.c.version, _replicas.c.job)


def key(name: str, project: str) -> str:
    """How splits and replicas name a service."""
    return f"{project}/{name}"


def add(c: Connection, service: Service) -> None:
    """Keep a new service. Raises `already-exists` while one of its name is not stopped."""
    if not _ADD(c, _SERVICE.row(service)):
        raise PlatformError("already-exists", field="service", value=service.name)


def get(c: Connection, name: str, project: str) -> Service | None:
    """The service of this name, with its current split."""
    service = _SERVICE.one(c, _GET, {"name": name, "project": project})
    return service and replace(service, split=current_split(c, name, project))


def all(c: Connection) -> list[Service]:
    """Every service, with its current split, by project and name."""
    current = {split.service: split for split in _SPLIT.all(c, _SPLIT.select().order_by(_splits.c.number))}
    return [replace(each, split=current.get(key(each.name, each.project))) for each in _SERVICE.all(c, _ALL)]


def stop(c: Connection, name: str, project: str, at: datetime) -> bool:
    """Note that a service was stopped; False when it was not running."""
    return bool(c.execute(_STOP, {"called": name, "in_project": project, "at": at}).rowcount)


def add_split(c: Connection, split: Split) -> None:
    """Make a split the current one. Raises `conflict` when its number is taken."""
    if not _ADD_SPLIT(c, _SPLIT.row(split)):
        raise PlatformError("conflict", what=f"split {split.number} of {split.service}")


def splits(c: Connection, service: str, project: str) -> list[Split]:
    """Every split of a service, first to last."""
    return _SPLIT.all(c, _SPLITS, {"service": key(service, project)})


def current_split(c: Connection, service: str, project: str) -> Split | None:
    """The split that is live."""
    return _SPLIT.one(c, _CURRENT, {"service": key(service, project)})


def put_replica(c: Connection, replica: Replica) -> None:
    """Note how a replica stands; its job is its key."""
    _PUT_REPLICA(c, _REPLICA.row(replica))


def replicas(c: Connection, service: str | None = None) -> list[Replica]:
    """Every replica, gone ones too, or those of one service (`project/name`)."""
    statement = _ALL_REPLICAS if service is None else _ALL_REPLICAS.where(_replicas.c.service == service)
    return _REPLICA.all(c, statement)
