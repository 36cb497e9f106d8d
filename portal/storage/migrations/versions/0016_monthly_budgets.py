"""Adds budgets of a month, and counts the present month's R$ of each caller so far."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"

# Of every month, because the migration does not know the present one.
_COUNT = """
    INSERT INTO call_counters (namespace, day, payer, calls)
    SELECT namespace, 'm' || month, {payer}, sum(spent) FROM caller_sums
    GROUP BY namespace, month{group} HAVING sum(spent) > 0
"""


def upgrade() -> None:
    budget = sa.Column("monthly_budget", sa.String(20), nullable=False, server_default="0")
    op.add_column("access_tokens", budget)
    long = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    op.add_column("call_counters", sa.Column("most", long))
    if op.get_bind().dialect.name == "postgresql":
        op.alter_column("call_counters", "calls", type_=sa.BigInteger)
    op.execute(_COUNT.format(payer="'day'", group=""))
    op.execute(_COUNT.format(payer="'token:' || caller", group=", caller"))
