"""Adds namespaces, the log of purges, and the table for the secret key's fingerprint.

A row's namespace is the name of its upstream. The tokens are copied from ``tokens`` to the new
table ``access_tokens``. The copies and the existing rows of the ledger (the table of upstream
calls) get the empty namespace. A purge deletes a vehicle's data. The old tables
``tokens``, ``spending`` and ``hits`` remain, because a process of the earlier version may still be
using them.
"""

import logging

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

log = logging.getLogger("portal.storage.migrations")

_COLUMNS = "digest, name, scopes, daily_limit, created_at, expires_at, revoked_at"
# In pass-through mode, the portal sends callers' credentials upstream, but must never send a token
# that it has issued. The portal recognises old tokens by the digests that this statement copies.
_COPY_TOKENS = (
    f"INSERT INTO access_tokens (namespace, {_COLUMNS}) "  # noqa: S608 only constants
    f"SELECT '', {_COLUMNS} FROM tokens"
)


def upgrade() -> None:
    op.add_column("ledger", sa.Column("namespace", sa.String, nullable=False, server_default=""))
    op.create_table(
        "access_tokens",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("namespace", sa.String, nullable=False),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("scopes", sa.String(200), nullable=False),
        sa.Column("daily_limit", sa.Integer, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("expires_at", sa.Float),
        sa.Column("revoked_at", sa.Float),
        sa.UniqueConstraint("namespace", "name"),
    )
    op.create_table(
        "call_counters",
        sa.Column("namespace", sa.String, primary_key=True),
        sa.Column("day", sa.String(10), primary_key=True),
        sa.Column("payer", sa.String(90), primary_key=True),
        sa.Column("calls", sa.Integer, nullable=False),
    )
    op.create_table(
        "savings",
        sa.Column("namespace", sa.String, primary_key=True),
        sa.Column("day", sa.String(10), primary_key=True),
        sa.Column("operation", sa.String(10), primary_key=True),
        sa.Column("price", sa.String(20), primary_key=True),
        sa.Column("hits", sa.Integer, nullable=False),
        sa.Column("collapsed", sa.Integer, nullable=False),
    )
    op.create_table(
        "purges",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("bucket", sa.Integer, nullable=False),
    )
    op.create_table(
        "meta",
        sa.Column("name", sa.String(40), primary_key=True),
        sa.Column("value", sa.String(200), nullable=False),
    )
    _set_former_rows_aside()


def _set_former_rows_aside() -> None:
    op.execute(_COPY_TOKENS)
    db = op.get_bind()
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
