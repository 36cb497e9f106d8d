"""Purges: no earlier or in-flight answer of the vehicle remains."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from portal.gateway.envelope import Envelope
from portal.gateway.local_cache import LocalCache
from portal.gateway.lookup import Failure, Lookup, Spend
from portal.gateway.operations import REPORT
from portal.gateway.sqlite_cache import SQLiteCache, entry_id
from portal.storage.purge_log import PurgeLog, purge_bucket
from portal.upstream.protocol import Resource, Response
from portal.vehicle.plate import Plate
from tests import factories
from tests.fakes import Clock
from tests.fakes.databases import EmptyDatabase, kept_open
from tests.fakes.purges import log_buckets, log_purge
from tests.gateway.gateways import (
    CALLER,
    Bench,
    as_caller,
    bench,
    decode,
    failing,
    good,
    opened_cache,
    outcome,
)

REJECTED = Response(400, factories.message_body("Não."), "primary")
PLATES = ("ABC1D23", "DEF4G56")


@pytest.fixture
def made(tmp_path: Path, clock: Clock) -> Bench:
    return bench(tmp_path, clock)


def purged_in_mid_call(
    made: Bench, answer: Callable[[Resource], Response], purge: Callable[[], object]
) -> None:
    """Make the upstream call ``purge`` before it returns ``answer``."""

    def play(resource: Resource) -> Response:
        purge()
        return answer(resource)

    made.upstream.answer = play


def fail(_: Resource) -> Response:
    raise failing()


def keys_of(made: Bench) -> list[str]:
    with made.sqlite._connection() as db:
        return [key for (key,) in db.execute("SELECT key FROM entries")]


@pytest.mark.parametrize("answer", [good, lambda _: REJECTED, fail])
def test_in_flight_result_is_not_stored_after_purge(
    made: Bench, tmp_path: Path, clock: Clock, answer: Callable[[Resource], Response]
) -> None:
    other = bench(tmp_path, clock)
    purged_in_mid_call(made, answer, lambda: other.purge(PLATES[0]))
    outcome(made.decode)
    assert keys_of(made) == []
    assert made.memory.size_bytes == 0


def test_purge_while_an_answer_is_cached_locally_evicts_it(
    made: Bench, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, put = bench(tmp_path, clock), LocalCache.put
    purges: list[int] = []

    def purge_then_put(memory: LocalCache, *entry: Any) -> None:
        if memory is made.memory and not purges:
            purges.append(other.purge(PLATES[0]))
            made.expire_local_cache()
            made.store.tick()  # detects the purge before the answer is in the local cache
        put(memory, *entry)

    monkeypatch.setattr(LocalCache, "put", purge_then_put)
    made.decode(PLATES[0])
    assert purges == [1]
    assert made.memory.size_bytes == 0


def test_purge_affects_only_the_purged_plate(made: Bench, tmp_path: Path, clock: Clock) -> None:
    other = bench(tmp_path, clock)
    purged_in_mid_call(made, good, lambda: other.purge(PLATES[0]))
    assert not made.decode(PLATES[0]).stored
    assert made.decode(PLATES[1]).stored
    assert len(keys_of(made)) == 1


def test_purge_keeps_the_other_vehicles_of_its_bucket(
    made: Bench, tmp_path: Path, clock: Clock
) -> None:
    """The log names only the bucket, and the backend deletes only the vehicle."""
    other, bucket = bench(tmp_path, clock), purge_bucket(made.store.tag(PLATES[0]))
    plates = (f"XYZ{n // 1000}{'ABCDEFGHIJ'[n // 100 % 10]}{n % 100:02}" for n in range(10_000))
    letters = (plate.replace("XYZ", f"{x}YZ") for plate in plates for x in "ABCDEFGHIJKLMNOPQRSTU")
    neighbour = next(each for each in letters if purge_bucket(made.store.tag(each)) == bucket)
    for one in (made, other):
        one.decode(neighbour)
    other.purge(PLATES[0])
    for one in (made, other):
        one.store.tick()
        assert one.decode(neighbour).cache_status == "hit"


def test_in_flight_pass_through_answer_is_not_stored(tmp_path: Path, clock: Clock) -> None:
    made, other = (bench(tmp_path, clock, operator_credential=None) for _ in range(2))
    purged_in_mid_call(made, good, lambda: other.purge(PLATES[0]))
    served = made.gateway.fetch(decode(), as_caller("me", credential="mine"))
    assert not served.stored
    assert keys_of(made) == []


def test_replaced_answer_is_not_kept_after_purge(made: Bench, tmp_path: Path, clock: Clock) -> None:
    other = bench(tmp_path, clock)
    made.decode()
    clock.advance(10)
    newer = Response(200, factories.decode_body("ABC1D23", combustivel="Flex"), "primary")
    purged_in_mid_call(made, lambda _: newer, lambda: other.purge(PLATES[0]))
    made.decode(directive=Spend.AGAIN)
    assert keys_of(made) == []


def test_in_flight_report_does_not_become_newest(made: Bench, tmp_path: Path, clock: Clock) -> None:
    other = bench(tmp_path, clock)
    lookup = Lookup(REPORT, Plate.parse(PLATES[0]), body=b'{"plate":"ABC1D23","data":{}}')
    purged_in_mid_call(made, good, lambda: other.purge(PLATES[0]))
    assert not made.gateway.fetch(lookup, CALLER).stored
    made.gateway.keep_as_newest(lookup, CALLER)
    assert keys_of(made) == []
    assert made.gateway.newest_report(Plate.parse(PLATES[0]), CALLER) is None


def test_purge_between_report_read_and_copy_leaves_no_copy(
    made: Bench, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = bench(tmp_path, clock)
    lookup = Lookup(REPORT, Plate.parse(PLATES[0]), body=b'{"plate":"ABC1D23","data":{}}')
    made.gateway.fetch(lookup, CALLER)
    write = made.store.write

    def write_after_a_purge(envelope: Envelope) -> bool:
        other.purge(PLATES[0])
        return write(envelope)

    monkeypatch.setattr(made.store, "write", write_after_a_purge)
    made.gateway.keep_as_newest(lookup, CALLER)
    assert keys_of(made) == []


# A backend that fails, is lost or comes back empty


def test_failed_write_is_retried(
    made: Bench, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = bench(tmp_path, clock)
    with monkeypatch.context() as patch:
        patch.setattr(SQLiteCache, "replace", refuse)
        assert not made.decode().stored
    made.store.tick()
    assert other.decode().cache_status == "hit"


def test_failed_write_is_not_retried_after_purge(
    made: Bench, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = bench(tmp_path, clock)
    with monkeypatch.context() as patch:
        patch.setattr(SQLiteCache, "replace", refuse)
        for plate in PLATES:
            made.decode(plate)
    other.purge(PLATES[0])
    for _ in range(2):
        made.store.tick()
    assert other.decode(PLATES[1]).cache_status == "hit"
    assert len(keys_of(made)) == 1


def refuse(*_: object, **__: object) -> bool:
    raise OSError("disk full")


@pytest.fixture
def logged(
    tmp_path: Path, clock: Clock, empty_database: EmptyDatabase
) -> Callable[[], tuple[Bench, PurgeLog]]:
    """Return a function that builds a gateway whose store reads the purge log."""
    database = empty_database.open()

    def build() -> tuple[Bench, PurgeLog]:
        log = PurgeLog(database)
        return bench(tmp_path / "cache", clock, purge_log=log), log

    return build


def lose(made: Bench) -> None:
    """Delete the store's files, so that the store comes back empty."""
    for file in made.sqlite._path.parent.glob("cache.sqlite*"):
        file.unlink()


def test_unstored_answer_is_not_written_to_a_lost_store_after_a_purge(
    logged: Callable[[], tuple[Bench, PurgeLog]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lost store no longer knows the purge, so the process must."""
    made, log = logged()
    with monkeypatch.context() as patch:
        patch.setattr(SQLiteCache, "replace", refuse)
        made.decode(PLATES[0])
    log_purge(log.database, made.store.tag(PLATES[0]))
    lose(made)
    made.expire_local_cache()
    made.store._write_unstored()
    assert keys_of(made) == []


def test_write_back_to_lost_store_omits_purged_plates(
    logged: Callable[[], tuple[Bench, PurgeLog]],
) -> None:
    made, log = logged()
    for plate in PLATES:
        made.decode(plate)
    log_purge(log.database, made.store.tag(PLATES[0]))
    lose(made)
    made.expire_local_cache()
    assert made.decode(PLATES[1]).cache_status == "hit"
    assert made.decode(PLATES[0]).cache_status == "miss"


def test_in_flight_answer_survives_lost_store_unless_purged(
    logged: Callable[[], tuple[Bench, PurgeLog]],
) -> None:
    made, log = logged()
    made.decode("XYZ9A99")

    def lose_and_purge(resource: Resource) -> Response:
        log_purge(log.database, made.store.tag(PLATES[0]))
        lose(made)
        return good(resource)

    made.upstream.answer = lose_and_purge
    for plate in PLATES:
        made.decode(plate)
    made.store.tick()
    (kept,) = keys_of(made)
    assert kept == made.store.key(decode(PLATES[1]), None)
    assert not made.memory.get_stale(made.store.key(decode(PLATES[0]), None))


def test_unavailable_store_does_not_serve_purged_plate(
    logged: Callable[[], tuple[Bench, PurgeLog]], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, log = logged()
    for plate in PLATES:
        made.decode(plate)
    made.expire_local_cache()
    log_purge(log.database, made.store.tag(PLATES[0]))
    monkeypatch.setattr(SQLiteCache, "read_many", refuse)
    assert made.decode(PLATES[1], Spend.LATER).cache_status == "hit"
    with pytest.raises(Failure):
        made.decode(PLATES[0], Spend.LATER)


def test_purge_log_keeps_the_last_purge_of_each_bucket(empty_database: EmptyDatabase) -> None:
    first, second = PurgeLog(empty_database.open()), PurgeLog(empty_database.open())
    assert first.after(0) == {}
    assert log_buckets(first.database, [7, 8]) == [1, 2]
    assert second.after(0) == {7: 1, 8: 2}
    assert log_buckets(second.database, [9, 7]) == [3, 4]
    assert first.after(0) == {8: 2, 9: 3, 7: 4}
    assert first.after(2) == {9: 3, 7: 4}
    assert first.after(4) == {}
    assert log_buckets(second.database, [1], above=60) == [61]
    assert first.after(60) == {1: 61}
    assert first.identity() == second.identity()


def test_numbers_go_on_above_those_of_a_store_that_outlived_its_log(
    tmp_path: Path, clock: Clock
) -> None:
    """The database was lost, or restored from an older copy than the store."""
    made = bench(tmp_path / "cache", clock, database=kept_open(None, tmp_path / "former"))
    for plate in PLATES:
        made.decode(plate)
        made.purge(PLATES[0])
    made.decode(PLATES[0])
    later = bench(tmp_path / "cache", clock, database=kept_open(None, tmp_path / "new"))
    other = bench(tmp_path / "cache", clock, database=kept_open(None, tmp_path / "new"))
    assert later.decode(PLATES[0]).cache_status == "hit"
    assert other.purge(PLATES[0]) == 1
    later.expire_local_cache()
    assert later.decode(PLATES[0]).cache_status == "miss"
    assert later.decode(PLATES[1]).cache_status == "hit"


# Deleted bytes in the SQLite file's pages


def test_purge_erases_copies_of_rows_that_sqlite_moved(tmp_path: Path) -> None:
    """Without ``erase_deleted``, bytes of 3 % of the purged vehicles would stay in the file."""
    chance, cache = random.Random(1), opened_cache(tmp_path)
    tags = [chance.randbytes(12).hex() for _ in range(1_500)]
    with cache._connection() as db:
        db.execute("BEGIN")
        for tag in tags:
            for _ in range(3):
                key = f"{tag}:{chance.randbytes(20).hex()}"
                value = chance.randbytes(chance.randint(200, 400))
                db.execute(
                    "INSERT INTO entries VALUES (?, ?, 9e9, 7, ?)", (entry_id(key), key, value)
                )
        db.execute("COMMIT")
    for tag in tags[:120]:
        assert cache.delete_tagged([tag]) == 3
    cache.erase_deleted()
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert [tag for tag in tags[:120] if tag.encode() in kept] == []
    assert tags[-1].encode() in kept


def test_first_read_of_a_new_process_is_compared_with_the_log(made: Bench, tmp_path: Path) -> None:
    """After a restore, a request arrived before the first tick and got a purged answer."""
    made.decode()
    (key,) = keys_of(made)
    log_purge(made.purge_log.database, key)
    restarted = bench(tmp_path, made.clock)
    assert restarted.store.read(key) is None


def test_answer_asked_after_a_purge_that_the_process_has_not_learned_of_is_kept(
    made: Bench,
) -> None:
    """Another portal with the same database purged the vehicle, or Redis was unavailable to it."""
    log_purge(made.purge_log.database, made.store.tag(PLATES[0]))
    assert made.decode(PLATES[0]).stored
    made.store.tick()
    assert made.decode(PLATES[0]).cache_status == "hit"


def test_last_purge_is_learnt_from_the_log_and_known_from_then(
    tmp_path: Path, clock: Clock
) -> None:
    one, two = bench(tmp_path, clock), bench(tmp_path, clock)
    one.decode()
    size, tag = one.store.size(), one.store.tag("ABC1D23")
    assert (size and size.entries, one.store.count([tag])) == (1, 1)
    two.purge()
    assert (one.store.known_purge(), one.store.last_purge(), one.store.known_purge()) == (0, 1, 1)
    assert (one.store.count([tag]), one.store.count([])) == (0, 0)


def test_answer_that_is_hidden_or_past_its_end_is_not_stored(made: Bench) -> None:
    made.decode()
    key = made.store.key(decode(), None)
    answer = made.store.read(key)
    assert answer is not None
    made.purge()
    assert not made.store.write(answer)
    newer = structs.replace(answer, purge_no=1)
    assert made.store.write(newer)
    made.clock.advance(newer.delete_at - made.clock())
    assert not made.store.write(newer)


def test_report_of_records_from_before_a_purge_is_not_stored(made: Bench) -> None:
    made.purge()
    stored = {
        last_purge: made.gateway.fetch(
            Lookup(REPORT, Plate("ABC1D23"), body=b"{}", last_purge=last_purge), CALLER
        ).stored
        for last_purge in (0, 1)
    }
    assert stored == {0: False, 1: True}
