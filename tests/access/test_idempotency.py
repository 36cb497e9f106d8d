"""Idempotency keys: what the first request made, on both databases."""

import threading

import pytest
from sqlalchemy import select

from portal.access.idempotency import (
    KEPT_S,
    IdempotencyKeys,
    KeyReused,
    is_idempotency_key,
)
from portal.access.sealing import SubjectKeys
from portal.storage.database import Database
from portal.storage.tables import idempotency_keys
from tests.fakes import Clock


def keys_of(database: Database, clock: Clock, namespace: str = "upstream") -> IdempotencyKeys:
    subject_keys = SubjectKeys(secret=b"s" * 32, tag=str.lower, namespace=namespace)
    return IdempotencyKeys(database, subject_keys, clock)


def rows(database: Database) -> list[tuple[object, ...]]:
    with database.reading() as db:
        return [tuple(row) for row in db.execute(select(idempotency_keys))]


@pytest.mark.parametrize("text", ["a", "~" * 128, "3f0c6d1e-6c2b-4e6f", '"quoted"'])
def test_visible_ascii_is_a_key(text: str) -> None:
    assert is_idempotency_key(text)


@pytest.mark.parametrize("text", ["", "a" * 129, "a b", "a\n", "é", "\x7f"])
def test_other_texts_are_no_keys(text: str) -> None:
    assert not is_idempotency_key(text)


def test_first_request_decides_what_a_key_makes(database: Database, clock: Clock) -> None:
    keys = keys_of(database, clock)
    assert keys.claim("batch", "ana", "k", b"one", "first") == "first"
    assert keys.claim("batch", "ana", "k", b"one", "second") == "first"
    with pytest.raises(KeyReused):
        keys.claim("batch", "ana", "k", b"two", "third")
    assert keys.claim("batch", "bia", "k", b"two", "fourth") == "fourth"
    assert keys.claim("dossier", "ana", "k", b"two", "fifth") == "fifth"
    other = keys_of(database, clock, "another upstream")
    assert other.claim("batch", "ana", "k", b"two", "sixth") == "sixth"


def test_key_is_free_again_after_a_day(database: Database, clock: Clock) -> None:
    keys = keys_of(database, clock)
    keys.claim("batch", "ana", "k", b"one", "first")
    keys.claim("batch", "bia", "k", b"one", "first")
    clock.advance(KEPT_S - 1)
    keys.drop_expired()
    assert len(rows(database)) == 2
    clock.advance(1)
    assert keys.claim("batch", "ana", "k", b"two", "second") == "second"
    keys.drop_expired()
    assert len(rows(database)) == 1


def test_row_holds_neither_key_nor_content_nor_owner(database: Database, clock: Clock) -> None:
    keys_of(database, clock).claim("batch", "ana", "ABC1D23", b"ABC1D23", "made")
    assert "ABC1D23" not in str(rows(database)) and "ana" not in str(rows(database))


def test_concurrent_claims_agree(database: Database, clock: Clock) -> None:
    keys, found = keys_of(database, clock), []
    ready = threading.Barrier(4)

    def claim(made: str) -> None:
        ready.wait()
        found.append(keys.claim("batch", "ana", "k", b"one", made))

    threads = [threading.Thread(target=claim, args=(f"made {number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and len(set(found)) == 1
