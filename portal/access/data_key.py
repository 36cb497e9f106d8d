"""The data key, with which the portal signs, encrypts and hashes everything that it stores.

The database stores the data key, encrypted with the secret key. A new secret key therefore changes
this one value and nothing else. All functions raise SQLAlchemyError if the database fails.
"""

import secrets
from collections.abc import Sequence

from sqlalchemy import Connection, Engine, delete, func, insert, select, update

from portal.access.sealing import cipher, decrypt
from portal.storage.database import Lock, hold, reading, writing
from portal.storage.tables import batch_items, batches, dossiers, history, ledger, meta

_NAME = "data_key"
_PURPOSE = b"data key"
_BYTES = 32
_ENCRYPTED = {"entries of histories": history, "batches": batches, "issued dossiers": dossiers}
_OTHER = (
    "the data was written under another secret key: configure that key again, name it in "
    "PORTAL_SECRET_KEYS_OLD, or delete what it alone can read with flask --app app key forget"
)


class OtherSecretKey(Exception):
    """No configured secret key decrypts the data key. The message is one line for the operator."""


def stored_data_key(engine: Engine, secret_keys: Sequence[bytes]) -> bytes | None:
    """Return the data key, or None if there is none yet.

    Raises OtherSecretKey if none of ``secret_keys`` decrypts it.
    """
    with reading(engine) as db:
        return _decrypted(_sealed(db), secret_keys)


def keep_data_key(engine: Engine, secret_key: bytes, former: Sequence[bytes]) -> bytes:
    """Return the data key, and store it encrypted with ``secret_key``. Create a missing data key.

    ``former`` are secret keys that may have encrypted the stored data key. Nothing is written if
    nothing changes, because a start must succeed on a full disk. Raises OtherSecretKey if no secret
    key decrypts the data key.
    """
    with reading(engine) as db:
        sealed = _sealed(db)
    if sealed and (key := decrypt(secret_key, _PURPOSE, sealed.encode())) is not None:
        return key
    with writing(engine) as db:
        hold(db, Lock.SET_UP)  # several portals may start at once
        key = _decrypted(_sealed(db), (secret_key, *former)) or secrets.token_bytes(_BYTES)
        sealed = cipher(secret_key, _PURPOSE).encrypt(key).decode()
        db.execute(delete(meta).where(meta.c.name == _NAME))
        db.execute(insert(meta).values(name=_NAME, value=sealed))
    return key


def count_encrypted_rows(engine: Engine) -> dict[str, int]:
    """Return how many rows of each kind only the data key can read."""
    with reading(engine) as db:
        return {
            kind: db.execute(select(func.count()).select_from(table)).scalar_one()
            for kind, table in _ENCRYPTED.items()
        }


def forget_data_key(engine: Engine) -> None:
    """Delete the data key and all rows that only the data key can read.

    The vehicles' HMACs are removed from the ledger, because a purge could not find them any more.
    """
    with writing(engine) as db:
        hold(db, Lock.SET_UP)
        hold(db, Lock.DOSSIERS)
        hold(db, Lock.BATCHES)
        for table in (batch_items, *_ENCRYPTED.values()):
            db.execute(delete(table))
        db.execute(update(ledger).where(ledger.c.subject != "").values(subject=""))
        db.execute(delete(meta).where(meta.c.name == _NAME))


def _sealed(db: Connection) -> str | None:
    return db.execute(select(meta.c.value).where(meta.c.name == _NAME)).scalar()


def _decrypted(sealed: str | None, secret_keys: Sequence[bytes]) -> bytes | None:
    if sealed is None:
        return None
    for secret_key in secret_keys:
        if (key := decrypt(secret_key, _PURPOSE, sealed.encode())) is not None:
            return key
    raise OtherSecretKey(_OTHER)
