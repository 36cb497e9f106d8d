"""The SQL engine and its tables, on SQLite (embedded) or PostgreSQL."""

import os
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    create_engine,
    event,
)
from sqlalchemy.pool import QueuePool

# A database out of reach must cost seconds, not the threads of everybody who waits for it.
POOL_TIMEOUT_S = 2
_PATIENCE = {
    "connect_timeout": 2,
    "tcp_user_timeout": 5000,
    "options": "-c statement_timeout=5000",
}

_metadata = MetaData()

tokens = Table(
    "tokens",
    _metadata,
    Column("digest", String(64), primary_key=True),  # SHA-256, hex; the token itself is nowhere
    Column("name", String(80), nullable=False, unique=True),
    Column("scopes", String(200), nullable=False),
    Column("daily_limit", Integer, nullable=False),  # upstream calls a day, 0 = no limit
    Column("created_at", Float, nullable=False),  # epoch seconds
    Column("expires_at", Float),
    Column("revoked_at", Float),
)

ledger = Table(
    "ledger",
    _metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("sent_at", Float, nullable=False),  # epoch seconds
    Column("day", String(10), nullable=False),  # of America/Sao_Paulo, ISO 8601
    Column("operation", String(10), nullable=False),
    Column("subject", String(64), nullable=False),  # HMAC of the plate
    Column("origin", String(20), nullable=False),
    Column("caller", String(80), nullable=False),
    Column("price", String(20), nullable=False),  # R$, decimal text: exact in every database
    Column("outcome", String(20), nullable=False),  # "maybe" until the call ends
    Column("status", Integer),
    Index("ledger_by_day", "day"),
    Index("ledger_by_subject", "subject"),
)

spending = Table(
    "spending",
    _metadata,
    Column("day", String(10), primary_key=True),
    Column("payer", String(90), primary_key=True),  # "day" for everybody, "token:NAME" for one
    Column("calls", Integer, nullable=False),
)

hits = Table(
    "hits",
    _metadata,
    Column("day", String(10), primary_key=True),
    Column("operation", String(10), primary_key=True),
    Column("price", String(20), primary_key=True),  # R$ a call on that day, decimal text
    Column("hits", Integer, nullable=False),
    Column("collapsed", Integer, nullable=False),
)

history = Table(
    "history",
    _metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("visitor", String(64), nullable=False),  # digest of who asked
    Column("subject", String(64), nullable=False),  # HMAC of the plate
    Column("asked_at", Float, nullable=False),
    Column("sealed", LargeBinary, nullable=False),  # the plate, encrypted
    Index("history_by_visitor", "visitor", "subject", unique=True),
    Index("history_by_subject", "subject"),
)


def open_engine(url: str | None, data_dir: Path) -> Engine:
    """An engine with every table in place; without a URL, SQLite in ``data_dir``."""
    if url is None:
        data_dir.mkdir(parents=True, exist_ok=True)
        path = data_dir / "portal.sqlite"
        # Before SQLite opens it: the log beside it takes the mode of the file.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        url = f"sqlite:///{path}"
    if url.startswith("postgresql://"):
        url = url.replace("postgresql://", "postgresql+psycopg://", 1)
    if url.startswith("sqlite"):
        engine = create_engine(url, poolclass=QueuePool, pool_size=16, max_overflow=64)
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_immediate)
    else:
        engine = create_engine(
            url,
            pool_size=8,
            max_overflow=24,
            pool_timeout=POOL_TIMEOUT_S,
            pool_pre_ping=True,
            connect_args=_PATIENCE,
        )
    _metadata.create_all(engine)
    return engine


def _set_up_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # transactions are begun below, not guessed by the driver
    for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "secure_delete = ON"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("PRAGMA busy_timeout = 10000")


def _begin_immediate(connection: Connection) -> None:
    """Take the write lock at once: a deferred transaction fails when it turns into a write."""
    if not connection.get_execution_options().get("reads_only"):
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def reading(engine: Engine) -> Connection:
    """A connection for queries alone: on SQLite it neither waits for a writer nor holds one up."""
    return engine.connect().execution_options(reads_only=True)
