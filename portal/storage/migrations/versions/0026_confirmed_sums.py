"""Counts what a batch has spent in the table of limits, with the sum that its owner confirmed.

Portals of the former version go on meanwhile. They write ``batches.spent``, which a trigger adds to
the batch's row, and refuse their call if the sum does not allow it.
"""

from alembic import op

revision = "0026"
down_revision = "0025"

_MILLIONTHS = "CAST(round(CAST({} AS DOUBLE PRECISION) * 1000000) AS BIGINT)"
_ROW = "namespace = {0}.namespace AND day = 'total' AND payer = 'batch:' || {0}.id"
_CONFIRMED = f"CASE {{0}}at_most WHEN '-0' THEN NULL ELSE {_MILLIONTHS.format('{0}at_most')} END"
_FILL = f"""
    INSERT INTO call_counters (namespace, day, payer, calls, most)
    SELECT namespace, 'total', 'batch:' || id, {_MILLIONTHS.format("spent")},
        {_CONFIRMED.format("")} FROM batches
"""  # noqa: S608 only our own text
_IS_BEYOND = f"""
    CAST(NEW.spent AS DOUBLE PRECISION) > CAST(OLD.spent AS DOUBLE PRECISION)
    AND EXISTS (SELECT 1 FROM call_counters WHERE {_ROW.format("NEW")} AND calls > most)
"""  # noqa: S608 only our own text
_REFUSE = {
    "sqlite": f"SELECT RAISE(ABORT, 'confirmed sum') WHERE {_IS_BEYOND};",
    "postgresql": f"IF {_IS_BEYOND} THEN RAISE EXCEPTION 'confirmed sum'; END IF;",
}
_CONFIRM = f"""
    UPDATE call_counters SET most = {_CONFIRMED.format("NEW.")} WHERE {_ROW.format("NEW")};
"""  # noqa: S608 only our own text
_SPEND = f"""
    INSERT INTO call_counters (namespace, day, payer, calls, most) VALUES (NEW.namespace, 'total',
        'batch:' || NEW.id, {_MILLIONTHS.format("NEW.spent")} - {_MILLIONTHS.format("OLD.spent")},
        {_CONFIRMED.format("NEW.")})
    ON CONFLICT (namespace, day, payer) DO UPDATE SET
        calls = call_counters.calls + excluded.calls;
"""  # noqa: S608 only our own text
_DELETE = f"DELETE FROM call_counters WHERE {_ROW.format('OLD')};"  # noqa: S608 only our own text


def upgrade() -> None:
    dialect = op.get_bind().dialect.name
    for name, event, body in (
        ("confirmed", "UPDATE OF at_most", _CONFIRM),
        ("spent", "UPDATE OF spent", _SPEND + _REFUSE[dialect]),
        ("deleted", "DELETE", _DELETE),
    ):
        trigger = f"CREATE TRIGGER batches_{name} AFTER {event} ON batches FOR EACH ROW"
        if dialect == "sqlite":
            op.execute(f"{trigger} BEGIN {body} END")
            continue
        op.execute(
            f"CREATE FUNCTION batch_{name}() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN {body} RETURN NULL; END $$"
        )
        op.execute(f"{trigger} EXECUTE FUNCTION batch_{name}()")
    op.execute(_FILL)
