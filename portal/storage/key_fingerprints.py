"""Records the fingerprints of the secret keys with which the database's rows were written.

The signing key is the secret key for new data. The settings may contain old keys, with which the
portal only reads old data. A list of fingerprints is stored as one value of the table ``meta``,
which has at most 200 characters. Fingerprints in a list are therefore shortened to 16 digits. All
functions raise SQLAlchemyError if the database fails.
"""

from collections.abc import Iterable

from sqlalchemy import Connection, Engine, delete, insert, select, update

from portal.storage.database import (
    lock_set_up,
    reading,
    writing,
)
from portal.storage.tables import (
    batch_items,
    batches,
    dossiers,
    history,
    ledger,
    meta,
)

_NAME = "key_fingerprint"
_FORMER_NAMES = "former_key_fingerprints"
_ACCEPTED_NAME = "accepted_key_fingerprints"
_DIGITS = 16


def recorded_fingerprint(engine: Engine) -> str | None:
    """Return the recorded fingerprint of the signing key, or None if none is recorded."""
    with reading(engine) as db:
        return _value(db, _NAME)


def former_fingerprints(engine: Engine) -> list[str]:
    """Return the fingerprints of former keys that may have signed stored answers.

    Former keys are secret keys that are no longer accepted.
    """
    with reading(engine) as db:
        return (_value(db, _FORMER_NAMES) or "").split()


def uncovered_fingerprints(engine: Engine, fingerprints: Iterable[str]) -> list[str]:
    """Return the recorded fingerprints of accepted keys, except ``fingerprints``.

    The returned fingerprints are shortened. The accepted keys are the signing key and the old
    keys with which the portal still reads data.
    """
    with reading(engine) as db:
        return sorted(_in_use(db) - _shortened(fingerprints))


def adopt_key(engine: Engine, fingerprint: str, *accepted: str) -> tuple[bool, list[str]]:
    """Record the signing key, and the old keys that are still ``accepted`` for reading.

    Returns whether the signing key has changed, and the fingerprints of former keys (no longer
    accepted) that may have signed stored answers.

    If a recorded key is no longer accepted, the function removes all HMACs of plates from the
    ledger (the table of upstream calls). A later deletion of a vehicle's data could not find the
    HMACs that were made with that key. If no recorded key is accepted, the function
    deletes all history entries, batches and issued dossiers (vehicle reports), because their
    content cannot be decrypted. If only some recorded keys are accepted, the caller must delete the
    entries, batches and dossiers that no accepted key decrypts.
    """
    present = _shortened((fingerprint, *accepted))
    with writing(engine) as db:
        lock_set_up(db)
        recorded = _value(db, _NAME)
        formers = (_value(db, _FORMER_NAMES) or "").split()
        in_use = _in_use(db)
        retired = in_use - present
        if retired:
            if not in_use & present:
                for table in (history, dossiers, batch_items, batches):
                    db.execute(delete(table))
            db.execute(update(ledger).where(ledger.c.subject != "").values(subject=""))
            # Keep the list of former keys until the cache has deleted the answers that these keys
            # signed, because the cache may be unreachable now.
            formers = [each[:_DIGITS] for each in formers if each[:_DIGITS] not in retired]
            formers = [each for each in (*formers, *sorted(retired)) if each not in present]
            _record(db, _FORMER_NAMES, " ".join(formers))
        if in_use != present:
            _record(db, _ACCEPTED_NAME, " ".join(sorted(present)))
        if recorded != fingerprint:
            _record(db, _NAME, fingerprint)
        return recorded not in (None, fingerprint), formers


def settle_former_keys(engine: Engine) -> None:
    """Delete the list of former keys.

    The answers that these keys signed must already be deleted from the cache.
    """
    with writing(engine) as db:
        db.execute(delete(meta).where(meta.c.name == _FORMER_NAMES))


def _in_use(db: Connection) -> set[str]:
    return _shortened((_value(db, _ACCEPTED_NAME) or _value(db, _NAME) or "").split())


def _shortened(fingerprints: Iterable[str]) -> set[str]:
    return {each[:_DIGITS] for each in fingerprints}


def _value(db: Connection, name: str) -> str | None:
    return db.execute(select(meta.c.value).where(meta.c.name == name)).scalar()


def _record(db: Connection, name: str, value: str) -> None:
    db.execute(delete(meta).where(meta.c.name == name))
    db.execute(insert(meta).values(name=name, value=value))
