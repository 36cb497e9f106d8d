"""Makes room for the number of a replaced token after its name."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":  # SQLite has no lengths
        op.alter_column("access_tokens", "name", type_=sa.String(90))
