"""``flask --app app db upgrade | current``: migrates the database, or prints its revision."""

import click

from portal.commands.failures import CommandGroup, fail
from portal.commands.parts import Parts
from portal.storage.opening import upgrade_schema
from portal.storage.revision import current_revision
from portal.storage.schema import SCHEMA_HEAD, SchemaMismatch


def db_commands(portal: Parts) -> CommandGroup:
    @click.group("db", cls=CommandGroup, help="Migrate the database's schema.")
    def db() -> None:
        pass

    @db.command("upgrade")
    def upgrade() -> None:
        """Migrate the database to the schema of this version of the portal."""
        try:
            former = upgrade_schema(portal.database)
        except SchemaMismatch as error:
            fail(f"Nothing was done: {error}.")
        if former == SCHEMA_HEAD:
            print(f"The database is at {SCHEMA_HEAD}.")
        else:
            print(f"Migrated the database from {former or 'empty'} to {SCHEMA_HEAD}.")

    @db.command("current")
    def current() -> None:
        """Print the revision of the database's schema."""
        revision = current_revision(portal.database)
        print(f"{revision} (head)" if revision == SCHEMA_HEAD else revision or "empty")

    return db
