"""Records the fingerprints of the secret keys with which the database's rows were written.

The signing key is the secret key for new data. Old keys may be accepted for reading old data. In
lists, fingerprints are shortened to 16 digits, because a value in the table ``meta`` has at most
200 characters. All functions raise SQLAlchemyError if the database fails.
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
    """Return the recorded fingerprint of the signing key, or None."""
    with reading(engine) as db:
        return _value(db, _NAME)


def former_fingerprints(engine: Engine) -> list[str]:
    """Return the fingerprints of former keys that may have signed stored answers.

    Former keys are secret keys that are no longer accepted.
    """
    with reading(engine) as db:
        return (_value(db, _FORMER_NAMES) or "").split()


def uncovered_fingerprints(engine: Engine, fingerprints: Iterable[str]) -> list[str]:
    """Return the recorded fingerprints that are not in ``fingerprints``."""
    with reading(engine) as db:
        return sorted(_in_use(db) - _shortened(fingerprints))


def adopt_key(engine: Engine, fingerprint: str, *accepted: str) -> tuple[bool, list[str]]:
    """Record the signing key, and the old keys that are still ``accepted`` for reading.

    Returns whether the signing key has changed, and the fingerprints of former keys (no longer
    accepted) that may have signed stored answers.

    If any recorded key is no longer accepted, the HMACs of all plates are removed from the ledger,
    because a purge could not find HMACs that were computed with this key. If none of the recorded
    keys is accepted, all history entries, batches and issued dossiers are deleted, because they
    cannot be decrypted. If only some of the recorded keys are accepted, the caller must delete the
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
            # Keep the list of former keys until the store has deleted the answers signed with them,
            # because the store may be unreachable now.
            formers = [each[:_DIGITS] for each in formers if each[:_DIGITS] not in retired]
            formers = [each for each in (*formers, *sorted(retired)) if each not in present]
            _record(db, _FORMER_NAMES, " ".join(formers))
        if in_use != present:
            _record(db, _ACCEPTED_NAME, " ".join(sorted(present)))
        if recorded != fingerprint:
            _record(db, _NAME, fingerprint)
        return recorded not in (None, fingerprint), formers


def settle_former_keys(engine: Engine) -> None:
    """Delete the list of former keys. First delete the answers signed with these keys."""
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
