"""Adds a column for the highest possible price of a batch's lookups for one vehicle."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("batch_items", sa.Column("at_most", sa.String(20)))
