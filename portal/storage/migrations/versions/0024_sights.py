"""Adds what each visitor last saw of a vehicle, and how long a visitor keeps the history."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    op.add_column("history", sa.Column("sealed_sight", sa.LargeBinary))
    op.add_column("history", sa.Column("kept_days", sa.Integer))
