"""Runs the migrations shipped beside this file; Alembic is loaded only then."""

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection


def upgrade(c: Connection) -> None:
    """Apply what is missing, inside the caller's transaction: all of it or nothing."""
    config = Config()
    config.set_main_option("script_location", "headway.store:migrations")
    config.attributes["connection"] = c
    command.upgrade(config, "head")
