"""Runs the migrations shipped beside this file; Alembic is loaded only then."""

from functools import cache

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from headway.domain.errors import PlatformError


def upgrade(c: Connection, to: str = "head") -> None:
    """Apply what is missing, inside the caller's transaction: all of it or nothing.

    Raises `database-newer` for a database that a newer Headway has migrated.
    """
    if _revision(c) == _scripts().get_current_head() and to == "head":
        return
    config = _config()
    config.attributes["connection"] = c
    command.upgrade(config, to)


def check(c: Connection) -> None:
    """Raise `database-older` or `database-newer` unless the tables are this Headway's."""
    revision, wanted = _revision(c), _scripts().get_current_head()
    if revision != wanted:
        raise PlatformError("database-older", revision=revision, wanted=wanted)


def _revision(c: Connection) -> str | None:
    """Which migration was the last; None where there was none. Raises `database-newer` for one unknown here."""
    known = {script.revision for script in _scripts().walk_revisions()}
    revision = MigrationContext.configure(c).get_current_revision()
    if revision is not None and revision not in known:
        raise PlatformError("database-newer", revision=revision)
    return revision


@cache
def _scripts() -> ScriptDirectory:
    """The migrations there are: reading them takes longer than everything else where nothing is missing."""
    return ScriptDirectory.from_config(_config())


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", "headway.store:migrations")
    return config
