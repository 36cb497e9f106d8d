"""Alembic's environment, which runs the migrations in the transaction of ``migrate``."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=True)
context.run_migrations()
