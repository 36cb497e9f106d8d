"""The schema of the last version that had neither migrations nor namespaces.

Since revision 0002, a row's namespace is the name of its upstream.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "tokens",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("name", sa.String(80), nullable=False, unique=True),
        sa.Column("scopes", sa.String(200), nullable=False),
        sa.Column("daily_limit", sa.Integer, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("expires_at", sa.Float),
        sa.Column("revoked_at", sa.Float),
    )
    op.create_table(
        "ledger",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("sent_at", sa.Float, nullable=False),
        sa.Column("day", sa.String(10), nullable=False),
        sa.Column("operation", sa.String(10), nullable=False),
        sa.Column("subject", sa.String(64), nullable=False),
        sa.Column("origin", sa.String(20), nullable=False),
        sa.Column("caller", sa.String(80), nullable=False),
        sa.Column("price", sa.String(20), nullable=False),
        sa.Column("outcome", sa.String(20), nullable=False),
        sa.Column("status", sa.Integer),
    )
    op.create_index("ledger_by_day", "ledger", ["day"])
    op.create_index("ledger_by_subject", "ledger", ["subject"])
    op.create_table(
        "spending",
        sa.Column("day", sa.String(10), primary_key=True),
        sa.Column("payer", sa.String(90), primary_key=True),
        sa.Column("calls", sa.Integer, nullable=False),
    )
    op.create_table(
        "hits",
        sa.Column("day", sa.String(10), primary_key=True),
        sa.Column("operation", sa.String(10), primary_key=True),
        sa.Column("price", sa.String(20), primary_key=True),
        sa.Column("hits", sa.Integer, nullable=False),
        sa.Column("collapsed", sa.Integer, nullable=False),
    )
    op.create_table(
        "history",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("visitor", sa.String(64), nullable=False),
        sa.Column("subject", sa.String(64), nullable=False),
        sa.Column("asked_at", sa.Float, nullable=False),
        sa.Column("sealed", sa.LargeBinary, nullable=False),
    )
    op.create_index("history_by_visitor", "history", ["visitor", "subject"], unique=True)
    op.create_index("history_by_subject", "history", ["subject"])
