"""Adds the sessions of each person, so that one of them can be ended."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    op.add_column("people", sa.Column("sealed_sessions", sa.LargeBinary))
