"""What a purge leaves behind: nothing that was asked for before it, of whatever kind."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from portal.gateway import REPORT, Caller, Directive, Failure, Lookup, purge_bucket
from portal.gateway.sqlite_cache import SQLiteCache, entry_id
from portal.storage import PurgeLog
from portal.upstream import Resource, Response
from portal.vehicle import Plate
from tests import factories
from tests.fakes import Clock
from tests.gateway.gateways import (
    CALLER,
    Bench,
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
    """The upstream answers like this, after a purge by another process."""

    def play(resource: Resource) -> Response:
        purge()
        return answer(resource)

    made.upstream.answer = play


def fail(_: Resource) -> Response:
    raise failing()


def keys_of(made: Bench) -> list[str]:
    with made.backend._connection() as db:
        return [key for (key,) in db.execute("SELECT key FROM entries")]


@pytest.mark.parametrize("answer", [good, lambda _: REJECTED, fail])
def test_answer_rejection_and_failure_under_way_are_not_stored(
    made: Bench, tmp_path: Path, clock: Clock, answer
) -> None:
    other = bench(tmp_path, clock)
    purged_in_mid_call(made, answer, lambda: other.store.purge(PLATES[0]))
    outcome(made.decode)
    assert keys_of(made) == []
    assert made.memory.size_bytes == 0


def test_only_the_purged_plates_answer_is_kept_back(
    made: Bench, tmp_path: Path, clock: Clock
) -> None:
    other = bench(tmp_path, clock)
    purged_in_mid_call(made, good, lambda: other.store.purge(PLATES[0]))
    assert not made.decode(PLATES[0]).stored
    assert made.decode(PLATES[1]).stored
    assert len(keys_of(made)) == 1


def test_answer_in_pass_through_under_way_is_not_stored(tmp_path: Path, clock: Clock) -> None:
    made, other = (bench(tmp_path, clock, operator_credential=None) for _ in range(2))
    purged_in_mid_call(made, good, lambda: other.store.purge(PLATES[0]))
    served = made.gateway.fetch(decode(), Caller("me", credential="mine"))
    assert not served.stored
    assert keys_of(made) == []


def test_replaced_answer_is_not_kept_for_comparison_after_purge(
    made: Bench, tmp_path: Path, clock: Clock
) -> None:
    other = bench(tmp_path, clock)
    made.decode()
    clock.advance(10)
    newer = Response(200, factories.decode_body("ABC1D23", combustivel="Flex"), "primary")
    purged_in_mid_call(made, lambda _: newer, lambda: other.store.purge(PLATES[0]))
    made.decode(directive=Directive.REFRESH)
    assert keys_of(made) == []


def test_report_under_way_becomes_nobodys_newest(made: Bench, tmp_path: Path, clock: Clock) -> None:
    other = bench(tmp_path, clock)
    lookup = Lookup(REPORT, Plate.parse(PLATES[0]), body=b'{"plate":"ABC1D23","data":{}}')
    purged_in_mid_call(made, good, lambda: other.store.purge(PLATES[0]))
    assert not made.gateway.fetch(lookup, CALLER).stored
    made.gateway.keep_as_newest(lookup, CALLER)
    assert keys_of(made) == []
    assert made.gateway.newest_report(Plate.parse(PLATES[0]), CALLER) is None


def test_purge_between_reading_a_report_and_copying_it_keeps_no_copy(
    made: Bench, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = bench(tmp_path, clock)
    lookup = Lookup(REPORT, Plate.parse(PLATES[0]), body=b'{"plate":"ABC1D23","data":{}}')
    made.gateway.fetch(lookup, CALLER)
    copy = made.store.copy

    def copy_after_a_purge(*given) -> None:
        other.store.purge(PLATES[0])
        copy(*given)

    monkeypatch.setattr(made.store, "copy", copy_after_a_purge)
    made.gateway.keep_as_newest(lookup, CALLER)
    assert keys_of(made) == []


# A backend that refuses, is lost or comes back


def test_answer_that_could_not_be_written_is_written_later(
    made: Bench, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = bench(tmp_path, clock)
    with monkeypatch.context() as patch:
        patch.setattr(SQLiteCache, "replace", refuse)
        assert not made.decode().stored
    made.store.tick()
    assert other.decode().cache_status == "hit"


def test_answer_that_waits_to_be_written_is_not_written_after_its_purge(
    made: Bench, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = bench(tmp_path, clock)
    with monkeypatch.context() as patch:
        patch.setattr(SQLiteCache, "replace", refuse)
        for plate in PLATES:
            made.decode(plate)
    other.store.purge(PLATES[0])
    for _ in range(2):
        made.store.tick()
    assert other.decode(PLATES[1]).cache_status == "hit"
    assert len(keys_of(made)) == 1


def refuse(*_: object, **__: object) -> bool:
    raise OSError("no room")


@pytest.fixture
def logged(tmp_path: Path, clock: Clock, database) -> Callable[[], tuple[Bench, PurgeLog]]:
    """A process whose store reads the log of purges."""
    engine = database.open()

    def build() -> tuple[Bench, PurgeLog]:
        log = PurgeLog(engine)
        return bench(tmp_path / "cache", clock, purge_log=log), log

    return build


def lose(made: Bench) -> None:
    """The file is gone, as an empty Redis has come back."""
    for file in made.backend._path.parent.glob("cache.sqlite*"):
        file.unlink()


def test_lost_store_is_given_back_all_but_what_was_purged_without_notice(logged) -> None:
    made, log = logged()
    for plate in PLATES:
        made.decode(plate)
    log.note(purge_bucket(made.store.tag(PLATES[0])))
    lose(made)
    made.forget_belief()
    assert made.decode(PLATES[1]).cache_status == "hit"
    assert made.decode(PLATES[0]).cache_status == "miss"


def test_lookup_under_way_while_the_store_is_lost_is_stored_unless_purged(logged) -> None:
    made, log = logged()
    made.decode("XYZ9A99")

    def lose_and_purge(resource: Resource) -> Response:
        log.note(purge_bucket(made.store.tag(PLATES[0])))
        lose(made)
        return good(resource)

    made.upstream.answer = lose_and_purge
    assert [made.decode(plate).stored for plate in PLATES] == [False, True]


def test_store_that_is_down_serves_no_plate_purged_meanwhile(
    logged, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, log = logged()
    for plate in PLATES:
        made.decode(plate)
    made.forget_belief()
    log.note(purge_bucket(made.store.tag(PLATES[0])))
    monkeypatch.setattr(SQLiteCache, "read", refuse)
    peek = {"directive": Directive.ONLY_IF_CACHED}
    assert made.decode(PLATES[1], **peek).cache_status == "hit"
    with pytest.raises(Failure):
        made.decode(PLATES[0], **peek)


def test_log_of_purges_numbers_them_for_all(database) -> None:
    first, second = PurgeLog(database.open()), PurgeLog(database.open())
    assert first.since(None) == (0, None)
    for bucket in (7, 8):
        first.note(bucket)
    assert second.since(0) == (2, {7, 8})
    second.note(9)
    assert first.since(2) == (3, {9})
    assert first.since(3) == (3, frozenset())


# No byte stays in the pages


def test_purge_leaves_no_former_copy_of_a_row_that_sqlite_moved(tmp_path: Path) -> None:
    """Without VACUUM some of these are still in the file: 3 % of such vehicles."""
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
        assert cache.delete_tagged(tag) == 3
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert [tag for tag in tags[:120] if tag.encode() in kept] == []
    assert tags[-1].encode() in kept
