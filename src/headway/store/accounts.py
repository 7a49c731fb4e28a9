"""Local accounts: users, their roles and the digests of their tokens. No secret is kept in the clear."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, insert, or_, select, update

from headway.domain.errors import PlatformError
from headway.store import schema
from headway.store.shape import Shape
from headway.store.upsert import InsertNew

_users, _roles, _tokens = schema.users, schema.roles, schema.tokens
EVERYWHERE = ""


@dataclass(frozen=True, slots=True)
class User:
    """A person or a program. `password_hash` None: no password opens it; `unix_name` None: not mapped."""

    name: str
    password_hash: str | None
    unix_name: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Token:
    """What is known of a token besides itself; `expires_at` None: until revoked."""

    id: str
    user: str
    created_at: datetime
    expires_at: datetime | None


_USER = Shape(User, _users)
_NEW_USER = InsertNew(_users)
_ONE_USER = _USER.select().where(_users.c.name == bindparam("name"))
_USERS = _USER.select().order_by(_users.c.name)
_SET_PASSWORD = update(_users).where(_users.c.name == bindparam("of")).values(password_hash=bindparam("hash"))
_GRANT = InsertNew(_roles)
_ROLES = (
    select(_roles.c.role, _roles.c.project)
    .where(_roles.c.user == bindparam("user"))
    .order_by(_roles.c.project, _roles.c.role)
)
_HOLDERS = (
    select(_roles.c.user)
    .where(_roles.c.role == bindparam("role"), _roles.c.project == EVERYWHERE)
    .order_by(_roles.c.user)
)
_ADD_TOKEN = insert(_tokens)
_USER_OF_TOKEN = (
    _USER.select()
    .join(_tokens, _tokens.c.user == _users.c.name)
    .where(
        _tokens.c.digest == bindparam("digest"),
        or_(_tokens.c.expires_at.is_(None), _tokens.c.expires_at > bindparam("now")),
    )
)
_TOKEN = Shape(Token, _tokens)
_TOKENS = _TOKEN.select().where(_tokens.c.user == bindparam("user")).order_by(_tokens.c.created_at, _tokens.c.id)
_WITHDRAW = delete(_roles).where(
    _roles.c.user == bindparam("user"), _roles.c.role == bindparam("role"), _roles.c.project == bindparam("project")
)
_REVOKE = delete(_tokens).where(_tokens.c.id == bindparam("token"))


def add_user(c: Connection, user: User) -> None:
    """Keep a new user. Raises `already-exists`."""
    _NEW_USER.or_refuse(c, _USER.row(user), "user", user.name)


def user(c: Connection, name: str) -> User | None:
    """The user of this name."""
    return _USER.one(c, _ONE_USER, {"name": name})


def users(c: Connection) -> list[User]:
    """Every user, by name."""
    return _USER.all(c, _USERS)


def set_password(c: Connection, name: str, hash: str) -> None:
    """Replace a user's password hash. Raises `not-found`."""
    if not c.execute(_SET_PASSWORD, {"of": name, "hash": hash}).rowcount:
        raise PlatformError("not-found", what="user", value=name)


def grant_role(c: Connection, user: str, role: str, project: str | None) -> None:
    """Give a user a role in one project, or everywhere; a second time changes nothing."""
    _GRANT(c, {"user": user, "role": role, "project": project or EVERYWHERE})


def roles(c: Connection, user: str) -> list[tuple[str, str | None]]:
    """A user's roles as (role, project); project None: everywhere."""
    return [(role, project or None) for role, project in c.execute(_ROLES, {"user": user})]


def holders(c: Connection, role: str) -> list[str]:
    """Who holds a role everywhere, by name."""
    return list(c.execute(_HOLDERS, {"role": role}).scalars())


def withdraw_role(c: Connection, user: str, role: str, project: str | None) -> bool:
    """Take a role back; False when it was not held."""
    return bool(c.execute(_WITHDRAW, {"user": user, "role": role, "project": project or EVERYWHERE}).rowcount)


def tokens(c: Connection, user: str) -> list[Token]:
    """A user's tokens, oldest first, expired ones too."""
    return _TOKEN.all(c, _TOKENS, {"user": user})


def add_token(
    c: Connection, token_id: str, user: str, digest: str, created_at: datetime, expires_at: datetime | None
) -> None:
    """Keep the digest of a user's new token; `expires_at` None: until revoked."""
    row = {"id": token_id, "user": user, "digest": digest, "created_at": created_at, "expires_at": expires_at}
    c.execute(_ADD_TOKEN, row)


def user_of_token(c: Connection, digest: str, now: datetime) -> User | None:
    """The user whose token has this digest, unless it has expired or was revoked."""
    return _USER.one(c, _USER_OF_TOKEN, {"digest": digest, "now": now})


def revoke_token(c: Connection, token_id: str) -> bool:
    """Forget a token; False when there was none."""
    return bool(c.execute(_REVOKE, {"token": token_id}).rowcount)
