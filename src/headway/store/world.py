"""The world's version: a number that grows with every change that a plan depends on.

A plan computed from one version may be applied only to that version.
"""

from sqlalchemy import Connection, select, update

from headway.store import schema

_VERSION = select(schema.world.c.version)
_BUMP = update(schema.world).values(version=schema.world.c.version + 1)


def version(c: Connection) -> int:
    """The present version."""
    return int(c.execute(_VERSION).scalar_one())


def bump(c: Connection) -> None:
    """Say that something a plan depends on has changed."""
    c.execute(_BUMP)
