"""Services: deploy, shift, roll back, history, stop."""

import json

from fastapi import APIRouter
from sqlalchemy import Connection

from headway.domain.errors import PlatformError
from headway.domain.service import Service, Split
from headway.server.access import Verb
from headway.server.api.asking import Asker, AskerHere, OnceHere
from headway.server.api.bodies import NewService, NewSplit, Rollback
from headway.server.api.paging import PageHere
from headway.server.api.views import ServiceView
from headway.server.operations.assets import serving
from headway.server.platform import Platform
from headway.store import services

router = APIRouter(tags=["services"])


@router.get("/services")
def list_services(asker: AskerHere, page: PageHere) -> list[ServiceView]:
    asker.check(Verb.READ, "service")
    with asker.platform.database.read() as c:
        found = page.of(_readable(c, asker), lambda service: (service.project, service.name))
        return [_view(asker.platform, c, service) for service in found]


@router.post("/services", status_code=201)
def deploy(body: NewService, asker: AskerHere, once: OnceHere) -> ServiceView:
    """Serve a model version: the first of a service gets all requests once ready, later ones wait for a shift."""
    asker.check(Verb.CREATE, "service", body.project)
    wanted = serving.Deployment(body.name, body.project, body.version, body.template or serving.TEMPLATE)

    def act(c: Connection) -> ServiceView:
        return _view(asker.platform, c, serving.deploy(asker.platform, c, asker.change(), wanted))

    view = once(body, ServiceView, act, before=lambda: serving.check_readable(asker.platform, wanted, asker.name))
    asker.platform.wake("schedule")
    return view


@router.get("/services/{project}/{name}")
def show(project: str, name: str, asker: AskerHere) -> ServiceView:
    with asker.platform.database.read() as c:
        return _view(asker.platform, c, _find(c, asker, project, name, Verb.READ))


@router.get("/services/{project}/{name}/history")
def history(project: str, name: str, asker: AskerHere, page: PageHere) -> list[Split]:
    """What was live when, who set it and why; newest first."""
    with asker.platform.database.read() as c:
        _find(c, asker, project, name, Verb.READ)
        return page.of(services.splits(c, name, project), lambda split: (-split.number,))


@router.post("/services/{project}/{name}/shift")
def shift(project: str, name: str, body: NewSplit, asker: AskerHere, once: OnceHere) -> Split:
    """Change the shares of versions, in percent."""

    def act(c: Connection) -> Split:
        service = _find(c, asker, project, name, Verb.CHANGE)
        return serving.shift(c, asker.change(), service, body.shares, body.reason)

    split = once(body, Split, act)
    asker.platform.wake("serve")
    return split


@router.post("/services/{project}/{name}/rollback")
def roll_back(project: str, name: str, body: Rollback, asker: AskerHere, once: OnceHere) -> Split:
    """Go back to the split before the present one."""

    def act(c: Connection) -> Split:
        service = _find(c, asker, project, name, Verb.CHANGE)
        return serving.roll_back(c, asker.change(), service, body.reason)

    split = once(body, Split, act)
    asker.platform.wake("serve")
    return split


@router.post("/services/{project}/{name}/stop")
def stop(project: str, name: str, asker: AskerHere) -> ServiceView:
    """Take a service off the gateway and stop its serving jobs."""
    with asker.platform.database.write() as c:
        service = _find(c, asker, project, name, Verb.STOP)
        serving.stop_service(c, asker.change(), service)
        view = _view(asker.platform, c, service)
    asker.platform.wake("serve", "observe")
    return view


def _find(c: Connection, asker: Asker, project: str, name: str, verb: Verb) -> Service:
    asker.check(verb, "service", project)
    found = services.get(c, name, project)
    if found is None:
        near = ", ".join(serving.key_of(known) for known in _readable(c, asker))
        raise PlatformError("not-found", what="service", value=f"{project}/{name}", near=near)
    return found


def _readable(c: Connection, asker: Asker) -> list[Service]:
    return [known for known in services.all(c) if asker.projects is None or known.project in asker.projects]


def _view(platform: Platform, c: Connection, service: Service) -> ServiceView:
    key = serving.key_of(service)
    split = services.current_split(c, service.name, service.project)
    settings = platform.settings
    return ServiceView(
        service=service,
        split=split,
        replicas=services.replicas(c, key),
        url=f"http://{settings.host}:{settings.gateway_port}/s/{key}/",
        live=split is not None and _is_live(platform, split),
    )


def _is_live(platform: Platform, split: Split) -> bool:
    """Whether the gateway has acknowledged routes that hold exactly this split."""
    try:
        wanted = json.loads((platform.gateway / "routes.json").read_text())
        status = json.loads((platform.gateway / "status.json").read_text())
    except (OSError, ValueError):
        return False
    shares = {share.version: share.weight for share in split.shares if share.weight}
    routed = {
        version["version"]: version["weight"]
        for service in wanted["services"]
        if f"{service['project']}/{service['name']}" == split.service
        for version in service["splits"]
        if version["weight"]
    }
    return bool(status["generation"] == wanted["generation"] and routed == shares)
