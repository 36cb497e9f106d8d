"""Adds messages, their deliveries, and the addresses of owners."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.create_table(
        "messages",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("namespace", sa.String, nullable=False),
        sa.Column("key", sa.String(200), nullable=False),
        sa.Column("recipient", sa.String(64), nullable=False),
        sa.Column("type", sa.String(20), nullable=False),
        sa.Column("data", sa.String, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("routed_at", sa.Float),
        sa.UniqueConstraint("namespace", "key", "recipient"),
    )
    op.create_index("messages_by_time", "messages", ["created_at"])
    is_new = sa.text("routed_at IS NULL")
    op.create_index(
        "messages_to_route",
        "messages",
        ["namespace", "id"],
        sqlite_where=is_new,
        postgresql_where=is_new,
    )
    op.create_table(
        "deliveries",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("namespace", sa.String, nullable=False),
        sa.Column("message", sa.Integer, nullable=False),
        sa.Column("channel", sa.String(10), nullable=False),
        sa.Column("sealed", sa.LargeBinary, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
        sa.Column("result", sa.String(200), nullable=False, server_default=""),
        sa.Column("next_at", sa.Float),
        sa.Column("done_at", sa.Float),
    )
    op.create_index("deliveries_by_message", "deliveries", ["message"])
    op.create_index("deliveries_by_number", "deliveries", ["namespace", "id"])
    is_due = sa.text("next_at IS NOT NULL")
    op.create_index(
        "deliveries_due",
        "deliveries",
        ["namespace", "next_at"],
        sqlite_where=is_due,
        postgresql_where=is_due,
    )
    op.create_table(
        "channels",
        sa.Column("owner", sa.String(64), primary_key=True),
        sa.Column("sealed", sa.LargeBinary, nullable=False),
    )
