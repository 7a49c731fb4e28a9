"""What is taken back or replaced of an account: a token, a role, a password. Each is a row and a fact.

Passwords are hashed and tried outside any transaction: that takes as long as the hash is meant to take.
"""

from sqlalchemy import Connection

from headway.domain.errors import PlatformError
from headway.domain.people_events import PasswordChanged, RoleWithdrawn, TokenRevoked
from headway.server.access import Role
from headway.server.operations.people.directory import Change, issue_token
from headway.server.secrets import hash_password, password_fits
from headway.store import accounts, facts
from headway.store.database import Database

# Verifying a password takes as long for a user who does not exist, so that names cannot be guessed by the clock.
NOBODY = hash_password("nobody")


def log_in(database: Database, change: Change, password: str) -> str:
    """A token for a user name and password. Raises `wrong-password` without saying which of them was wrong."""
    stored = _prove(database, change.by, password)
    with database.write() as c:
        _check_unchanged(c, change.by, stored)
        return issue_token(c, change, change.by)


def change_password(database: Database, change: Change, user: str, password: str, current: str | None) -> None:
    """Replace a user's password; `current` None: an administrator does. Raises `not-found`, `wrong-password`."""
    stored = None if current is None else _prove(database, user, current)
    hashed = hash_password(password)
    with database.write() as c:
        if stored is not None:
            _check_unchanged(c, user, stored)
        accounts.set_password(c, user, hashed)
        facts.append(c, PasswordChanged(at=change.at, by=change.by, user=user))


def revoke_token(c: Connection, change: Change, user: str, token: str) -> accounts.Token:
    """What the token was. Raises `not-found`, naming the tokens the user has."""
    known = accounts.tokens(c, user)
    found = next((each for each in known if each.id == token), None)
    if found is None:
        near = ", ".join(each.id for each in known)
        raise PlatformError("not-found", what="token", value=token, near=near)
    accounts.revoke_token(c, token)
    facts.append(c, TokenRevoked(at=change.at, by=change.by, user=user, token=token))
    return found


def withdraw_role(c: Connection, change: Change, user: str, role: Role, project: str | None) -> None:
    """Raises `not-found` for a role not held, `last-admin` where nobody would rule the site any more."""
    held = accounts.roles(c, user)
    if (role.value, project) not in held:
        near = ", ".join(f"{name} @ {scope or '*'}" for name, scope in held)
        raise PlatformError("not-found", what="role", value=f"{role.value} @ {project or '*'}", near=near)
    accounts.withdraw_role(c, user, role, project)
    everybody = (accounts.roles(c, other.name) for other in accounts.users(c))
    if not any((Role.ADMIN.value, None) in roles for roles in everybody):
        raise PlatformError("last-admin", user=user)
    facts.append(c, RoleWithdrawn(at=change.at, by=change.by, user=user, role=role, project=project))


def _prove(database: Database, user: str, password: str) -> str:
    """The stored hash that the password fits. Raises `wrong-password`."""
    with database.read() as c:
        known = accounts.user(c, user)
    stored = known.password_hash if known is not None and known.password_hash is not None else NOBODY
    if not password_fits(stored, password) or stored is NOBODY:
        raise PlatformError("wrong-password")
    return stored


def _check_unchanged(c: Connection, user: str, stored: str) -> None:
    known = accounts.user(c, user)
    if known is None or known.password_hash != stored:
        raise PlatformError("wrong-password")
