"""Alembic's entry: runs the migrations on the connection and in the transaction that the caller gives."""

from alembic import context

from headway.store.schema import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    transactional_ddl=True,
)
context.run_migrations()
