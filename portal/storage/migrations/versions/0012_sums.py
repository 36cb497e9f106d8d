"""Adds sums of the ledger, kept by triggers, and indexes for pages and for expiry.

The counts of saved lookups lose their callers, which the monthly sums name.
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

_MILLIONTHS = "CAST(round(CAST({} AS DOUBLE PRECISION) * 1000000) AS BIGINT)"
_SUM_CALL = f"""
    INSERT INTO call_sums VALUES (NEW.namespace, NEW.day, NEW.operation, NEW.price, NEW.origin,
        NEW.outcome, coalesce(NEW.status, 0), 1, NEW.sent_at)
    ON CONFLICT (namespace, day, operation, price, origin, outcome, status) DO UPDATE SET
        calls = call_sums.calls + 1, last_at = CASE WHEN excluded.last_at > call_sums.last_at
        THEN excluded.last_at ELSE call_sums.last_at END;
    INSERT INTO caller_sums (namespace, month, caller, calls, spent)
        SELECT NEW.namespace, substr(NEW.day, 1, 7), NEW.caller, 1,
            {_MILLIONTHS.format("NEW.price")}
        WHERE NEW.outcome NOT IN ('not_sent', 'circuit_open')
    ON CONFLICT (namespace, month, caller) DO UPDATE SET
        calls = caller_sums.calls + 1, spent = caller_sums.spent + excluded.spent;
"""  # noqa: S608 only our own text
_FILL = (
    """
    INSERT INTO call_sums SELECT namespace, day, operation, price, origin, outcome,
        coalesce(status, 0), count(*), max(sent_at) FROM ledger WHERE outcome <> 'maybe'
        GROUP BY namespace, day, operation, price, origin, outcome, coalesce(status, 0)
    """,
    f"""
    INSERT INTO caller_sums (namespace, month, caller, calls, spent)
        SELECT namespace, substr(day, 1, 7), caller, count(*), sum({_MILLIONTHS.format("price")})
        FROM ledger WHERE outcome NOT IN ('maybe', 'not_sent', 'circuit_open')
        GROUP BY namespace, substr(day, 1, 7), caller
    """,  # noqa: S608 only our own text
    f"""
    INSERT INTO caller_sums (namespace, month, caller, hits, stale, collapsed, saved)
        SELECT namespace, substr(day, 1, 7), caller, sum(hits), sum(stale), sum(collapsed),
            sum((hits + stale) * {_MILLIONTHS.format("price")})
        FROM lookup_counts WHERE true GROUP BY namespace, substr(day, 1, 7), caller
    ON CONFLICT (namespace, month, caller) DO UPDATE SET hits = excluded.hits,
        stale = excluded.stale, collapsed = excluded.collapsed, saved = excluded.saved
    """,  # noqa: S608 only our own text
    """
    INSERT INTO lookup_counts (namespace, day, caller, operation, price, hits, stale, collapsed)
        SELECT namespace, day, '', operation, price, sum(hits), sum(stale), sum(collapsed)
        FROM lookup_counts WHERE caller <> '' GROUP BY namespace, day, operation, price
    ON CONFLICT (namespace, day, caller, operation, price) DO UPDATE SET
        hits = lookup_counts.hits + excluded.hits, stale = lookup_counts.stale + excluded.stale,
        collapsed = lookup_counts.collapsed + excluded.collapsed
    """,
    "DELETE FROM lookup_counts WHERE caller <> ''",
)
_REPLACED = {
    "ledger": "ledger_by_use",
    "batches": "batches_by_owner",
    "dossiers": "dossiers_by_owner",
}
_INDEXES = (
    ("ledger_by_day", "ledger", "namespace, day", ""),
    ("ledger_in_progress", "ledger", "namespace, day", "outcome = 'maybe'"),
    ("tokens_by_full_day", "access_tokens", "namespace, full_on", ""),
    ("tokens_by_expiry", "access_tokens", "namespace, expires_at", "revoked_at IS NULL"),
    ("tokens_by_revocation", "access_tokens", "namespace, revoked_at", "revoked_at IS NOT NULL"),
    ("call_counters_by_day", "call_counters", "day", ""),
    ("history_by_time", "history", "visitor, asked_at", ""),
    ("history_by_age", "history", "asked_at", ""),
    ("history_with_notes", "history", "id", "sealed_note IS NOT NULL"),
    ("batch_items_by_holder", "batch_items", "holder", "holder <> ''"),
    ("batches_by_owner", "batches", "owner, created_at, id", ""),
    ("batches_by_expiry", "batches", "expires_at", ""),
    ("batches_as_drafts", "batches", "owner, created_at", "state = 'draft'"),
    ("batches_under_way", "batches", "namespace, started_at", "state IN ('running', 'paused')"),
    ("dossiers_by_owner", "dossiers", "owner, issued_at, number", ""),
    ("dossiers_by_expiry", "dossiers", "expires_at", ""),
    ("dossiers_with_content", "dossiers", "expires_at", "head IS NOT NULL"),
    ("idempotency_keys_by_made", "idempotency_keys", "made", ""),
    ("idempotency_keys_by_expiry", "idempotency_keys", "expires_at", ""),
)


def upgrade() -> None:
    op.create_table(
        "call_sums",
        sa.Column("namespace", sa.String, primary_key=True),
        sa.Column("day", sa.String(10), primary_key=True),
        sa.Column("operation", sa.String(10), primary_key=True),
        sa.Column("price", sa.String(20), primary_key=True),
        sa.Column("origin", sa.String(20), primary_key=True),
        sa.Column("outcome", sa.String(20), primary_key=True),
        sa.Column("status", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("calls", sa.Integer, nullable=False),
        sa.Column("last_at", sa.Float, nullable=False),
    )
    op.create_table(
        "caller_sums",
        sa.Column("namespace", sa.String, primary_key=True),
        sa.Column("month", sa.String(7), primary_key=True),
        sa.Column("caller", sa.String(80), primary_key=True),
        sa.Column("spent", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("saved", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("calls", sa.Integer, nullable=False, server_default="0"),
        sa.Column("hits", sa.Integer, nullable=False, server_default="0"),
        sa.Column("stale", sa.Integer, nullable=False, server_default="0"),
        sa.Column("collapsed", sa.Integer, nullable=False, server_default="0"),
    )
    columns = ["namespace", "month", "spent", "calls", "caller"]
    op.create_index("caller_sums_by_spent", "caller_sums", columns)
    op.add_column("access_tokens", sa.Column("full_on", sa.String(10)))
    for table, index in _REPLACED.items():
        op.drop_index(index, table)
    for name, table, columns_text, where in _INDEXES:
        condition = sa.text(where) if where else None
        op.create_index(
            name,
            table,
            columns_text.split(", "),
            sqlite_where=condition,
            postgresql_where=condition,
        )
    _create_triggers()
    for statement in _FILL:
        op.execute(statement)


def _create_triggers() -> None:
    """Create the triggers before the sums are filled, which keeps other writers waiting.

    In PostgreSQL, CREATE TRIGGER locks the ledger against writers until the transaction ends.
    """
    body = f"BEGIN {_SUM_CALL} END"
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "CREATE FUNCTION sum_call() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN {_SUM_CALL} RETURN NULL; END $$"
        )
        body = "EXECUTE FUNCTION sum_call()"
    is_ended = "NEW.outcome <> 'maybe'"
    for name, event, condition in (
        ("ledger_insert", "INSERT", is_ended),
        ("ledger_update", "UPDATE OF outcome", f"OLD.outcome = 'maybe' AND {is_ended}"),
    ):
        op.execute(
            f"CREATE TRIGGER {name} AFTER {event} ON ledger FOR EACH ROW WHEN ({condition}) {body}"
        )
