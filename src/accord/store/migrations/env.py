"""Runs migrations on the connection that :func:`accord.store.database.open_database` hands over."""

from alembic import context

from accord.store.tables import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, render_as_batch=True, transactional_ddl=False)
context.run_migrations()
