"""Answers stored under a former secret key are found, and not paid for again."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select

from portal.gateway.backend import purge_bucket
from portal.gateway.lookup import Directive, Failure, Lookup
from portal.gateway.operations import REPORT
from portal.storage.database import reading, writing
from portal.storage.key_fingerprints import (
    forget_other_keys,
    record_key,
    recorded_keys,
    unknown_keys,
)
from portal.storage.purge_log import PurgeLog
from portal.storage.secret import fingerprint
from portal.storage.tables import ledger
from portal.upstream.protocol import Response
from portal.vehicle.plate import Plate
from tests import factories
from tests.fakes import Clock
from tests.fakes.databases import kept_open
from tests.gateway.gateways import CALLER, Bench, bench, good, opened_cache

OLD, NEW = b"the key of the past year", b"the key of the coming year"
PEEK = Directive.ONLY_IF_CACHED


def made_with(folder: Path, clock: Clock, *keys: bytes, **options: object) -> Bench:
    return bench(folder, clock, keys=keys, **options)  # type: ignore[arg-type]


def test_answer_under_an_old_key_is_a_hit_and_moves(tmp_path: Path, clock: Clock) -> None:
    first = made_with(tmp_path, clock, OLD).decode()
    clock.advance(100)
    rotated = made_with(tmp_path, clock, NEW, OLD)
    found = rotated.decode(directive=PEEK)
    assert (found.body, found.cache_status, found.fetched_at) == (
        *(first.body, "hit"),
        first.fetched_at,
    )
    assert rotated.upstream.calls == []
    retired = made_with(tmp_path, clock, NEW)
    assert retired.decode(directive=PEEK).fetched_at == first.fetched_at


def test_answer_under_a_retired_key_is_a_miss(tmp_path: Path, clock: Clock) -> None:
    made_with(tmp_path, clock, OLD).decode()
    retired = made_with(tmp_path, clock, NEW)
    with pytest.raises(Failure):
        retired.decode(directive=PEEK)
    assert retired.decode().cache_status == "miss"


def test_newer_answer_of_either_key_is_served(tmp_path: Path, clock: Clock) -> None:
    """Two portals during a rotation: one signs with the old key, one with the new one."""
    here, there = made_with(tmp_path, clock, OLD, NEW), made_with(tmp_path, clock, NEW, OLD)
    for asks, finds in ((here, there), (there, here)):
        clock.advance(10)
        asked = asks.decode(directive=Directive.REFRESH)
        clock.advance(1)
        assert finds.decode(directive=Directive.REFRESH).fetched_at > asked.fetched_at
    for each in (here, there):
        each.expire_local_cache()
    assert (
        here.decode(directive=PEEK).cache_status
        == there.decode(directive=PEEK).cache_status
        == "hit"
    )


def test_rejection_moves_too(tmp_path: Path, clock: Clock) -> None:
    before = made_with(tmp_path, clock, OLD)
    before.upstream.answer = lambda _: Response(400, factories.message_body("Não."), "primary")
    assert before.decode().status == 400
    rotated = made_with(tmp_path, clock, NEW, OLD)
    assert rotated.decode().status == 400
    assert rotated.upstream.calls == []


def test_newest_report_moves_too(tmp_path: Path, clock: Clock) -> None:
    plate = Plate.parse("ABC1D23")
    lookup = Lookup(REPORT, plate)
    before = made_with(tmp_path, clock, OLD)
    before.gateway.fetch(lookup, CALLER)
    before.gateway.keep_as_newest(lookup, CALLER)
    rotated = made_with(tmp_path, clock, NEW, OLD)
    assert rotated.gateway.newest_report(plate, CALLER) is not None
    assert made_with(tmp_path, clock, NEW).gateway.newest_report(plate, CALLER) is not None


@pytest.mark.parametrize("others", [(OLD,), (OLD, NEW)])
def test_one_call_over_portals_of_both_keys(
    tmp_path: Path, clock: Clock, others: tuple[bytes, ...]
) -> None:
    under_way, gate = threading.Event(), threading.Event()
    here, there = made_with(tmp_path, clock, *others), made_with(tmp_path, clock, NEW, OLD)

    def slow(resource: object) -> Response:
        under_way.set()
        gate.wait(30)
        return good(resource)  # type: ignore[arg-type]

    here.upstream.answer = slow
    with ThreadPoolExecutor(2) as pool:
        leader = pool.submit(here.decode)
        under_way.wait(30)
        follower = pool.submit(there.decode)
        threading.Timer(0.3, gate.set).start()
        assert leader.result().body == follower.result().body
    assert (len(here.upstream.calls), len(there.upstream.calls)) == (1, 0)


def test_purge_covers_both_tags_and_writes_under_way(tmp_path: Path, clock: Clock) -> None:
    log = PurgeLog(kept_open(None, tmp_path))
    made_with(tmp_path, clock, OLD, purge_log=log).decode()
    rotated = made_with(tmp_path, clock, NEW, OLD, purge_log=log)
    rotated.decode()
    store = rotated.store
    tags = [store.tag("ABC1D23"), *store.former_tags("ABC1D23")]
    numbers = log.note([purge_bucket(tag) for tag in tags])
    assert store.purge(dict(zip(tags, numbers, strict=True))) == 2
    with pytest.raises(Failure):
        rotated.decode(directive=PEEK)


def test_keys_are_recorded_until_they_are_forgotten(tmp_path: Path) -> None:
    engine, store = kept_open(None, tmp_path), opened_cache(tmp_path)
    old, new, third = (fingerprint(key) for key in (OLD, NEW, b"a third key"))
    row = {"origin": "", "caller": "", "price": "0", "outcome": "", "operation": "", "day": ""}
    for key in (old, new, old):  # one portal is still to be rotated
        record_key(engine, key)
        store.key_record.record(key)
    for recorded in (recorded_keys(engine), store.key_record.read()):
        assert unknown_keys(recorded, [new]) == {old[:16]}
        assert unknown_keys(recorded, [new, old, third]) == set()
    with writing(engine) as db:
        db.execute(insert(ledger).values(sent_at=0.0, subject="a tag", **row))
    no_rows: dict[str, list[Any]] = {"history_ids": [], "dossier_numbers": [], "batch_ids": []}
    forget_other_keys(engine, new, **no_rows)
    assert store.key_record.forget(new, [old[:16]]) == 0
    for recorded in (recorded_keys(engine), store.key_record.read()):
        assert unknown_keys(recorded, [new]) == set()
    with reading(engine) as db:
        assert db.execute(select(ledger.c.subject)).scalars().all() == [""]
