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
    config = Config()
    config.set_main_option("script_location", "headway.store:migrations")
    config.attributes["connection"] = c
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    for revision in MigrationContext.configure(c).get_current_heads():
        if revision not in known:
            raise PlatformError("database-newer", revision=revision)
    command.upgrade(config, to)
