"""Adds the trail of who saw and did what."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    op.create_table(
        "trail",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("namespace", sa.String, nullable=False),
        sa.Column("who", sa.String(120), nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("act", sa.String(20), nullable=False),
        sa.Column("face", sa.String(10), nullable=False),
        sa.Column("purpose", sa.String(120), nullable=False),
        sa.Column("number", sa.String(90), nullable=False),
        sa.Column("subject", sa.String(64)),
        sa.Column("sealed", sa.LargeBinary),
        sa.Column("vehicle", sa.String(64), nullable=False),
        sa.Column("emptied", sa.String(64)),
        sa.Column("mac", sa.String(64), nullable=False),
    )
    op.create_index("trail_by_subject", "trail", ["subject", "at"])
    op.create_index("trail_by_age", "trail", ["at"])
