"""Grants and windows: asked for, decided, listed; set and cancelled."""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from fastapi import APIRouter
from sqlalchemy import Connection

from headway.domain.errors import PlatformError
from headway.domain.grant import GrantRequest, GrantState
from headway.scheduler.snapshot import Window
from headway.server.access import Verb
from headway.server.api.asking import AskerHere, OnceHere
from headway.server.api.beyond import RequestedView, of_grant
from headway.server.api.bodies import DecideGrant, NewGrant, NewWindow, WithdrawGrant
from headway.server.api.paging import PageHere, newest
from headway.server.api.showing import LanguageHere
from headway.server.operations.queue import granting, windows
from headway.store import grants
from headway.store import windows as kept
from headway.store.windows import KeptWindow

router = APIRouter()


@dataclass(frozen=True, slots=True)
class GrantView:
    """A request as it stands; `active`: it raises the quota now; `ends_soon`: its holder is to look after it."""

    request: GrantRequest
    active: bool
    ends_soon: bool


@router.get("/grants", tags=["grants"])
def list_grants(
    asker: AskerHere, page: PageHere, project: str | None = None, state: GrantState | None = None
) -> list[GrantView]:
    """Requests and decisions, newest first: every member may read all of them."""
    asker.check(Verb.READ, "grant")
    now = asker.platform.clock.now()
    with asker.platform.database.read() as c:
        found = grants.all(c, None if project is None else [project])
    warning = asker.platform.settings.grant_warning
    wanted = [request for request in found if state in (None, request.state)]
    told = page.of(wanted, lambda request: newest(request.requested_at, request.id))
    return [_view(request, now, warning) for request in told]


@router.post("/grants", status_code=201, tags=["grants"])
def request_grant(body: NewGrant, asker: AskerHere, once: OnceHere, language: LanguageHere) -> RequestedView:
    """Ask for devices beyond the quota, until a date; more than the site has is warned of, not refused."""
    asker.check(Verb.CREATE, "grant", body.project)
    change = asker.change()
    wish = granting.Wish(
        project=body.project,
        device_type=body.device_type,
        devices=body.devices,
        begins=body.begins or change.at,
        ends=body.ends,
        reason=body.reason,
    )

    def act(c: Connection) -> RequestedView:
        asked = granting.request(c, change, wish)
        return RequestedView(**asdict(asked), warnings=of_grant(c, asked, language))

    return once(body, RequestedView, act)


@router.post("/grants/{grant}/decide", tags=["grants"])
def decide_grant(grant: str, body: DecideGrant, asker: AskerHere) -> GrantRequest:
    """Approve or deny somebody else's request."""
    with asker.platform.database.write() as c:
        asked = grants.get(c, grant)
        if asked is None:
            raise PlatformError("not-found", what="grant", value=grant)
        asker.check(Verb.CHANGE, "grant", asked.project)
        decided = granting.decide(c, asker.change(), grant, body.approve, body.note)
    asker.platform.wake("schedule")
    return decided


@router.post("/grants/{grant}/withdraw", tags=["grants"])
def withdraw_grant(grant: str, body: WithdrawGrant, asker: AskerHere) -> GrantRequest:
    """Take one's own request back while nobody has decided on it."""
    asker.check(Verb.READ, "grant")
    with asker.platform.database.write() as c:
        return granting.withdraw(c, asker.change(), grant, body.reason)


@router.get("/windows", tags=["windows"])
def list_windows(asker: AskerHere, page: PageHere) -> list[KeptWindow]:
    """Windows that are not over, first to begin first."""
    asker.check(Verb.READ, "window")
    with asker.platform.database.read() as c:
        ahead = kept.ahead(c, asker.platform.clock.now())
    return page.of(ahead, lambda window: (window.content.begins.timestamp(), window.id))


@router.post("/windows", status_code=201, tags=["windows"])
def set_window(body: NewWindow, asker: AskerHere, once: OnceHere) -> KeptWindow:
    """Keep nodes free for a while: for maintenance, or for one project."""
    asker.check(Verb.CREATE, "window", body.project)
    window = Window(body.name, body.begins, body.ends, frozenset(body.nodes), body.device_type, body.project)
    made = once(body, KeptWindow, lambda c: windows.set_window(c, asker.change(), window, body.reason))
    asker.platform.wake("schedule", "forecast")
    return made


@router.delete("/windows/{window}", status_code=204, tags=["windows"])
def cancel_window(window: str, asker: AskerHere) -> None:
    """Let a window be over."""
    asker.check(Verb.STOP, "window")
    with asker.platform.database.write() as c:
        windows.cancel(c, asker.change(), window)
    asker.platform.wake("schedule", "forecast")


def _view(request: GrantRequest, now: datetime, warning: timedelta) -> GrantView:
    approved = request.state is GrantState.APPROVED
    soon = approved and now < request.ends <= now + warning
    return GrantView(request, approved and request.grant.holds_at(now), soon)
