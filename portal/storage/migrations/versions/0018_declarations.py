"""Adds what owners declare of the lines of a vehicle's checklist."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.create_table(
        "declarations",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("subject", sa.String(64), nullable=False),
        sa.Column("line", sa.String(40), nullable=False),
        sa.Column("declared_at", sa.Float, nullable=False),
        sa.Column("sealed", sa.LargeBinary, nullable=False),
    )
    columns = ["owner", "subject", "line"]
    op.create_index("declarations_by_owner", "declarations", columns, unique=True)
    op.create_index("declarations_by_subject", "declarations", ["subject"])
    op.create_index("declarations_by_age", "declarations", ["declared_at"])
