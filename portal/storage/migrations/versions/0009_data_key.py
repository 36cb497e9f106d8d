"""Lets the values of the table ``meta`` have any length.

The portal stores its data key there, encrypted. The data key of a database of revision 0008 is its
secret key, of any length.
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    with op.batch_alter_table("meta") as table:
        table.alter_column("value", type_=sa.Text(), existing_nullable=False)
