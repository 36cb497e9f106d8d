"""The data key in the database."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine, select

from portal.access.data_key import (
    OtherSecretKey,
    forget_data_key,
    keep_data_key,
    stored_data_key,
)
from portal.storage.database import reading
from portal.storage.tables import meta

OLD, NEW, OTHER = b"the key of the past year", b"the key of the coming year", b"a third key"


def test_new_data_key_is_random_and_needs_the_secret_key(engine: Engine) -> None:
    assert stored_data_key(engine, [OLD]) is None
    key = keep_data_key(engine, OLD, [])
    assert len(key) == 32
    assert stored_data_key(engine, [OTHER, OLD]) == keep_data_key(engine, OLD, [NEW]) == key
    with pytest.raises(OtherSecretKey):
        stored_data_key(engine, [OTHER, NEW])
    with pytest.raises(OtherSecretKey):
        keep_data_key(engine, OTHER, [NEW])
    with reading(engine) as db:
        (value,) = db.execute(select(meta.c.value)).scalars()
    assert key.hex() not in value
    forget_data_key(engine)
    assert keep_data_key(engine, OTHER, []) != key


def test_portals_that_start_at_once_get_one_data_key(engine: Engine) -> None:
    begin = threading.Barrier(4)

    def start(_: int) -> bytes:
        begin.wait()
        return keep_data_key(engine, OLD, [])

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(start, range(4)))) == 1


def test_new_secret_key_encrypts_the_same_data_key(engine: Engine) -> None:
    key = keep_data_key(engine, OLD, [])
    assert keep_data_key(engine, NEW, [OTHER, OLD]) == key
    with pytest.raises(OtherSecretKey):
        stored_data_key(engine, [OLD])
    # A portal of the first step of the rotation is restarted.
    assert keep_data_key(engine, OLD, [NEW]) == key
    assert keep_data_key(engine, NEW, [OLD]) == keep_data_key(engine, NEW, []) == key
