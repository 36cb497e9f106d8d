"""Adds the notes on vehicles of a history, and the names of batches."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.add_column("history", sa.Column("sealed_note", sa.LargeBinary))
    op.add_column("batches", sa.Column("sealed_name", sa.LargeBinary))
