"""Runs the migrations shipped beside this file; Alembic is loaded only then."""

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
    config = _config()
    config.attributes["connection"] = c
    _revision(c, ScriptDirectory.from_config(config))
    command.upgrade(config, to)


def check(c: Connection) -> None:
    """Raise `database-older` or `database-newer` unless the tables are this Headway's."""
    scripts = ScriptDirectory.from_config(_config())
    revision, wanted = _revision(c, scripts), scripts.get_current_head()
    if revision != wanted:
        raise PlatformError("database-older", revision=revision, wanted=wanted)


def _revision(c: Connection, scripts: ScriptDirectory) -> str | None:
    """Which migration was the last; None where there was none. Raises `database-newer` for one unknown here."""
    known = {script.revision for script in scripts.walk_revisions()}
    revision = MigrationContext.configure(c).get_current_revision()
    if revision is not None and revision not in known:
        raise PlatformError("database-newer", revision=revision)
    return revision


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", "headway.store:migrations")
    return config
