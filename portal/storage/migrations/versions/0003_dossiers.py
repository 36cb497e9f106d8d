"""Adds the table of issued dossiers (vehicle reports)."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "dossiers",
        sa.Column("number", sa.String(12), primary_key=True),
        sa.Column("namespace", sa.String, nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("share_key", sa.String(64), nullable=False, unique=True),
        sa.Column("subject", sa.String(64)),
        sa.Column("issued_at", sa.Float, nullable=False),
        sa.Column("expires_at", sa.Float, nullable=False),
        sa.Column("revoked_at", sa.Float),
        sa.Column("head", sa.LargeBinary),
        sa.Column("html", sa.LargeBinary),
        sa.Column("pdf", sa.LargeBinary),
    )
    op.create_index("dossiers_by_owner", "dossiers", ["owner"])
    op.create_index("dossiers_by_subject", "dossiers", ["subject"])
