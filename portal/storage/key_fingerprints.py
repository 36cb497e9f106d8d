"""Records the fingerprints of the secret keys with which the database's rows were written.

Old keys that the settings name for reading alone are not recorded. A list of fingerprints is stored
as one value of the table ``meta``, which has at most 200 characters. Fingerprints in a list are
therefore shortened to 16 digits. All functions raise SQLAlchemyError if the database fails.
"""

from collections.abc import Collection, Iterable

from sqlalchemy import Connection, Engine, bindparam, delete, insert, select, update

from portal.storage.database import lock_batches, lock_dossiers, lock_set_up, reading, writing
from portal.storage.tables import batch_items, batches, dossiers, history, ledger, meta

_NAME = "key_fingerprint"  # of the key of the last start
_ALL_NAME = "accepted_key_fingerprints"
_DIGITS = 16


def recorded_keys(engine: Engine) -> list[str]:
    """Return the fingerprints of the keys with which rows were written, some of them shortened."""
    with reading(engine) as db:
        return _recorded(db)


def unknown_keys(recorded: Iterable[str], known: Iterable[str]) -> set[str]:
    """Return the recorded fingerprints that are not among the known ones, shortened."""
    return _shortened(recorded) - _shortened(known)


def record_key(engine: Engine, fingerprint: str) -> None:
    """Record the secret key with which this start will write.

    Nothing is written if the key is recorded, because a start must succeed on a full disk.
    """
    with reading(engine) as db:
        if db.execute(select(meta.c.value).where(meta.c.name == _NAME)).scalar() == fingerprint:
            return
    with writing(engine) as db:
        lock_set_up(db)
        _record(db, fingerprint, _shortened([*_recorded(db), fingerprint]))


def forget_other_keys(
    engine: Engine,
    fingerprint: str | None,
    *,
    history_ids: Collection[int],
    dossier_numbers: Collection[str],
    batch_ids: Collection[str],
) -> None:
    """Delete the given rows, and the record of all keys but one.

    The rows are those that the kept key cannot decrypt. All vehicles' HMACs in the ledger (the
    table of upstream calls) are removed, because a purge could not find those of a forgotten key.
    If ``fingerprint`` is None, no key is kept.
    """
    with writing(engine) as db:
        lock_set_up(db)
        lock_dossiers(db)
        lock_batches(db)
        for column, values in (
            (history.c.id, history_ids),
            (dossiers.c.number, dossier_numbers),
            (batch_items.c.batch, batch_ids),
            (batches.c.id, batch_ids),
        ):
            if values:
                rows = [{"unreadable": value} for value in values]
                db.execute(delete(column.table).where(column == bindparam("unreadable")), rows)
        db.execute(update(ledger).where(ledger.c.subject != "").values(subject=""))
        _record(db, fingerprint, _shortened([fingerprint] if fingerprint else []))


def _recorded(db: Connection) -> list[str]:
    rows = db.execute(select(meta.c.value).where(meta.c.name.in_((_NAME, _ALL_NAME))))
    return [each for value in rows.scalars() for each in value.split()]


def _record(db: Connection, fingerprint: str | None, every: Iterable[str]) -> None:
    db.execute(delete(meta).where(meta.c.name.in_((_NAME, _ALL_NAME))))
    if fingerprint is not None:
        values = {_NAME: fingerprint, _ALL_NAME: " ".join(sorted(every))}
        db.execute(insert(meta), [{"name": name, "value": values[name]} for name in values])


def _shortened(fingerprints: Iterable[str]) -> set[str]:
    return {each[:_DIGITS] for each in fingerprints}
