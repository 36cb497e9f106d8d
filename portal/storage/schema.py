"""Finds the revision of a database's schema, and names the revision that the portal needs.

This module does not import Alembic, so that a start with an up-to-date database is fast.
"""

from sqlalchemy import Connection, MetaData, inspect, text

from portal.system.start_refused import StartRefused

# The revisions in order. A test compares this list with the files in migrations/versions.
REVISIONS = (
    *("0008", "0009", "0010", "0011", "0012", "0013", "0014", "0015", "0016", "0017"),
    *("0018", "0019", "0020", "0021", "0022", "0023", "0024", "0025", "0026", "0027"),
)
SCHEMA_HEAD = REVISIONS[-1]

_UNRECORDED = "0000"


class SchemaMismatch(StartRefused):
    """The database's schema does not fit this version."""


def schema_revision(db: Connection) -> str | None:
    """Return the schema's recorded revision, or None if there are no tables of the portal.

    Returns "0000" for tables without a record, as versions before the first release left them.
    """
    inspected = inspect(db)
    # Read in this order, because another process may meanwhile create the tables and the record.
    has_tables = inspected.has_table("ledger")
    if inspected.has_table("alembic_version"):
        query = "SELECT version_num FROM alembic_version"
        if (revision := db.exec_driver_sql(query).scalar()) is not None:
            return str(revision)
    return _UNRECORDED if has_tables else None


def record_revision(db: Connection, revision: str) -> None:
    """Record the revision of a new database in Alembic's table."""
    db.exec_driver_sql("CREATE TABLE alembic_version (version_num VARCHAR(32) PRIMARY KEY)")
    db.execute(text("INSERT INTO alembic_version VALUES (:revision)"), {"revision": revision})


def mismatch(revision: str) -> SchemaMismatch:
    if revision in REVISIONS:
        kind, remedy = "a former version", "run flask --app app db upgrade"
    elif revision < REVISIONS[0]:
        kind = "a version before the first release"
        remedy = "set it aside and start with an empty database"
    else:
        kind, remedy = "another version", "start the version that migrated it"
    return SchemaMismatch(
        f"the database has the schema of {kind} ({revision}, this version needs {SCHEMA_HEAD}): "
        f"{remedy}"
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
        present = {column["name"]: column for column in inspected.get_columns(table.name)}
        faults += [
            f"{table.name}.{column.name} is missing"
            for column in table.columns
            if column.name not in present
        ]
        faults += [
            f"{table.name}.{name} is unknown and must not be NULL"
            for name, column in present.items()
            if name not in table.c and not column["nullable"] and column["default"] is None
        ]
    if faults:
        raise SchemaMismatch(f"the database's tables were changed: {', '.join(faults)}")
