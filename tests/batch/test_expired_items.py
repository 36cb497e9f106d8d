"""Vehicles of expired batches are deleted in bounded memory, however many there are."""

import tracemalloc
from pathlib import Path

from portal.batch.batches import DRAFT_S
from portal.batch.model import QuotedItem
from portal.batch.typed_list import read_strings
from tests.batch.engine import OWNER, engine_of, plates
from tests.fakes import Clock

MEBIBYTE = 1024 * 1024


def test_ten_thousand_expired_items_are_deleted_in_bounded_memory(
    tmp_path: Path, clock: Clock
) -> None:
    one = engine_of(tmp_path, clock)
    listed = read_strings(plates(2_500))
    for _ in range(4):
        quoted = [QuotedItem(subject, is_stored=False) for subject in listed.subjects]
        one.batches.create(OWNER, ("decode",), quoted, listed)
    clock.advance(DRAFT_S + 1)
    tracemalloc.start()
    try:
        one.batches.drop_expired()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert one.batches.listed(OWNER) == []
    assert peak < 64 * MEBIBYTE
