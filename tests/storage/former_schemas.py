"""SQL statements that turn a database into one of another version."""

from sqlalchemy import create_engine, make_url

from tests.fakes.databases import Database

UNRECORDED = "DROP TABLE alembic_version"  # makes it a database of the versions without revisions
BEFORE_THE_FIRST_RELEASE = "UPDATE alembic_version SET version_num = '0011'"


def execute(database: Database, script: str) -> list[tuple[object, ...]]:
    """Run each statement of a script, and return the rows of the last one."""
    if database.url is None:
        engine = create_engine(f"sqlite:///{database.folder / 'portal.sqlite'}")
    else:
        engine = create_engine(make_url(database.url).set(drivername="postgresql+psycopg"))
    try:
        with engine.begin() as db:
            for statement in filter(str.strip, script.split(";")):
                found = db.exec_driver_sql(statement)
            return [tuple(row) for row in found] if found.returns_rows else []
    finally:
        engine.dispose()
