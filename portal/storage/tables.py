"""The tables of the database. A change of a table needs a migration (CONTRIBUTING.md)."""

from typing import Any

from sqlalchemy import (
    DDL,
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    event,
    text,
)

# A test checks that these tables equal the tables after the last migration.
metadata = MetaData()


def _partial_index(name: str, *columns: str, where: str) -> Index:
    """Return an index of some rows. SQLite uses it for queries that repeat ``where`` literally."""
    return Index(name, *columns, sqlite_where=text(where), postgresql_where=text(where))


IN_PROGRESS = "outcome = 'maybe'"
IS_DRAFT = "state = 'draft'"
IS_LEASED = "holder <> ''"
IS_UNDER_WAY = "state IN ('running', 'paused')"

# A row's namespace is the name of its upstream, or "demo".
tokens = Table(
    "access_tokens",
    metadata,
    # The SHA-256 of the token in hex.
    Column("digest", String(64), primary_key=True),
    # The key of what the token's holder has stored, which a later token of the same holder finds
    # again. A token that was issued before owners were stored has the token's digest as its owner.
    Column("owner", String(64)),
    Column("namespace", String, nullable=False),
    # A token that was replaced has "#" and a number after its name.
    Column("name", String(80).with_variant(String(90), "postgresql"), nullable=False),
    Column("scopes", String(200), nullable=False),
    Column("daily_limit", Integer, nullable=False),  # Upstream calls per day. 0 means no limit.
    # R$ per calendar month, as text. "0" means no limit.
    Column("monthly_budget", String(20), nullable=False, server_default="0"),
    Column("created_at", Float, nullable=False),  # All times in this table are in epoch seconds.
    Column("expires_at", Float),
    Column("revoked_at", Float),
    # The last day in America/Sao_Paulo on which the token reached its daily limit.
    Column("full_on", String(10)),
    # The id of the person who has issued the token for a script of theirs (see ``people``). NULL if
    # the operator has issued it.
    Column("person", String(64)),
    UniqueConstraint("namespace", "name"),
    Index("tokens_by_owner", "owner"),
    _partial_index("tokens_by_person", "person", where="person IS NOT NULL"),
    Index("tokens_by_full_day", "namespace", "full_on"),
    _partial_index("tokens_by_expiry", "namespace", "expires_at", where="revoked_at IS NULL"),
    _partial_index(
        "tokens_by_revocation", "namespace", "revoked_at", where="revoked_at IS NOT NULL"
    ),
)

# The people who have signed in at the company's provider, or through its proxy.
people = Table(
    "people",
    metadata,
    # The HMAC of namespace, issuer and subject, which is also the owner of what the person stores.
    Column("id", String(64), primary_key=True),
    Column("namespace", String, nullable=False),
    # The name under which calls are recorded, such as "person:ana@loja.example".
    Column("caller", String(80), nullable=False),
    Column("issuer", String, nullable=False),  # The provider's URL, or "proxy".
    Column("sealed", LargeBinary, nullable=False),  # The subject and the groups, encrypted.
    Column("sealed_refresh", LargeBinary),  # The provider's refresh token, encrypted.
    Column("created_at", Float, nullable=False),  # All times in this table are in epoch seconds.
    # The last sign-in. A person of the proxy signs in with each page.
    Column("entered_at", Float, nullable=False),
    Column("seen_at", Float, nullable=False),  # The last page, to the minute.
    Column("checked_at", Float, nullable=False),  # When the provider last confirmed the groups.
    # When a process last began to ask the provider, so that no two ask at once.
    Column("asked_at", Float, nullable=False, server_default="0"),
    Column("ended_at", Float),  # Sessions that began before are over.
    Column("refused_at", Float),  # The provider does not know the person any more.
    Column("sealed_sessions", LargeBinary),  # The sessions of the person's browsers, encrypted.
    UniqueConstraint("namespace", "caller"),
)

ledger = Table(
    "ledger",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("sent_at", Float, nullable=False),  # Epoch seconds.
    Column("day", String(10), nullable=False),  # An ISO 8601 date in America/Sao_Paulo.
    Column("operation", String(10), nullable=False),
    # HMAC of the plate or Renavam. "" if the HMAC was removed.
    Column("subject", String(64), nullable=False),
    Column("origin", String(20), nullable=False),
    Column("caller", String(80), nullable=False),
    # The call's price in R$, as text, because SQLite has no exact decimal type. ``portal.amounts``
    # writes it, and the columns ``batches.at_most`` and ``lookup_counts.price``.
    Column("price", String(20), nullable=False),
    Column("outcome", String(20), nullable=False),  # The outcome is "maybe" until the call ends.
    Column("status", Integer),
    Column("namespace", String, nullable=False, server_default=""),
    Column("batch", String(32)),  # The id of the call's batch. NULL if no batch made the call.
    Index("ledger_by_day", "namespace", "day"),
    _partial_index("ledger_in_progress", "namespace", "day", where=IN_PROGRESS),
    Index("ledger_by_subject", "subject"),
    Index("ledger_by_batch", "batch"),
)

# The ledger's ended calls by day and kind. Triggers on the ledger write the rows of ``call_sums``,
# and the calls of ``caller_sums``, in the transaction that ends a call.
call_sums = Table(
    "call_sums",
    metadata,
    Column("namespace", String, primary_key=True),
    Column("day", String(10), primary_key=True),
    Column("operation", String(10), primary_key=True),
    Column("price", String(20), primary_key=True),
    Column("origin", String(20), primary_key=True),
    Column("outcome", String(20), primary_key=True),
    Column("status", Integer, primary_key=True, autoincrement=False),  # 0 without a status
    Column("calls", Integer, nullable=False),
    Column("last_at", Float, nullable=False),  # Epoch seconds.
)

# Each caller's lookups in a month such as "2026-11". ``spent`` and ``saved`` are in millionths of
# R$, because a price has at most six decimal places. They leave out ``unpriced_calls`` and
# ``unpriced_hits``, whose price is unknown.
caller_sums = Table(
    "caller_sums",
    metadata,
    Column("namespace", String, primary_key=True),
    Column("month", String(7), primary_key=True),
    Column("caller", String(80), primary_key=True),
    Column("spent", BigInteger, nullable=False, server_default="0"),
    Column("saved", BigInteger, nullable=False, server_default="0"),
    *(
        Column(name, Integer, nullable=False, server_default="0")
        for name in (*("calls", "hits", "stale", "collapsed"), "unpriced_calls", "unpriced_hits")
    ),
    Index("caller_sums_by_spent", "namespace", "month", "spent", "calls", "caller"),
)

_MILLIONTHS = "CAST(round(CAST({} AS DOUBLE PRECISION) * 1000000) AS BIGINT)"
_SUM_CALL = f"""
    INSERT INTO call_sums VALUES (NEW.namespace, NEW.day, NEW.operation, NEW.price, NEW.origin,
        NEW.outcome, coalesce(NEW.status, 0), 1, NEW.sent_at)
    ON CONFLICT (namespace, day, operation, price, origin, outcome, status) DO UPDATE SET
        calls = call_sums.calls + 1, last_at = CASE WHEN excluded.last_at > call_sums.last_at
        THEN excluded.last_at ELSE call_sums.last_at END;
    INSERT INTO caller_sums (namespace, month, caller, calls, spent, unpriced_calls)
        SELECT NEW.namespace, substr(NEW.day, 1, 7), NEW.caller, 1,
            {_MILLIONTHS.format("NEW.price")},
            CASE NEW.price WHEN '-0' THEN 1 ELSE 0 END
        WHERE NEW.outcome NOT IN ('not_sent', 'circuit_open')
    ON CONFLICT (namespace, month, caller) DO UPDATE SET
        calls = caller_sums.calls + 1, spent = caller_sums.spent + excluded.spent,
        unpriced_calls = caller_sums.unpriced_calls + excluded.unpriced_calls;
"""  # noqa: S608 only our own text
# Two triggers, because only an update has an old row.
_ENDED = {"INSERT": "NEW.outcome <> 'maybe'"}
_ENDED["UPDATE OF outcome"] = f"OLD.outcome = 'maybe' AND {_ENDED['INSERT']}"


def _on_create(dialect: str, statement: str) -> None:
    ddl: Any = DDL
    event.listen(metadata, "after_create", ddl(statement).execute_if(dialect=dialect))


_on_create(
    "postgresql",
    "CREATE FUNCTION sum_call() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ BEGIN {_SUM_CALL} RETURN NULL; END $$",
)
for _event, _condition in _ENDED.items():
    _trigger = (
        f"CREATE TRIGGER ledger_{_event[:6].lower()} AFTER {_event} ON ledger FOR EACH ROW "
        f"WHEN ({_condition})"
    )
    _on_create("sqlite", f"{_trigger} BEGIN {_SUM_CALL} END")
    _on_create("postgresql", f"{_trigger} EXECUTE FUNCTION sum_call()")

# SQLite's INTEGER has 64 bits.
_LONG = BigInteger().with_variant(Integer, "sqlite")
# What is used of the limits of a day or a month (``portal.gateway.reservation``).
call_counters = Table(
    "call_counters",
    metadata,
    Column("namespace", String, primary_key=True),
    Column("day", String(10), primary_key=True),
    # "day" stands for all callers, "token:NAME" for one caller, "batch:ID" for a batch. With a day
    # in the column ``day``, a row counts calls. With a month, such as "m2026-11", it counts
    # millionths of R$, and with "total" those of all days.
    # "known:NAME" exists if the upstream has answered the caller with 200 on this day.
    # "on trial" counts calls in progress of callers that have no such answer (see Ledger).
    Column("payer", String(90), primary_key=True),
    Column("calls", _LONG, nullable=False),
    # The limit when the row was last written. NULL means no limit. The row of a batch has the sum
    # that its owner confirmed last, which a trigger on the batches keeps.
    Column("most", _LONG),
    Index("call_counters_by_day", "day"),
)

# Counts the lookups that needed no upstream call of their own. Only versions before schema revision
# 0012 count each caller. A later version removes the column.
lookup_counts = Table(
    "lookup_counts",
    metadata,
    Column("namespace", String, primary_key=True),
    Column("day", String(10), primary_key=True),
    Column("caller", String(80), primary_key=True),
    Column("operation", String(10), primary_key=True),
    # The price in R$ of one call on the row's day.
    Column("price", String(20), primary_key=True),
    Column("hits", Integer, nullable=False),  # Fresh answers from the store.
    Column("stale", Integer, nullable=False),
    Column("collapsed", Integer, nullable=False),
)

# Messages to the operator and to owners. A key is inserted once for each recipient.
messages = Table(
    "messages",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("namespace", String, nullable=False),
    Column("key", String(200), nullable=False),
    Column("recipient", String(64), nullable=False),  # An owner, or "" for the operator.
    Column("type", String(20), nullable=False),
    Column("data", String, nullable=False),  # JSON, without a plate.
    Column("created_at", Float, nullable=False),  # Epoch seconds.
    Column("routed_at", Float),  # When its deliveries were made.
    UniqueConstraint("namespace", "key", "recipient"),
    Index("messages_by_time", "created_at"),
    _partial_index("messages_to_route", "namespace", "id", where="routed_at IS NULL"),
)

# A message on its way to one address.
deliveries = Table(
    "deliveries",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("namespace", String, nullable=False),
    Column("message", Integer, nullable=False),
    Column("channel", String(10), nullable=False),
    Column("sealed", LargeBinary, nullable=False),  # The address, encrypted.
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("result", String(200), nullable=False, server_default=""),
    Column("next_at", Float),  # When it is tried next. NULL after its end.
    Column("done_at", Float),  # When it was delivered.
    Index("deliveries_by_message", "message"),
    Index("deliveries_by_number", "namespace", "id"),
    _partial_index("deliveries_due", "namespace", "next_at", where="next_at IS NOT NULL"),
)

# Where each owner gets messages.
channels = Table(
    "channels",
    metadata,
    Column("owner", String(64), primary_key=True),  # A digest of the namespace and the owner.
    Column("sealed", LargeBinary, nullable=False),  # The addresses, encrypted.
)

# The secret address of each owner's calendar.
calendar_addresses = Table(
    "calendar_addresses",
    metadata,
    Column("digest", String(64), primary_key=True),  # SHA-256 of the namespace and the key.
    Column("owner", String(64), nullable=False),  # A digest of the namespace and the owner.
    Column("created_at", Float, nullable=False),  # Epoch seconds.
    Column("sealed", LargeBinary, nullable=False),  # The key and the owner, encrypted.
    Index("calendar_addresses_by_owner", "owner", unique=True),
)

history = Table(
    "history",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("visitor", String(64), nullable=False),  # A digest of the namespace and the visitor.
    Column("subject", String(64), nullable=False),  # HMAC of the plate.
    Column("asked_at", Float, nullable=False),  # Epoch seconds.
    Column("sealed", LargeBinary, nullable=False),  # The plate, encrypted.
    Column("sealed_note", LargeBinary),  # The visitor's note and tag, encrypted.
    Column("sealed_sight", LargeBinary),  # What the visitor last saw of it, encrypted.
    # The visitor's choice, the same in all of the visitor's rows. NULL without a choice.
    Column("kept_days", Integer),
    Index("history_by_visitor", "visitor", "subject", unique=True),
    Index("history_by_subject", "subject"),
    Index("history_by_time", "visitor", "asked_at"),
    Index("history_by_age", "asked_at"),
    _partial_index("history_with_notes", "id", where="sealed_note IS NOT NULL"),
)

# What an owner has declared of a line of a vehicle's checklist.
declarations = Table(
    "declarations",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("owner", String(64), nullable=False),  # A digest of the namespace and the owner.
    Column("subject", String(64), nullable=False),  # HMAC of the plate.
    Column("line", String(40), nullable=False),  # The key of the line.
    Column("declared_at", Float, nullable=False),  # Epoch seconds.
    Column("sealed", LargeBinary, nullable=False),  # The declaration, encrypted.
    Index("declarations_by_owner", "owner", "subject", "line", unique=True),
    Index("declarations_by_subject", "subject"),
    Index("declarations_by_age", "declared_at"),
)

batches = Table(
    "batches",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("namespace", String, nullable=False),
    Column("owner", String(64), nullable=False),  # A digest of the namespace and the owner.
    Column("created_at", Float, nullable=False),  # All times in this table are in epoch seconds.
    Column("started_at", Float),
    Column("ended_at", Float),
    Column("expires_at", Float, nullable=False),
    Column("state", String(10), nullable=False, default="draft"),
    # The reason for a pause. "" without a pause.
    Column("reason", String(20), nullable=False, default=""),
    # The time when a paused batch resumes by itself. NULL if the batch is not paused, or if only
    # its owner can resume it.
    Column("resume_at", Float),
    # The number of pauses since the last answer.
    Column("tries", Integer, nullable=False, default=0),
    Column("claimed_at", Float, nullable=False, default=0.0),
    Column("ask", String(40), nullable=False),  # The lookups to make, separated by commas.
    # The most in R$ that the batch may spend: a draft's price, or what its owner confirmed last.
    # Unknown if its owner has started it at an unknown price.
    Column("at_most", String(20), nullable=False),
    # Only versions before schema revision 0026 write this column, and a trigger adds what they
    # write to the batch's row of ``call_counters``. A later version removes it.
    Column("spent", String(20), nullable=False, server_default="0"),
    Column("sealed_access", LargeBinary),  # The owner's token digest or credential, encrypted.
    # The invalid entries of the batch's list of plates, encrypted.
    Column("sealed_wrong", LargeBinary, nullable=False),
    # The number of vehicles that the batch's list contains more than once.
    Column("repeated", Integer, nullable=False, server_default="0"),
    Column("sealed_name", LargeBinary),  # The owner's name for the batch, encrypted.
    Index("batches_by_owner", "owner", "created_at", "id"),
    Index("batches_by_state", "state"),
    Index("batches_by_expiry", "expires_at"),
    _partial_index("batches_as_drafts", "owner", "created_at", where=IS_DRAFT),
    _partial_index("batches_under_way", "namespace", "started_at", where=IS_UNDER_WAY),
)

_OF_BATCH = "namespace = {0}.namespace AND day = 'total' AND payer = 'batch:' || {0}.id"
_CONFIRMED = f"CASE NEW.at_most WHEN '-0' THEN NULL ELSE {_MILLIONTHS.format('NEW.at_most')} END"
# Calls that are about to be taken from a confirmed sum read the newest one in the batch's row.
_CONFIRM = f"""
    UPDATE call_counters SET most = {_CONFIRMED} WHERE {_OF_BATCH.format("NEW")};
"""  # noqa: S608 only our own text
# What versions before schema revision 0026 spend counts too, and is refused beyond the sum.
_SPEND = f"""
    INSERT INTO call_counters (namespace, day, payer, calls, most) VALUES (NEW.namespace, 'total',
        'batch:' || NEW.id, {_MILLIONTHS.format("NEW.spent")} - {_MILLIONTHS.format("OLD.spent")},
        {_CONFIRMED})
    ON CONFLICT (namespace, day, payer) DO UPDATE SET
        calls = call_counters.calls + excluded.calls;
"""  # noqa: S608 only our own text
_IS_BEYOND = f"""
    CAST(NEW.spent AS DOUBLE PRECISION) > CAST(OLD.spent AS DOUBLE PRECISION)
    AND EXISTS (SELECT 1 FROM call_counters WHERE {_OF_BATCH.format("NEW")} AND calls > most)
"""  # noqa: S608 only our own text
_REFUSE = {
    "sqlite": f"SELECT RAISE(ABORT, 'confirmed sum') WHERE {_IS_BEYOND};",
    "postgresql": f"IF {_IS_BEYOND} THEN RAISE EXCEPTION 'confirmed sum'; END IF;",
}
_END = f"DELETE FROM call_counters WHERE {_OF_BATCH.format('OLD')};"  # noqa: S608 only our own text


def _on_batches(name: str, event_: str, body: str) -> None:
    trigger = f"CREATE TRIGGER batches_{name} AFTER {event_} ON batches FOR EACH ROW"
    refusal = _REFUSE if name == "spent" else dict.fromkeys(_REFUSE, "")
    _on_create("sqlite", f"{trigger} BEGIN {body}{refusal['sqlite']} END")
    _on_create(
        "postgresql",
        f"CREATE FUNCTION batch_{name}() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN {body}{refusal['postgresql']} RETURN NULL; END $$",
    )
    _on_create("postgresql", f"{trigger} EXECUTE FUNCTION batch_{name}()")


_on_batches("confirmed", "UPDATE OF at_most", _CONFIRM)
_on_batches("spent", "UPDATE OF spent", _SPEND)
_on_batches("deleted", "DELETE", _END)

batch_items = Table(
    "batch_items",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("batch", String(32), nullable=False),
    Column("position", Integer, nullable=False),
    Column("subject", String(64), nullable=False),  # HMAC of the plate.
    Column("sealed", LargeBinary, nullable=False),  # The plate, encrypted.
    # True if all answers for the vehicle were stored before the batch ran.
    Column("stored", Boolean, nullable=False),
    Column("state", String(10), nullable=False, default="pending"),
    # Why the item failed, or "". A pending item with a cause is looked up once more.
    Column("cause", String(20), nullable=False, default=""),
    # The number of times that the item was put back behind the items with fewer attempts.
    Column("attempts", Integer, nullable=False, default=0),
    # The price in R$ of the item's lookups that are still to be sent for the first time, each once.
    Column("reserved", String(20), nullable=False, server_default="0"),
    # The price in R$ of the item's calls that were or may have been charged.
    Column("spent", String(20), nullable=False, server_default="0"),
    Column("failing_since", Float),  # The first failure since the last answer. NULL without one.
    # The leasing process. "" without a lease.
    Column("holder", String(32), nullable=False, default=""),
    # The end of the lease in epoch seconds, or 0 without a lease.
    Column("lease_until", Float, nullable=False, default=0.0),
    Column("sealed_result", LargeBinary),  # A summary of the item's answers, encrypted.
    # Only versions before schema revision 0008 use this column. A later version removes it.
    Column("at_most", String(20)),
    Index("batch_items_by_batch", "batch", "position", unique=True),
    Index("batch_items_by_subject", "subject"),
    Index("batch_items_by_lease", "batch", "lease_until"),
    _partial_index("batch_items_by_holder", "holder", where=IS_LEASED),
    Index("batch_items_by_turn", "batch", "state", "attempts", "position"),
)

# Issued dossiers. ``head`` contains the key in the dossier's link, and a summary of the dossier.
# ``head``, ``html`` and ``pdf`` are encrypted. When a dossier has expired or was revoked, these
# three columns are NULL. The row remains for some years as the proof that the dossier was issued:
# its number, the hash and the signature of its PDF. ``subject`` remains, so that a purge finds it.
dossiers = Table(
    "dossiers",
    metadata,
    Column("number", String(12), primary_key=True),
    Column("namespace", String, nullable=False),
    Column("owner", String(64), nullable=False),  # A digest of the namespace and the visitor.
    # The HMAC of the key in the dossier's link.
    Column("share_key", String(64), nullable=False, unique=True),
    # HMAC of the plate. NULL if a version before schema revision 0021 has ended the dossier.
    Column("subject", String(64)),
    Column("issued_at", Float, nullable=False),  # Epoch seconds.
    Column("expires_at", Float, nullable=False),
    Column("revoked_at", Float),
    Column("head", LargeBinary),
    Column("html", LargeBinary),
    Column("pdf", LargeBinary),
    Column("pdf_sha256", String(64)),  # In hex. NULL without a PDF, and before revision 0021.
    Column("signature", Text),  # Who signed the PDF and when, as JSON. NULL without a signature.
    Column("superseded_by", String(12)),  # The number of the dossier that takes this one's place.
    Index("dossiers_by_pdf_sha256", "pdf_sha256"),
    Index("dossiers_by_owner", "owner", "issued_at", "number"),
    Index("dossiers_by_subject", "subject"),
    Index("dossiers_by_expiry", "expires_at"),
    _partial_index("dossiers_with_content", "expires_at", where="head IS NOT NULL"),
)

# What the first request with an idempotency key has made. ``digest`` is an HMAC of the key and its
# sender, and ``content`` of the request's content.
idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("content", String(64), nullable=False),
    Column("made", String(32), nullable=False),  # A batch's id, or a dossier's number.
    Column("expires_at", Float, nullable=False),  # Epoch seconds.
    Index("idempotency_keys_by_made", "made"),
    Index("idempotency_keys_by_expiry", "expires_at"),
)

# Who saw and did what. Each row is chained to the former one (``portal.access.trail_chain``).
trail = Table(
    "trail",
    metadata,
    # Successive numbers, so that a missing row leaves a gap.
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("at", Float, nullable=False),  # Epoch seconds.
    Column("namespace", String, nullable=False),
    Column("who", String(120), nullable=False),  # The name of a caller, or of a command's user.
    Column("kind", String(10), nullable=False),  # "token", "person", "command" or "link".
    Column("act", String(20), nullable=False),
    Column("face", String(10), nullable=False),
    Column("purpose", String(120), nullable=False),
    # A dossier's number, a purge's, a batch's id, or the name of a token.
    Column("number", String(90), nullable=False),
    # The HMAC of the plate or Renavam, and the plate or Renavam itself, encrypted. Both are NULL if
    # the act was about no vehicle, or after a purge.
    Column("subject", String(64)),
    Column("sealed", LargeBinary),
    # The digest of these two, which outlives a purge. "" if the act was about no vehicle.
    Column("vehicle", String(64), nullable=False),
    # What a purge has signed when it emptied the two, otherwise NULL.
    Column("emptied", String(64)),
    Column("mac", String(64), nullable=False),
    Index("trail_by_subject", "subject", "at"),
    Index("trail_by_age", "at"),
)

purges = Table(
    "purges",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    # A short hash of the vehicle, from 0 to 65,535. Many vehicles share a hash, so the hash does
    # not identify a vehicle.
    Column("bucket", Integer, nullable=False),
)

# What was ended, for as long as a backup may be older (``portal.storage.ends``).
ends = Table(
    "ends",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("at", Float, nullable=False),  # Epoch seconds.
    Column("kind", String(20), nullable=False),
    Column("content", Text, nullable=False),  # JSON, without a plate and without a vehicle's tag.
    Index("ends_by_time", "at"),
)

meta = Table(
    "meta",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("value", Text, nullable=False),
)
