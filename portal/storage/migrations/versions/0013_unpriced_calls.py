"""Counts the calls and the stored answers of a caller whose price is unknown.

A call without a configured price has the price "-0". Calls of former versions have the price 0.
"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

_SUM_CALL = """
    INSERT INTO call_sums VALUES (NEW.namespace, NEW.day, NEW.operation, NEW.price, NEW.origin,
        NEW.outcome, coalesce(NEW.status, 0), 1, NEW.sent_at)
    ON CONFLICT (namespace, day, operation, price, origin, outcome, status) DO UPDATE SET
        calls = call_sums.calls + 1, last_at = CASE WHEN excluded.last_at > call_sums.last_at
        THEN excluded.last_at ELSE call_sums.last_at END;
    INSERT INTO caller_sums (namespace, month, caller, calls, spent, unpriced_calls)
        SELECT NEW.namespace, substr(NEW.day, 1, 7), NEW.caller, 1,
            CAST(round(CAST(NEW.price AS DOUBLE PRECISION) * 1000000) AS BIGINT),
            CASE NEW.price WHEN '-0' THEN 1 ELSE 0 END
        WHERE NEW.outcome NOT IN ('not_sent', 'circuit_open')
    ON CONFLICT (namespace, month, caller) DO UPDATE SET
        calls = caller_sums.calls + 1, spent = caller_sums.spent + excluded.spent,
        unpriced_calls = caller_sums.unpriced_calls + excluded.unpriced_calls;
"""
_ENDED = "NEW.outcome <> 'maybe'"
_TRIGGERS = (
    ("ledger_insert", "INSERT", _ENDED),
    ("ledger_update", "UPDATE OF outcome", f"OLD.outcome = 'maybe' AND {_ENDED}"),
)


def upgrade() -> None:
    for name in ("unpriced_calls", "unpriced_hits"):
        column = sa.Column(name, sa.Integer, nullable=False, server_default="0")
        op.add_column("caller_sums", column)
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "CREATE OR REPLACE FUNCTION sum_call() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN {_SUM_CALL} RETURN NULL; END $$"
        )
        return
    for name, event, condition in _TRIGGERS:
        op.execute(f"DROP TRIGGER {name}")
        op.execute(
            f"CREATE TRIGGER {name} AFTER {event} ON ledger FOR EACH ROW WHEN ({condition}) "
            f"BEGIN {_SUM_CALL} END"
        )
