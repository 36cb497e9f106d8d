"""The data key, with which the portal signs, encrypts and hashes everything that it stores.

The database stores the data key, encrypted with the secret key. A new secret key therefore changes
this one value and nothing else. All functions raise SQLAlchemyError if the database fails.
"""

import secrets
from collections.abc import Callable, Mapping, Sequence

from sqlalchemy import Connection, delete, func, insert, select, update

from portal.access.sealing import cipher, decrypt
from portal.storage.database import Database, Lock, hold
from portal.storage.secret import fingerprint
from portal.storage.tables import (
    batch_items,
    batches,
    declarations,
    dossiers,
    ends,
    history,
    ledger,
    meta,
    people,
    trail,
)
from portal.system.start_refused import StartRefused

_NAME = "data_key"
_PURPOSE = b"data key"
_BYTES = 32
_ENCRYPTED = {
    "entries of histories": history,
    "declared lines": declarations,
    "batches": batches,
    "issued dossiers": dossiers,
    "rows of the trail": trail,
    "people who sign in": people,
}
# Versions without data keys used the secret key itself. They recorded fingerprints of the secret
# keys of all data under these names, some of them shortened.
_FINGERPRINTS = ("key_fingerprint", "accepted_key_fingerprints")
_DIGITS = 16
_OTHER = (
    "the data was written under another secret key: configure that key again, name it in "
    "PORTAL_SECRET_KEYS_OLD, or delete what it alone can read with flask --app app key forget"
)


class OtherSecretKey(StartRefused):
    """No configured secret key decrypts the data key."""


def stored_data_key(database: Database, secret_keys: Sequence[bytes]) -> bytes | None:
    """Return the data key, or None if there is none yet.

    Raises OtherSecretKey if none of ``secret_keys`` decrypts it.
    """
    with database.reading() as db:
        return _data_key(_recorded(db), secret_keys)


def keep_data_key(
    database: Database,
    secret_key: bytes,
    former: Sequence[bytes],
    rotated: Callable[[Connection, bytes], object] = lambda *_: None,
) -> bytes:
    """Return the data key, and store it encrypted with ``secret_key``. Create a missing data key.

    ``former`` are secret keys that may have encrypted the stored data key. ``rotated`` is called in
    the transaction that encrypts it anew, with the data key. Nothing is written if nothing changes,
    because a start must succeed on a full disk. Raises OtherSecretKey if no secret key decrypts the
    data key.
    """
    with database.reading() as db:
        sealed = _recorded(db).get(_NAME)
    if sealed and (key := decrypt(secret_key, _PURPOSE, sealed.encode())) is not None:
        return key
    with database.writing() as db:
        hold(db, Lock.SET_UP)  # several portals may start at once
        recorded = _data_key(_recorded(db), (secret_key, *former))
        key = recorded or secrets.token_bytes(_BYTES)
        sealed = cipher(secret_key, _PURPOSE).encrypt(key).decode()
        _delete_recorded(db)
        db.execute(insert(meta).values(name=_NAME, value=sealed))
        if recorded:
            rotated(db, recorded)
    return key


def count_encrypted_rows(database: Database) -> dict[str, int]:
    """Return how many rows of each kind only the data key can read."""
    with database.reading() as db:
        return {
            kind: db.execute(select(func.count()).select_from(table)).scalar_one()
            for kind, table in _ENCRYPTED.items()
        }


def forget_data_key(database: Database) -> None:
    """Delete the data key and all rows that only the data key can read.

    The vehicles' HMACs are removed from the ledger, because a purge could not find them any more.
    """
    with database.writing() as db:
        hold(db, Lock.SET_UP)
        hold(db, Lock.DOSSIERS)
        hold(db, Lock.BATCHES)
        hold(db, Lock.TRAIL)
        for table in (batch_items, *_ENCRYPTED.values()):
            db.execute(delete(table))
        db.execute(update(ledger).where(ledger.c.subject != "").values(subject=""))
        # The rows stay, so that their copies in journals are no ends that the database lacks.
        is_sealed = ends.c.kind == "purge"
        db.execute(update(ends).where(is_sealed).values(content='{"key":{},"values":{}}'))
        # The next data key begins a new chain, because it cannot verify the former one.
        db.execute(delete(meta).where(meta.c.name.in_(("trail_head", "trail_anchor"))))
        _delete_recorded(db)


def _recorded(db: Connection) -> Mapping[str, str]:
    names = (_NAME, *_FINGERPRINTS)
    rows = db.execute(select(meta.c.name, meta.c.value).where(meta.c.name.in_(names)))
    return {row.name: row.value for row in rows}


def _delete_recorded(db: Connection) -> None:
    db.execute(delete(meta).where(meta.c.name.in_((_NAME, *_FINGERPRINTS))))


def _data_key(recorded: Mapping[str, str], secret_keys: Sequence[bytes]) -> bytes | None:
    if _NAME not in recorded:
        return _former_data_key(recorded, secret_keys)
    for secret_key in secret_keys:
        key = decrypt(secret_key, _PURPOSE, recorded[_NAME].encode())
        if key is not None:
            return key
    raise OtherSecretKey(_OTHER)


def _former_data_key(recorded: Mapping[str, str], secret_keys: Sequence[bytes]) -> bytes | None:
    """Return the secret key with which a version without data keys has written the data."""
    used = {tag[:_DIGITS] for name in recorded for tag in recorded[name].split()}
    if len(used) > 1:
        raise OtherSecretKey(
            "the data is of several secret keys: end the rotation with the version of the portal "
            "that began it (flask --app app key forget)"
        )
    for secret_key in secret_keys:
        if fingerprint(secret_key)[:_DIGITS] in used:
            return secret_key
    if used:
        raise OtherSecretKey(_OTHER)
    return None
