"""SQL statements that create the tables and sample rows of the first release.

The statements are literal, so that a change of the portal's tables does not change them.
"""

from sqlalchemy import create_engine, make_url

from portal.access.tokens import digest
from tests.fakes.databases import EmptyDatabase

_TYPES = {
    "sqlite": {"number": "INTEGER", "bytes": "BLOB"},
    "postgresql": {"number": "SERIAL", "bytes": "BYTEA"},
}
TAG = "t" * 24
FIRST_RELEASE = f"""
CREATE TABLE access_tokens (digest VARCHAR(64) NOT NULL, namespace VARCHAR NOT NULL,
    name VARCHAR(80) NOT NULL, scopes VARCHAR(200) NOT NULL, daily_limit INTEGER NOT NULL,
    created_at FLOAT NOT NULL, expires_at FLOAT, revoked_at FLOAT, PRIMARY KEY (digest),
    UNIQUE (namespace, name));
CREATE TABLE ledger (id {{number}} NOT NULL, sent_at FLOAT NOT NULL, day VARCHAR(10) NOT NULL,
    operation VARCHAR(10) NOT NULL, subject VARCHAR(64) NOT NULL, origin VARCHAR(20) NOT NULL,
    caller VARCHAR(80) NOT NULL, price VARCHAR(20) NOT NULL, outcome VARCHAR(20) NOT NULL,
    status INTEGER, namespace VARCHAR DEFAULT '' NOT NULL, batch VARCHAR(32), PRIMARY KEY (id));
CREATE INDEX ledger_by_use
    ON ledger (namespace, day, operation, price, caller, outcome, status);
CREATE INDEX ledger_by_batch ON ledger (batch);
CREATE INDEX ledger_by_subject ON ledger (subject);
CREATE TABLE call_counters (namespace VARCHAR NOT NULL, day VARCHAR(10) NOT NULL,
    payer VARCHAR(90) NOT NULL, calls INTEGER NOT NULL, PRIMARY KEY (namespace, day, payer));
CREATE TABLE lookup_counts (namespace VARCHAR NOT NULL, day VARCHAR(10) NOT NULL,
    caller VARCHAR(80) NOT NULL, operation VARCHAR(10) NOT NULL, price VARCHAR(20) NOT NULL,
    hits INTEGER NOT NULL, stale INTEGER NOT NULL, collapsed INTEGER NOT NULL,
    PRIMARY KEY (namespace, day, caller, operation, price));
CREATE TABLE history (id {{number}} NOT NULL, visitor VARCHAR(64) NOT NULL,
    subject VARCHAR(64) NOT NULL, asked_at FLOAT NOT NULL, sealed {{bytes}} NOT NULL,
    PRIMARY KEY (id));
CREATE INDEX history_by_subject ON history (subject);
CREATE UNIQUE INDEX history_by_visitor ON history (visitor, subject);
CREATE TABLE batches (id VARCHAR(32) NOT NULL, namespace VARCHAR NOT NULL,
    owner VARCHAR(64) NOT NULL, created_at FLOAT NOT NULL, started_at FLOAT, ended_at FLOAT,
    expires_at FLOAT NOT NULL, state VARCHAR(10) NOT NULL, reason VARCHAR(20) NOT NULL,
    resume_at FLOAT, tries INTEGER NOT NULL, claimed_at FLOAT NOT NULL, ask VARCHAR(40) NOT NULL,
    at_most VARCHAR(20) NOT NULL, spent VARCHAR(20) DEFAULT '0' NOT NULL, sealed_access {{bytes}},
    sealed_wrong {{bytes}} NOT NULL, repeated INTEGER DEFAULT '0' NOT NULL, PRIMARY KEY (id));
CREATE INDEX batches_by_state ON batches (state);
CREATE INDEX batches_by_owner ON batches (owner);
CREATE TABLE batch_items (id {{number}} NOT NULL, batch VARCHAR(32) NOT NULL,
    position INTEGER NOT NULL, subject VARCHAR(64) NOT NULL, sealed {{bytes}} NOT NULL,
    stored BOOLEAN NOT NULL, state VARCHAR(10) NOT NULL, cause VARCHAR(20) NOT NULL,
    attempts INTEGER NOT NULL, holder VARCHAR(32) NOT NULL, lease_until FLOAT NOT NULL,
    sealed_result {{bytes}}, at_most VARCHAR(20), PRIMARY KEY (id));
CREATE INDEX batch_items_by_lease ON batch_items (batch, lease_until);
CREATE INDEX batch_items_by_subject ON batch_items (subject);
CREATE UNIQUE INDEX batch_items_by_batch ON batch_items (batch, position);
CREATE INDEX batch_items_by_turn ON batch_items (batch, state, attempts, position);
CREATE TABLE dossiers (number VARCHAR(12) NOT NULL, namespace VARCHAR NOT NULL,
    owner VARCHAR(64) NOT NULL, share_key VARCHAR(64) NOT NULL, subject VARCHAR(64),
    issued_at FLOAT NOT NULL, expires_at FLOAT NOT NULL, revoked_at FLOAT, head {{bytes}},
    html {{bytes}}, pdf {{bytes}}, PRIMARY KEY (number), UNIQUE (share_key));
CREATE INDEX dossiers_by_subject ON dossiers (subject);
CREATE INDEX dossiers_by_owner ON dossiers (owner);
CREATE TABLE purges (number INTEGER NOT NULL, bucket INTEGER NOT NULL, PRIMARY KEY (number));
CREATE TABLE meta (name VARCHAR(40) NOT NULL, value VARCHAR(200) NOT NULL, PRIMARY KEY (name));
CREATE TABLE alembic_version (version_num VARCHAR(32) PRIMARY KEY);
INSERT INTO alembic_version VALUES ('0008');

INSERT INTO access_tokens
    VALUES ('{digest("live")}', 'upstream', 'ana', 'decode', 0, 1790000000.5, NULL, NULL);
INSERT INTO ledger (sent_at, day, operation, subject, origin, caller, price, outcome, status,
    namespace, batch) VALUES (1790000000.5, '2026-09-21', 'decode', '{TAG}', 'primary', 'ana',
    '0.30', 'answered', 200, 'upstream', 'b1');
INSERT INTO call_counters VALUES ('upstream', '2026-09-21', 'day', 2);
INSERT INTO lookup_counts VALUES ('upstream', '2026-09-21', 'ana', 'decode', '0.30', 7, 1, 2);
INSERT INTO history (visitor, subject, asked_at, sealed) VALUES ('ana', '{TAG}', 4e9, 'sealed');
INSERT INTO batches (id, namespace, owner, created_at, expires_at, state, reason, tries,
    claimed_at, ask, at_most, spent, sealed_wrong)
    VALUES ('b1', 'upstream', 'ana', 0, 4e9, 'draft', '', 0, 0, 'decode', '3.00', '0.30', '');
INSERT INTO batch_items (batch, position, subject, sealed, stored, state, cause, attempts, holder,
    lease_until) VALUES ('b1', 0, '{TAG}', 'sealed', true, 'pending', '', 0, '', 0);
INSERT INTO dossiers VALUES ('D1', 'upstream', 'ana', 'share', '{TAG}', 1790000000.5, 4e9, NULL,
    'head', 'html', 'pdf');
INSERT INTO purges VALUES (1, 99);
INSERT INTO meta VALUES ('origin', 'elsewhere');
"""
UNRECORDED = "DROP TABLE alembic_version"  # makes it a database of the versions without revisions
BEFORE_THE_FIRST_RELEASE = "UPDATE alembic_version SET version_num = '0007'"


def execute(empty_database: EmptyDatabase, script: str) -> list[tuple[object, ...]]:
    """Run each statement of a script, and return the rows of the last one."""
    if empty_database.url is None:
        kind, database = (
            "sqlite",
            create_engine(f"sqlite:///{empty_database.folder / 'portal.sqlite'}"),
        )
    else:
        kind = "postgresql"
        database = create_engine(make_url(empty_database.url).set(drivername="postgresql+psycopg"))
    script = script.format(**_TYPES[kind])
    try:
        with database.engine.begin() as db:
            for statement in filter(str.strip, script.split(";")):
                found = db.exec_driver_sql(statement)
            return [tuple(row) for row in found] if found.returns_rows else []
    finally:
        database.dispose()
