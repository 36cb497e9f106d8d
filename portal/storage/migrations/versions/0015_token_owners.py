"""Adds the owner of a token. Without one, a token's data is stored under the token's digest."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.add_column("access_tokens", sa.Column("owner", sa.String(64)))
    op.create_index("tokens_by_owner", "access_tokens", ["owner"])
