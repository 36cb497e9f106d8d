"""Finds the revision of a database's schema, and names the revision that the portal needs.

This module does not import Alembic, so that a start with an up-to-date database is fast.
"""

from sqlalchemy import Connection, MetaData, inspect, text

# The revisions in order. A test compares this list with the files in migrations/versions.
REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008")
SCHEMA_HEAD = REVISIONS[-1]

_BASELINE = "0001"
_LAST_UNRECORDED = "0002"  # a database with a later schema always has a recorded revision


class SchemaMismatch(Exception):
    """The database's schema does not fit this version. The message is one line for the operator."""


def stored_revision(db: Connection) -> str | None:
    """Return the revision in Alembic's table, or None if no revision is recorded."""
    if not inspect(db).has_table("alembic_version"):
        return None
    revision = db.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    return None if revision is None else str(revision)


def schema_revision(db: Connection) -> str | None:
    """Return the revision of the schema, or None if there are no tables of the portal.

    If no revision is recorded, the columns of the table ``ledger`` show the revision.
    """
    if (stored := stored_revision(db)) is not None:
        return stored
    found = inspect(db)
    if not found.has_table("ledger"):
        return None
    # Read the recorded revision again, because another process may meanwhile have created the
    # tables and recorded their revision.
    if (stored := stored_revision(db)) is not None:
        return stored
    columns = {column["name"] for column in found.get_columns("ledger")}
    return _LAST_UNRECORDED if "namespace" in columns else _BASELINE


def record_revision(db: Connection, revision: str) -> None:
    """Record the revision of a new database in Alembic's table."""
    db.exec_driver_sql("CREATE TABLE alembic_version (version_num VARCHAR(32) PRIMARY KEY)")
    db.execute(text("INSERT INTO alembic_version VALUES (:revision)"), {"revision": revision})


def mismatch(revision: str) -> SchemaMismatch:
    if revision in REVISIONS:
        return SchemaMismatch(
            f"the database has the schema of a former version ({revision}, this version needs "
            f"{SCHEMA_HEAD}): run flask --app app db upgrade"
        )
    return SchemaMismatch(
        f"the database has the schema of another version ({revision}, this version needs "
        f"{SCHEMA_HEAD}): start the version that migrated it"
    )


def require_fitting_tables(db: Connection, metadata: MetaData) -> None:
    """Raise SchemaMismatch if a table or column is missing, or an unknown column requires a value.

    The recorded revision alone does not show changes that were made by hand or by an incomplete
    restore. Raises SQLAlchemyError.
    """
    inspected, faults = inspect(db), []
    for table in metadata.sorted_tables:
        if not inspected.has_table(table.name):
            faults.append(f"{table.name} is missing")
            continue
        found = {column["name"]: column for column in inspected.get_columns(table.name)}
        faults += [
            f"{table.name}.{column.name} is missing"
            for column in table.columns
            if column.name not in found
        ]
        faults += [
            f"{table.name}.{name} is unknown and must not be NULL"
            for name, column in found.items()
            if name not in table.c and not column["nullable"] and column["default"] is None
        ]
    if faults:
        raise SchemaMismatch(f"the database's tables were changed: {', '.join(faults)}")
