"""Migrates a database of the former layout, whose rows have no namespace.

Nothing is deleted. The former rows stay under the empty namespace, or in their former tables. A
process of the former version can keep using those tables at the same time.
"""

import logging

from sqlalchemy import Connection, MetaData, inspect

log = logging.getLogger(__name__)

_COLUMNS = "digest, name, scopes, daily_limit, created_at, expires_at, revoked_at"
# The digests are kept, so that pass-through mode never sends such a token upstream.
_COPY_TOKENS = (
    f"INSERT INTO access_tokens (namespace, {_COLUMNS}) "  # noqa: S608 constants alone
    f"SELECT '', {_COLUMNS} FROM tokens "
    "WHERE digest NOT IN (SELECT digest FROM access_tokens)"
)


def upgrade(db: Connection, tables: MetaData) -> None:
    """Create missing tables and columns, and set former rows aside. Idempotent.

    Logs once, in one line, what was set aside. Call it in a transaction that holds the set-up
    lock.
    """
    found = inspect(db)
    is_former = found.has_table("ledger") and "namespace" not in {
        column["name"] for column in found.get_columns("ledger")
    }
    has_former_tokens = found.has_table("tokens")
    if is_former:
        db.exec_driver_sql("ALTER TABLE ledger ADD COLUMN namespace VARCHAR NOT NULL DEFAULT ''")
    tables.create_all(db)
    if has_former_tokens:
        db.exec_driver_sql(_COPY_TOKENS)
    if not is_former:
        return
    rows = db.exec_driver_sql("SELECT count(*) FROM ledger").scalar_one()
    issued = db.exec_driver_sql("SELECT count(*) FROM access_tokens").scalar_one()
    if rows or issued:
        log.warning(
            "the former version did not record which upstream its data came from: %d ledger rows "
            "and %d tokens are set aside; issue tokens again (flask --app app token issue NAME), "
            "list the rows with ledger --all",
            rows,
            issued,
        )
