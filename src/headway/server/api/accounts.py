"""Logging in, and what belongs to one user: tokens, roles, the password. A token is told once and never listed."""

from dataclasses import dataclass

from fastapi import APIRouter
from sqlalchemy import Connection

from headway.domain.grant import GrantRequest
from headway.server.access import Role, Verb, may
from headway.server.api.asking import Asker, AskerHere, OnceHere, PlatformHere
from headway.server.api.bodies import LogIn, NewPassword, NewRole, NewToken, NewUser
from headway.server.api.paging import PageHere
from headway.server.api.views import TokenView
from headway.server.operations.people import accounts as operations
from headway.server.operations.people import directory
from headway.server.operations.people.unix import check_unix_name
from headway.server.secrets import hash_password
from headway.store import accounts, grants
from headway.store.accounts import Token

router = APIRouter(tags=["accounts"])


@dataclass(frozen=True, slots=True)
class Me:
    """Who a token belongs to, and the roles held: role and project, `*` for everywhere."""

    user: str
    roles: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Asking(Me):
    """The same of whoever asks, with the grants they asked for that expire soon."""

    grants_ending: list[GrantRequest]


@router.post("/login")
def log_in(body: LogIn, platform: PlatformHere) -> TokenView:
    """A token for a user name and a password."""
    change = directory.Change(body.user, platform.clock.now())
    return TokenView(operations.log_in(platform.database, change, body.password), body.user)


@router.get("/me")
def me(asker: AskerHere) -> Asking:
    """Who am I?"""
    now, roles = asker.platform.clock.now(), [(role.value, scope or "*") for role, scope in asker.held]
    soon = now + asker.platform.settings.grant_warning
    with asker.platform.database.read() as c:
        mine = [grant for grant in grants.approved(c) if grant.requested_by == asker.name and now < grant.ends <= soon]
    return Asking(asker.name, roles, mine)


@router.get("/users")
def list_users(asker: AskerHere, page: PageHere) -> list[Me]:
    """Who holds which roles, where the asker may read; who holds none of these is told to administrators only."""
    asker.check(Verb.READ, "user")
    scope, is_admin = asker.projects, may(asker.held, Verb.CHANGE, "user", None)
    with asker.platform.database.read() as c:
        held = [(user.name, accounts.roles(c, user.name)) for user in accounts.users(c)]
    seen = [
        Me(name, [(role, project or "*") for role, project in roles if scope is None or project in {None, *scope}])
        for name, roles in held
    ]
    return page.of((one for one in seen if one.roles or is_admin), lambda one: (one.user,))


@router.post("/users", status_code=201)
def create_user(body: NewUser, asker: AskerHere, once: OnceHere) -> Me:
    asker.check(Verb.CREATE, "user")
    if body.unix_name is not None:
        check_unix_name(body.unix_name)
    hashed = None if body.password is None else hash_password(body.password)

    def create(c: Connection) -> Me:
        directory.create_user(c, asker.change(), body.name, hashed, body.unix_name)
        return Me(body.name, [])

    return once(body.model_dump(exclude={"password"}), Me, create)


@router.put("/users/{user}/password")
def change_password(user: str, body: NewPassword, asker: AskerHere) -> Me:
    """Replace a password: one's own, showing the present one, or as an administrator anybody's. Tokens stay."""
    is_admin = may(asker.held, Verb.CHANGE, "user", None)
    if user != asker.name:
        asker.check(Verb.CHANGE, "user")
    current = None if is_admin else body.current or ""
    operations.change_password(asker.platform.database, asker.change(), user, body.password, current)
    return _me(asker, user)


@router.post("/users/{user}/roles", status_code=201)
def grant_role(user: str, body: NewRole, asker: AskerHere, once: OnceHere) -> Me:
    asker.check(Verb.CHANGE, "user")

    def grant(c: Connection) -> Me:
        directory.grant_role(c, asker.change(), user, body.role, body.project)
        return Me(user, [(body.role.value, body.project or "*")])

    return once(body, Me, grant)


@router.delete("/users/{user}/roles/{role}")
def withdraw_role(user: str, role: Role, asker: AskerHere, project: str | None = None) -> Me:
    """Take a role back: in one project, or the one that holds everywhere. Answers with what is left."""
    asker.check(Verb.CHANGE, "user")
    with asker.platform.database.write() as c:
        operations.withdraw_role(c, asker.change(), user, role, project)
    return _me(asker, user)


@router.get("/users/{user}/tokens")
def list_tokens(user: str, asker: AskerHere, page: PageHere) -> list[Token]:
    """A user's tokens (an admin), or one's own: their ids and how long they last."""
    if user != asker.name:
        asker.check(Verb.CHANGE, "user")
    with asker.platform.database.read() as c:
        directory.require_user(c, user)
        return page.of(accounts.tokens(c, user), lambda token: (token.created_at.timestamp(), token.id))


@router.post("/users/{user}/tokens", status_code=201)
def issue_token(user: str, body: NewToken, asker: AskerHere) -> TokenView:
    """A token for a user (an admin), or for oneself."""
    if user != asker.name:
        asker.check(Verb.CHANGE, "user")
    with asker.platform.database.write() as c:
        return TokenView(directory.issue_token(c, asker.change(), user, body.days), user)


@router.delete("/users/{user}/tokens/{token}")
def revoke_token(user: str, token: str, asker: AskerHere) -> Token:
    """Let a token of a user (an admin), or of one's own, open nothing any more."""
    if user != asker.name:
        asker.check(Verb.CHANGE, "user")
    with asker.platform.database.write() as c:
        return operations.revoke_token(c, asker.change(), user, token)


def _me(asker: Asker, user: str) -> Me:
    with asker.platform.database.read() as c:
        return Me(user, [(role, project or "*") for role, project in accounts.roles(c, user)])
