"""Records the fingerprint of the secret key that a database's rows were written under."""

from sqlalchemy import Connection, Engine, delete, insert, select, update

from portal.storage.database import (
    dossiers,
    history,
    ledger,
    lock_set_up,
    meta,
    reading,
    writing,
)

_NAME = "key_fingerprint"
_FORMER_NAMES = "former_key_fingerprints"
_FORMERS = select(meta.c.value).where(meta.c.name == _FORMER_NAMES)
_RECORDED = select(meta.c.value).where(meta.c.name == _NAME)


def recorded_fingerprint(engine: Engine) -> str | None:
    """Return the recorded fingerprint, None if there is none. Raises SQLAlchemyError."""
    with reading(engine) as db:
        return db.execute(_RECORDED).scalar()


def former_fingerprints(engine: Engine) -> list[str]:
    """Return the fingerprints of former keys whose answers the store may still hold.

    Raises SQLAlchemyError.
    """
    with reading(engine) as db:
        return str(db.execute(_FORMERS).scalar() or "").split()


def adopt_key(engine: Engine, fingerprint: str) -> tuple[bool, list[str]]:
    """Record the key in use.

    Returns whether it replaced another, and the fingerprints of former keys whose answers the
    store may still hold.

    If the key changed, deletes the data that only the former key can reach: history entries and
    issued dossiers, which are encrypted under it, and the ledger's HMACs of plates, which a purge
    could not find. Ledger rows stay. Raises SQLAlchemyError.
    """
    with writing(engine) as db:
        lock_set_up(db)
        former = db.execute(_RECORDED).scalar()
        formers = str(db.execute(_FORMERS).scalar() or "").split()
        if former == fingerprint:
            return False, formers
        if former is None:
            db.execute(insert(meta).values(name=_NAME, value=fingerprint))
            return False, formers
        _remove_keyed(db)
        db.execute(update(meta).where(meta.c.name == _NAME).values(value=fingerprint))
        # Keep the former keys until the store has deleted their answers; it may be unreachable now.
        formers = [each for each in formers if each not in (former, fingerprint)] + [str(former)]
        db.execute(delete(meta).where(meta.c.name == _FORMER_NAMES))
        db.execute(insert(meta).values(name=_FORMER_NAMES, value=" ".join(formers)))
        return True, formers


def settle_former_keys(engine: Engine) -> None:
    """Delete the list of former keys, once the store holds none of their answers.

    Raises SQLAlchemyError.
    """
    with writing(engine) as db:
        db.execute(delete(meta).where(meta.c.name == _FORMER_NAMES))


def _remove_keyed(db: Connection) -> None:
    db.execute(delete(history))
    db.execute(delete(dossiers))
    db.execute(update(ledger).where(ledger.c.subject != "").values(subject=""))
