"""SQL statements that create the tables and sample rows of former versions.

The statements are literal, so that a change of the portal's tables does not change them.
"""

from sqlalchemy import create_engine, make_url

from portal.access.tokens import digest
from tests.fakes.databases import Database

_TYPES = {
    "sqlite": {"number": "INTEGER", "bytes": "BLOB"},
    "postgresql": {"number": "SERIAL", "bytes": "BYTEA"},
}
TAG = "t" * 24
_LEDGER = """
CREATE TABLE ledger (id {number} NOT NULL, sent_at FLOAT NOT NULL, day VARCHAR(10) NOT NULL,
    operation VARCHAR(10) NOT NULL, subject VARCHAR(64) NOT NULL, origin VARCHAR(20) NOT NULL,
    caller VARCHAR(80) NOT NULL, price VARCHAR(20) NOT NULL, outcome VARCHAR(20) NOT NULL,
    status INTEGER, {namespace} PRIMARY KEY (id));
CREATE INDEX ledger_by_day ON ledger (day);
CREATE INDEX ledger_by_subject ON ledger (subject);
"""
_HISTORY = """
CREATE TABLE history (id {number} NOT NULL, visitor VARCHAR(64) NOT NULL,
    subject VARCHAR(64) NOT NULL, asked_at FLOAT NOT NULL, sealed {bytes} NOT NULL,
    PRIMARY KEY (id));
CREATE INDEX history_by_subject ON history (subject);
CREATE UNIQUE INDEX history_by_visitor ON history (visitor, subject);
INSERT INTO history (visitor, subject, asked_at, sealed) VALUES ('ana', '{tag}', 4e9, 'sealed');
"""
LEDGER_ROW = (
    "INSERT INTO ledger (sent_at, day, operation, subject, origin, caller, price, outcome, status) "
    f"VALUES (1790000000.5, '2026-09-21', 'decode', '{TAG}', 'primary', 'ana', '0.30', 'answered', "
    "200);"
)
# Revision 0001, in which no table has a ``namespace`` column.
FORMER = f"""
{_LEDGER.replace("{namespace}", "")} {LEDGER_ROW} {LEDGER_ROW} {_HISTORY}
CREATE TABLE tokens (digest VARCHAR(64) NOT NULL, name VARCHAR(80) NOT NULL,
    scopes VARCHAR(200) NOT NULL, daily_limit INTEGER NOT NULL, created_at FLOAT NOT NULL,
    expires_at FLOAT, revoked_at FLOAT, PRIMARY KEY (digest), UNIQUE (name));
CREATE TABLE spending (day VARCHAR(10) NOT NULL, payer VARCHAR(90) NOT NULL,
    calls INTEGER NOT NULL, PRIMARY KEY (day, payer));
CREATE TABLE hits (day VARCHAR(10) NOT NULL, operation VARCHAR(10) NOT NULL,
    price VARCHAR(20) NOT NULL, hits INTEGER NOT NULL, collapsed INTEGER NOT NULL,
    PRIMARY KEY (day, operation, price));
INSERT INTO tokens VALUES ('{digest("live")}', 'ana', 'decode', 0, 1790000000.5, NULL, NULL);
INSERT INTO tokens
    VALUES ('{digest("revoked")}', 'bia', 'decode', 5, 1790000000.5, NULL, 1790000001.5);
INSERT INTO spending VALUES ('2026-09-21', 'day', 2);
INSERT INTO hits VALUES ('2026-09-21', 'decode', '0.30', 7, 1);
"""
# Revision 0002, as created by versions that recorded no revision.
UNRECORDED = f"""
{_LEDGER.replace("{namespace}", "namespace VARCHAR DEFAULT '' NOT NULL,")} {LEDGER_ROW} {_HISTORY}
CREATE TABLE access_tokens (digest VARCHAR(64) NOT NULL, namespace VARCHAR NOT NULL,
    name VARCHAR(80) NOT NULL, scopes VARCHAR(200) NOT NULL, daily_limit INTEGER NOT NULL,
    created_at FLOAT NOT NULL, expires_at FLOAT, revoked_at FLOAT, PRIMARY KEY (digest),
    UNIQUE (namespace, name));
CREATE TABLE call_counters (namespace VARCHAR NOT NULL, day VARCHAR(10) NOT NULL,
    payer VARCHAR(90) NOT NULL, calls INTEGER NOT NULL, PRIMARY KEY (namespace, day, payer));
CREATE TABLE savings (namespace VARCHAR NOT NULL, day VARCHAR(10) NOT NULL,
    operation VARCHAR(10) NOT NULL, price VARCHAR(20) NOT NULL, hits INTEGER NOT NULL,
    collapsed INTEGER NOT NULL, PRIMARY KEY (namespace, day, operation, price));
CREATE TABLE purges (number INTEGER NOT NULL, bucket INTEGER NOT NULL, PRIMARY KEY (number));
CREATE TABLE meta (name VARCHAR(40) NOT NULL, value VARCHAR(200) NOT NULL, PRIMARY KEY (name));
INSERT INTO access_tokens
    VALUES ('{digest("live")}', 'upstream', 'ana', 'decode', 0, 1790000000.5, NULL, NULL);
"""


def execute(database: Database, script: str) -> list[tuple[object, ...]]:
    """Run each statement of a script, and return the rows of the last one."""
    if database.url is None:
        kind, engine = "sqlite", create_engine(f"sqlite:///{database.folder / 'portal.sqlite'}")
    else:
        kind = "postgresql"
        engine = create_engine(make_url(database.url).set(drivername="postgresql+psycopg"))
    script = script.format(**_TYPES[kind], tag=TAG)
    try:
        with engine.begin() as db:
            for statement in filter(str.strip, script.split(";")):
                found = db.exec_driver_sql(statement)
            return [tuple(row) for row in found] if found.returns_rows else []
    finally:
        engine.dispose()
