"""Adds the tables of batches and their items, and the ledger's column ``batch``.

A batch looks up a list of vehicles. Each vehicle is an item.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("ledger", sa.Column("batch", sa.String(32)))
    op.create_index("ledger_by_batch", "ledger", ["batch"])
    op.create_table(
        "batches",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("namespace", sa.String, nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("started_at", sa.Float),
        sa.Column("ended_at", sa.Float),
        sa.Column("expires_at", sa.Float, nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("reason", sa.String(20), nullable=False),
        sa.Column("resume_at", sa.Float),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("claimed_at", sa.Float, nullable=False),
        sa.Column("ask", sa.String(40), nullable=False),
        sa.Column("at_most", sa.String(20), nullable=False),
        sa.Column("sealed_access", sa.LargeBinary),
        sa.Column("sealed_wrong", sa.LargeBinary, nullable=False),
    )
    op.create_index("batches_by_owner", "batches", ["owner"])
    op.create_index("batches_by_state", "batches", ["state"])
    op.create_table(
        "batch_items",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("batch", sa.String(32), nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("subject", sa.String(64), nullable=False),
        sa.Column("sealed", sa.LargeBinary, nullable=False),
        sa.Column("stored", sa.Boolean, nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("cause", sa.String(20), nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("holder", sa.String(32), nullable=False),
        sa.Column("lease_until", sa.Float, nullable=False),
    )
    op.create_index("batch_items_by_batch", "batch_items", ["batch", "position"], unique=True)
    op.create_index("batch_items_by_subject", "batch_items", ["subject"])
    op.create_index("batch_items_by_lease", "batch_items", ["batch", "lease_until"])
    op.create_index(
        "batch_items_by_turn", "batch_items", ["batch", "state", "attempts", "position"]
    )
