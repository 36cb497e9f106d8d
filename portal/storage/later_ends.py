"""Ends in a restored backup what has ended since the backup: purges, revocations and the like.

The other source is the database of the former data directory, a later state of the same database.
An entry that is missing there was purged, erased or has expired. Only columns that every version
has are read, because the former database may have the schema of another version.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from portal.storage.backup import BackupRefused

# A token or a ledger row is never deleted, so a later state has all of them.
_LOST = """
SELECT 1 FROM (SELECT digest FROM access_tokens EXCEPT SELECT digest FROM later.access_tokens)
UNION ALL
SELECT 1 FROM (SELECT id, sent_at FROM ledger EXCEPT SELECT id, sent_at FROM later.ledger)
UNION ALL
SELECT 1 WHERE (SELECT max(number) FROM purges)
    > coalesce((SELECT max(number) FROM later.purges), 0)
LIMIT 1
"""
_PURGES = """
INSERT INTO purges (number, bucket) SELECT number, bucket FROM later.purges
WHERE number > coalesce((SELECT max(number) FROM purges), 0)
"""
_TOKENS = """
UPDATE access_tokens SET revoked_at = l.revoked_at FROM later.access_tokens AS l
WHERE l.digest = access_tokens.digest AND access_tokens.revoked_at IS NULL
    AND l.revoked_at IS NOT NULL
"""
_DOSSIERS = (
    "DELETE FROM dossiers WHERE number NOT IN (SELECT number FROM later.dossiers)",
    """
    UPDATE dossiers SET revoked_at = l.revoked_at, subject = NULL, head = NULL, html = NULL,
        pdf = NULL FROM later.dossiers AS l
    WHERE l.number = dossiers.number AND dossiers.revoked_at IS NULL AND l.revoked_at IS NOT NULL
    """,
)
_HISTORY = """
DELETE FROM history
WHERE (visitor, subject) NOT IN (SELECT visitor, subject FROM later.history)
"""
# What a batch has found since the backup is lost. A batch that lacks results is therefore
# cancelled, even if it has done all its lookups meanwhile.
_BATCHES = (
    "DELETE FROM batches WHERE id NOT IN (SELECT id FROM later.batches)",
    """
    UPDATE batches SET state = iif(
            EXISTS (SELECT 1 FROM batch_items WHERE batch = batches.id AND state = 'pending'),
            'cancelled', l.state
        ), reason = '', resume_at = NULL, ended_at = l.ended_at, expires_at = l.expires_at,
        sealed_access = NULL FROM later.batches AS l
    WHERE l.id = batches.id AND batches.state NOT IN ('done', 'cancelled')
        AND l.state IN ('done', 'cancelled')
    """,
)
_REST = (
    """
    DELETE FROM batch_items
    WHERE (batch, position) NOT IN (SELECT batch, position FROM later.batch_items)
    """,
    """
    UPDATE batches SET sealed_wrong = l.sealed_wrong FROM later.batches AS l
    WHERE l.id = batches.id AND l.sealed_wrong != batches.sealed_wrong
    """,
    """
    UPDATE ledger SET subject = '' WHERE subject != ''
        AND id IN (SELECT id FROM later.ledger WHERE subject = '')
    """,
    """
    INSERT INTO call_counters (namespace, day, payer, calls)
        SELECT namespace, day, payer, calls FROM later.call_counters WHERE true
        ON CONFLICT DO UPDATE SET calls = max(calls, excluded.calls)
    """,
)


# Columns that not every version has. A purge sets them to NULL, and their owner may change them.
_LATER = {
    ("history", "sealed_note"): """
    UPDATE history SET sealed_note = l.sealed_note FROM later.history AS l
    WHERE l.visitor = history.visitor AND l.subject = history.subject
    """,
    ("batches", "sealed_name"): """
    UPDATE batches SET sealed_name = l.sealed_name FROM later.batches AS l
    WHERE l.id = batches.id
    """,
}


def end_what_has_ended(restored: Path, former: Path) -> dict[str, int]:
    """Apply to ``restored`` what has ended in ``former``, and return how much, by its kind.

    Both are database files. The purge log is copied, so that the next start deletes the purged
    vehicles' answers from the cache. The calls of this day are counted as in ``former``. Raises
    BackupRefused if ``former`` is no later state of ``restored``. Raises sqlite3.Error.
    """
    with closing(sqlite3.connect(_uri(restored, "rw"), uri=True)) as db:
        db.execute("PRAGMA secure_delete = ON")
        db.execute("ATTACH ? AS later", (_uri(former, "ro"),))
        if db.execute(_LOST).fetchone():
            raise BackupRefused(f"{former.parent} holds no later state of the backup's data")
        with db:
            ended = {
                "purges": db.execute(_PURGES).rowcount,
                "tokens": db.execute(_TOKENS).rowcount,
                "dossiers": sum(db.execute(each).rowcount for each in _DOSSIERS),
                "batches": sum(db.execute(each).rowcount for each in _BATCHES),
                "entries of histories": db.execute(_HISTORY).rowcount,
            }
            for each in _REST:
                db.execute(each)
            for (table, column), statement in _LATER.items():
                if all(_has_column(db, each, table, column) for each in ("main", "later")):
                    db.execute(statement)
    with closing(sqlite3.connect(restored)) as db:
        db.execute("VACUUM")  # removes the copies of deleted rows that SQLite leaves in the file
    return ended


def _has_column(db: sqlite3.Connection, schema: str, table: str, column: str) -> bool:
    query = "SELECT 1 FROM pragma_table_info(?, ?) WHERE name = ?"
    return db.execute(query, (table, schema, column)).fetchone() is not None


def _uri(file: Path, mode: str) -> str:
    return f"file:{quote(str(file))}?mode={mode}"
