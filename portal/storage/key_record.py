"""Records the fingerprint of the secret key that a database's rows were written under."""

from sqlalchemy import Connection, Engine, delete, insert, select, update

from portal.storage.database import history, ledger, lock_set_up, meta, reading

_NAME = "key_fingerprint"
_RECORDED = select(meta.c.value).where(meta.c.name == _NAME)


def recorded_fingerprint(engine: Engine) -> str | None:
    """Return the recorded fingerprint, None where there is none. Raises SQLAlchemyError."""
    with reading(engine) as db:
        return db.execute(_RECORDED).scalar()


def adopt_key(engine: Engine, fingerprint: str) -> str | None:
    """Record the key in use. Returns the fingerprint of a different former key, or None.

    Where the key changed, deletes the data that only the former key can reach: history entries,
    which are encrypted under it, and the ledger's HMACs of plates, which a purge could not find.
    Ledger rows stay. Raises SQLAlchemyError.
    """
    with engine.begin() as db:
        lock_set_up(db)
        former = db.execute(_RECORDED).scalar()
        if former == fingerprint:
            return None
        if former is None:
            db.execute(insert(meta).values(name=_NAME, value=fingerprint))
            return None
        _remove_keyed(db)
        db.execute(update(meta).where(meta.c.name == _NAME).values(value=fingerprint))
        return str(former)


def _remove_keyed(db: Connection) -> None:
    db.execute(delete(history))
    db.execute(update(ledger).where(ledger.c.subject != "").values(subject=""))
