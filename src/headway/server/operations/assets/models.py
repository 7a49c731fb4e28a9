"""Find a registered model for somebody: only where they may read, and telling of nothing else."""

from collections.abc import Collection

from sqlalchemy import Connection

from headway.domain.errors import PlatformError
from headway.domain.version import ModelVersion
from headway.server.access import Held, Role, Verb, check, readable_projects
from headway.store import accounts, assets


def held_by(c: Connection, user: str) -> tuple[Held, ...]:
    """Every role of a user, with its project."""
    return tuple((Role(role), project) for role, project in accounts.roles(c, user))


def find_model(c: Connection, user: str, name: str, number: int) -> ModelVersion:
    """One version. Raises `not-found`, naming only versions that the user may read, and `forbidden`."""
    held = held_by(c, user)
    found = assets.model(c, name, number)
    if found is None:
        known = readable(assets.models(c), readable_projects(held))
        near = ", ".join(version.reference for version in known)
        raise PlatformError("not-found", what="model version", value=f"{name}@{number}", near=near)
    check(user, held, Verb.READ, "model", found.project)
    return found


def readable(versions: Collection[ModelVersion], projects: Collection[str] | None) -> list[ModelVersion]:
    """Those of the projects that may be read; None: all."""
    return [version for version in versions if projects is None or version.project in projects]


def check_name_is_free(c: Connection, name: str, project: str) -> None:
    """Raise `already-exists` for a name under which another project has registered versions."""
    if any(version.project != project for version in assets.models(c, name=name)):
        raise PlatformError("already-exists", field="name", value=name)
