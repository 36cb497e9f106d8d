"""The data key in the database, and databases of versions without data keys."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import insert, select

from portal.access.data_key import (
    OtherSecretKey,
    forget_data_key,
    keep_data_key,
    stored_data_key,
)
from portal.storage.database import Database
from portal.storage.secret import fingerprint
from portal.storage.tables import meta

OLD, NEW, OTHER = b"the key of the past year", b"the key of the coming year", b"a third key"
LONG = b"a passphrase of several hundred characters " * 9


def record(database: Database, *secret_keys: bytes) -> None:
    """Record secret keys as a version without data keys does."""
    prints = [fingerprint(key) for key in secret_keys]
    values = {
        "key_fingerprint": prints[-1],
        "accepted_key_fingerprints": " ".join(each[:16] for each in prints),
    }
    with database.writing() as db:
        db.execute(insert(meta), [{"name": name, "value": values[name]} for name in values])


def names(database: Database) -> set[str]:
    with database.reading() as db:
        return set(db.execute(select(meta.c.name)).scalars())


def test_new_data_key_is_random_and_needs_the_secret_key(database: Database) -> None:
    assert stored_data_key(database, [OLD]) is None
    key = keep_data_key(database, OLD, [])
    assert len(key) == 32
    assert stored_data_key(database, [OTHER, OLD]) == keep_data_key(database, OLD, [NEW]) == key
    with pytest.raises(OtherSecretKey):
        stored_data_key(database, [OTHER, NEW])
    with pytest.raises(OtherSecretKey):
        keep_data_key(database, OTHER, [NEW])
    with database.reading() as db:
        (value,) = db.execute(select(meta.c.value)).scalars()
    assert key.hex() not in value
    forget_data_key(database)
    assert keep_data_key(database, OTHER, []) != key


def test_portals_that_start_at_once_get_one_data_key(database: Database) -> None:
    begin = threading.Barrier(4)

    def start(_: int) -> bytes:
        begin.wait()
        return keep_data_key(database, OLD, [])

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(start, range(4)))) == 1


def test_new_secret_key_encrypts_the_same_data_key(database: Database) -> None:
    key = keep_data_key(database, OLD, [])
    assert keep_data_key(database, NEW, [OTHER, OLD]) == key
    with pytest.raises(OtherSecretKey):
        stored_data_key(database, [OLD])
    # A portal of the first step of the rotation is restarted.
    assert keep_data_key(database, OLD, [NEW]) == key
    assert keep_data_key(database, NEW, [OLD]) == keep_data_key(database, NEW, []) == key


@pytest.mark.parametrize("secret_key", [OLD, LONG])
def test_secret_key_of_a_former_version_becomes_the_data_key(
    database: Database, secret_key: bytes
) -> None:
    record(database, secret_key)
    with pytest.raises(OtherSecretKey, match="another secret key"):
        stored_data_key(database, [NEW])
    with pytest.raises(OtherSecretKey, match="another secret key"):
        keep_data_key(database, NEW, [OTHER])
    assert names(database) == {"key_fingerprint", "accepted_key_fingerprints"}
    assert stored_data_key(database, [NEW, secret_key]) == secret_key
    assert keep_data_key(database, NEW, [secret_key]) == secret_key
    assert names(database) == {"data_key"}
    assert stored_data_key(database, [NEW]) == secret_key


def test_former_version_must_end_its_rotation(database: Database) -> None:
    record(database, OLD, NEW)
    for read in (stored_data_key, lambda database, keys: keep_data_key(database, keys[0], keys)):
        with pytest.raises(OtherSecretKey, match=r"end the rotation .* \(.* key forget\)"):
            read(database, [NEW, OLD])
    assert names(database) == {"key_fingerprint", "accepted_key_fingerprints"}


def test_rotation_is_called_with_the_data_key_when_it_is_encrypted_anew(database: Database) -> None:
    calls: list[bytes] = []

    def rotated(_: object, key: bytes) -> None:
        calls.append(key)

    key = keep_data_key(database, OLD, [], rotated)  # made, not rotated
    keep_data_key(database, OLD, [NEW], rotated)
    assert calls == []
    assert keep_data_key(database, NEW, [OLD], rotated) == key
    assert calls == [key]
