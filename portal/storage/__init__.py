"""Persistent state: the SQL engine with its tables, and the secret key."""

from portal.storage.data_lock import DataLock
from portal.storage.database import (
    batch_items,
    batches,
    current_revision,
    database_file,
    dossiers,
    erase_traces,
    history,
    hits,
    is_in_place,
    ledger,
    lock_dossiers,
    open_engine,
    reading,
    require_current_schema,
    side_engine,
    spending,
    tokens,
    upgrade_schema,
    writing,
)
from portal.storage.key_fingerprints import (
    adopt_key,
    former_fingerprints,
    recorded_fingerprint,
    settle_former_keys,
)
from portal.storage.purge_log import PurgeLog, Purges, was_purged
from portal.storage.schema import SCHEMA_HEAD, SchemaMismatch
from portal.storage.secret import (
    InvalidSecretKey,
    fingerprint,
    load_secret_key,
    read_secret_key,
)
from portal.storage.sqlite_traces import PageSearch, empty_log, leave_no_trace

__all__ = [
    "SCHEMA_HEAD",
    "DataLock",
    "InvalidSecretKey",
    "PageSearch",
    "PurgeLog",
    "Purges",
    "SchemaMismatch",
    "adopt_key",
    "batch_items",
    "batches",
    "current_revision",
    "database_file",
    "dossiers",
    "empty_log",
    "erase_traces",
    "fingerprint",
    "former_fingerprints",
    "history",
    "hits",
    "is_in_place",
    "leave_no_trace",
    "ledger",
    "load_secret_key",
    "lock_dossiers",
    "open_engine",
    "read_secret_key",
    "reading",
    "recorded_fingerprint",
    "require_current_schema",
    "settle_former_keys",
    "side_engine",
    "spending",
    "tokens",
    "upgrade_schema",
    "was_purged",
    "writing",
]
