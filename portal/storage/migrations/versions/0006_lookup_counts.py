"""Replaces the table ``savings`` by ``lookup_counts``, and adds the index "ledger_by_use".

Both tables count the lookups that needed no upstream call of their own. ``lookup_counts`` also
records the caller, and counts stale (expired) answers separately. In rows copied from ``savings``,
``caller`` is empty, and ``hits`` includes stale answers. A running worker of the earlier version
cannot write to the removed table ``savings``, and logs the failure.
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "lookup_counts",
        sa.Column("namespace", sa.String, primary_key=True),
        sa.Column("day", sa.String(10), primary_key=True),
        sa.Column("caller", sa.String(80), primary_key=True),
        sa.Column("operation", sa.String(10), primary_key=True),
        sa.Column("price", sa.String(20), primary_key=True),
        sa.Column("hits", sa.Integer, nullable=False),
        sa.Column("stale", sa.Integer, nullable=False),
        sa.Column("collapsed", sa.Integer, nullable=False),
    )
    op.execute(
        "INSERT INTO lookup_counts "
        "(namespace, day, caller, operation, price, hits, stale, collapsed) "
        "SELECT namespace, day, '', operation, price, hits, 0, collapsed FROM savings"
    )
    op.drop_table("savings")
    op.drop_index("ledger_by_day", "ledger")
    op.create_index(
        "ledger_by_use",
        "ledger",
        ["namespace", "day", "operation", "price", "caller", "outcome", "status"],
    )
