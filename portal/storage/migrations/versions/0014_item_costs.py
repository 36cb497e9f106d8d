"""Adds what an item of a batch has cost, what its lookups may cost, and since when it fails."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    for name in ("reserved", "spent"):
        column = sa.Column(name, sa.String(20), nullable=False, server_default="0")
        op.add_column("batch_items", column)
    op.add_column("batch_items", sa.Column("failing_since", sa.Float))
