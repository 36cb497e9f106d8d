"""Adds the people who sign in, and the person of a token."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.add_column("access_tokens", sa.Column("person", sa.String(64)))
    where = sa.text("person IS NOT NULL")
    op.create_index(
        "tokens_by_person",
        "access_tokens",
        ["person"],
        sqlite_where=where,
        postgresql_where=where,
    )
    op.create_table(
        "people",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("namespace", sa.String, nullable=False),
        sa.Column("caller", sa.String(80), nullable=False),
        sa.Column("issuer", sa.String, nullable=False),
        sa.Column("sealed", sa.LargeBinary, nullable=False),
        sa.Column("sealed_refresh", sa.LargeBinary),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("entered_at", sa.Float, nullable=False),
        sa.Column("seen_at", sa.Float, nullable=False),
        sa.Column("checked_at", sa.Float, nullable=False),
        sa.Column("asked_at", sa.Float, nullable=False, server_default="0"),
        sa.Column("ended_at", sa.Float),
        sa.Column("refused_at", sa.Float),
        sa.UniqueConstraint("namespace", "caller"),
    )
