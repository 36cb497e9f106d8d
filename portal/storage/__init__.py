"""Where it is kept: the SQL engine with its tables, and the secret key."""

from portal.storage.database import (
    history,
    hits,
    ledger,
    open_engine,
    reading,
    spending,
    tokens,
)
from portal.storage.secret import load_secret_key

__all__ = [
    "history",
    "hits",
    "ledger",
    "load_secret_key",
    "open_engine",
    "reading",
    "spending",
    "tokens",
]
