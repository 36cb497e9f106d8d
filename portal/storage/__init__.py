"""The database and its tables, backups, and the file of the secret key."""

from portal.storage.backup import (
    CACHE_NAME,
    DATABASE_NAME,
    BackupRefused,
    Manifest,
    back_up,
    remove_copies,
    restore,
)
from portal.storage.data_lock import DataLock
from portal.storage.database import (
    BytesKept,
    current_revision,
    database_bytes,
    database_file,
    erase_deleted,
    is_in_place,
    lock_batches,
    lock_dossiers,
    open_engine,
    reading,
    require_current_schema,
    side_engine,
    upgrade_schema,
    writing,
)
from portal.storage.file_identity import file_identity
from portal.storage.key_fingerprints import (
    forget_other_keys,
    record_key,
    recorded_keys,
    unknown_keys,
)
from portal.storage.later_ends import end_what_has_ended
from portal.storage.origin import forget_origin, is_restored, record_origin
from portal.storage.prepared_statement import PreparedStatement
from portal.storage.purge_log import PurgeLog, Purges, was_purged
from portal.storage.schema import SCHEMA_HEAD, SchemaMismatch
from portal.storage.secret import (
    NAME as KEY_NAME,
)
from portal.storage.secret import (
    InvalidSecretKey,
    fingerprint,
    load_secret_key,
    read_secret_key,
)
from portal.storage.sqlite_traces import PRAGMAS, DeletedBytes, empty_log
from portal.storage.tables import (
    batch_items,
    batches,
    dossiers,
    history,
    ledger,
    lookup_counts,
    spending,
    tokens,
)

__all__ = [
    "CACHE_NAME",
    "DATABASE_NAME",
    "KEY_NAME",
    "PRAGMAS",
    "SCHEMA_HEAD",
    "BackupRefused",
    "BytesKept",
    "DataLock",
    "DeletedBytes",
    "InvalidSecretKey",
    "Manifest",
    "PreparedStatement",
    "PurgeLog",
    "Purges",
    "SchemaMismatch",
    "back_up",
    "batch_items",
    "batches",
    "current_revision",
    "database_bytes",
    "database_file",
    "dossiers",
    "empty_log",
    "end_what_has_ended",
    "erase_deleted",
    "file_identity",
    "fingerprint",
    "forget_origin",
    "forget_other_keys",
    "history",
    "is_in_place",
    "is_restored",
    "ledger",
    "load_secret_key",
    "lock_batches",
    "lock_dossiers",
    "lookup_counts",
    "open_engine",
    "read_secret_key",
    "reading",
    "record_key",
    "record_origin",
    "recorded_keys",
    "remove_copies",
    "require_current_schema",
    "restore",
    "side_engine",
    "spending",
    "tokens",
    "unknown_keys",
    "upgrade_schema",
    "was_purged",
    "writing",
]
