"""Adds to each batch the sum of what its calls cost, which limits what the batch may spend.

The sum of an existing batch is computed from its calls in the ledger. A process of the former
version does not add the calls that it makes during the upgrade.
"""

from decimal import Decimal

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_ledger = sa.table("ledger", sa.column("batch"), sa.column("price"), sa.column("outcome"))
_batches = sa.table("batches", sa.column("id"), sa.column("spent"))


def upgrade() -> None:
    op.add_column("batches", sa.Column("spent", sa.String(20), nullable=False, server_default="0"))
    db = op.get_bind()
    charged = (
        sa.select(_ledger.c.batch, _ledger.c.price, sa.func.count())
        .where(
            _ledger.c.batch.in_(sa.select(_batches.c.id)),
            _ledger.c.outcome.not_in(("not_sent", "circuit_open")),
        )
        .group_by(_ledger.c.batch, _ledger.c.price)
    )
    spent: dict[str, Decimal] = {}
    for batch, price, calls in db.execute(charged).all():
        spent[batch] = spent.get(batch, Decimal(0)) + Decimal(price) * calls
    for batch, total in spent.items():
        db.execute(sa.update(_batches).where(_batches.c.id == batch).values(spent=str(total)))
