"""The SQL engine and its tables, on SQLite (embedded) or PostgreSQL."""

import logging
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import (
    URL,
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
    func,
    make_url,
    select,
)
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import QueuePool

log = logging.getLogger(__name__)

_SET_UP_LOCK = 0x646F7373  # "doss": any number, the same in every portal

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


def open_engine(url: str | None, data_dir: Path, required: bool = True) -> Engine:
    """An engine with every table in place; without a URL, SQLite in ``data_dir``.

    Raises OSError or SQLAlchemyError where the database cannot be opened. Not ``required``: it
    was set up before, and whoever starts while it is away must not die of that; every use of the
    engine then fails until it is back.
    """
    file: Path | None = None
    if url is not None and url.startswith("postgresql"):
        from portal.storage.postgresql import postgresql  # late: most portals have none

        engine = postgresql(url)
    else:
        file = Path(make_url(url).database or "") if url else data_dir / "portal.sqlite"
        engine = _sqlite(file)
    try:
        if file is not None:
            _make(file)
        with engine.begin() as db:
            if engine.dialect.name == "postgresql":  # portals may all start at once
                db.execute(select(func.pg_advisory_xact_lock(_SET_UP_LOCK)))
            _metadata.create_all(db)
    except (OSError, SQLAlchemyError) as error:
        if required:
            engine.dispose()
            raise
        log.warning("the database is away: %s", type(error).__name__)
    return engine


def _make(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    # Before SQLite opens it: the log beside it takes the mode of the file.
    os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))


def _sqlite(path: Path) -> Engine:
    # By URI, since only that can say: never make the file. It would be everybody's, and empty.
    address = URL.create(
        "sqlite", database=f"file:{quote(str(path))}", query={"mode": "rw", "uri": "true"}
    )
    engine = create_engine(address, poolclass=QueuePool, pool_size=16, max_overflow=64)
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_immediate)
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
    """A connection for queries alone: it neither waits for a writer nor holds one up, and leaves
    no transaction open while its rows are read."""
    connection = engine.connect().execution_options(reads_only=True)
    if engine.dialect.name == "postgresql":
        return connection.execution_options(isolation_level="AUTOCOMMIT")
    return connection
