"""Adds columns for the result of a batch item and for the number of repeated vehicles.

``repeated`` is the number of vehicles that a batch's list contains more than once.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("batch_items", sa.Column("sealed_result", sa.LargeBinary))
    op.add_column("batches", sa.Column("repeated", sa.Integer, nullable=False, server_default="0"))
