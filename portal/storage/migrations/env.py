"""Alembic's environment: runs the migrations in the transaction that ``migrate`` received."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=True)
context.run_migrations()
