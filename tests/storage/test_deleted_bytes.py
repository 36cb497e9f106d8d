"""DeletedBytes: the copies of deleted rows that SQLite leaves in the pages of a file."""

import json
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import select, update

from portal.issued.identifiers import new_identifiers
from portal.issued.model import IssuedSnapshot
from portal.storage import sqlite_traces
from portal.storage.sqlite_traces import DeletedBytes, empty_log
from portal.storage.tables import batch_items, batches, dossiers, history
from tests.conftest import PortalFactory
from tests.effort import long
from tests.web.json_paths import PLATE
from tests.web.person import Person

SEALED = (history.c.sealed, batches.c.sealed_wrong, batch_items.c.sealed, dossiers.c.head)

TABLE = """
CREATE TABLE vehicles (id INTEGER PRIMARY KEY, tag TEXT, sealed BLOB, content BLOB);
CREATE INDEX by_tag ON vehicles (tag);
CREATE INDEX by_sealed ON vehicles (sealed, tag);
"""


@pytest.fixture
def connections(tmp_path: Path) -> Iterator[list[sqlite3.Connection]]:
    """Two connections, as two processes have them, with pages in their caches."""
    with closing(opened(tmp_path)) as one, closing(opened(tmp_path)) as two:
        one.executescript(TABLE)
        yield [one, two]


def opened(folder: Path) -> sqlite3.Connection:
    db = sqlite3.connect(folder / "some.sqlite", isolation_level=None, timeout=0)
    for pragma in ("journal_mode = WAL", *sqlite_traces.PRAGMAS):
        db.execute(f"PRAGMA {pragma}")
    return db


def fill(connections: list[sqlite3.Connection], chance: random.Random, count: int) -> list[str]:
    tags = [chance.randbytes(12).hex() for _ in range(count)]
    for db in connections:
        db.execute("BEGIN")
        db.executemany(
            "INSERT INTO vehicles (id, tag, sealed, content) VALUES (?, ?, ?, ?)",
            [
                (chance.getrandbits(40), tag, chance.randbytes(40), tag.encode() * size)
                for tag in tags[connections.index(db) :: len(connections)]
                for size in [chance.choice([0, 1, 5, 40])]
            ],
        )
        db.execute("COMMIT")
    return tags


def found(folder: Path, tags: list[str]) -> list[str]:
    kept = b"".join(path.read_bytes() for path in folder.iterdir())
    return [tag for tag in tags if tag.encode() in kept]


@pytest.mark.parametrize("seed", [1, *long(2, 3)])
@pytest.mark.parametrize("part_bytes", [sqlite_traces.PART_BYTES, 256 * 1024])
def test_no_copy_of_a_deleted_row_stays_or_comes_back(
    connections: list[sqlite3.Connection],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
    part_bytes: int,
) -> None:
    monkeypatch.setattr(sqlite_traces, "PART_BYTES", part_bytes)
    chance, deleted = random.Random(seed), DeletedBytes(tmp_path / "some.sqlite")
    tags = fill(connections, chance, 2_000)
    gone, kept = tags[::2], tags[1::2]
    for tag in gone:
        chance.choice(connections).execute("DELETE FROM vehicles WHERE tag = ?", (tag,))
    empty_log(connections[0])
    assert found(tmp_path, gone)  # secure_delete alone leaves copies
    assert deleted.overwrite()
    assert found(tmp_path, gone) == []
    fill(connections, chance, 300)
    empty_log(connections[0])
    assert found(tmp_path, gone) == []
    for db in connections:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert found(tmp_path, kept[::50]) == kept[::50]
    deleted.close()


def test_other_writers_get_the_lock_between_two_parts(
    connections: list[sqlite3.Connection], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_traces, "PART_BYTES", 64 * 1024)
    written: list[int] = []

    def write(_seconds: float) -> None:
        connections[1].execute("INSERT INTO vehicles (tag) VALUES ('during')")  # without waiting
        written.append(1)

    fill(connections, random.Random(1), 2_000)
    connections[0].execute("DELETE FROM vehicles WHERE id % 2 = 0")
    # Threads of other tests may still sleep, so only this module gets another clock.
    monkeypatch.setattr(sqlite_traces, "time", SimpleNamespace(sleep=write))
    deleted = DeletedBytes(tmp_path / "some.sqlite")
    assert deleted.overwrite()
    assert len(written) > 5
    deleted.close()


def test_parts_without_a_copy_are_searched_without_the_lock(
    connections: list[sqlite3.Connection], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A purge searches the dossiers in gigabytes, but calls must not wait for the search."""
    monkeypatch.setattr(sqlite_traces, "PART_BYTES", 64 * 1024)
    chance, deleted = random.Random(1), DeletedBytes(tmp_path / "some.sqlite")
    content = [(number, chance.randbytes(100_000)) for number in range(100)]
    connections[0].execute("BEGIN")
    connections[0].executemany("INSERT INTO vehicles (id, content) VALUES (?, ?)", content)
    connections[0].execute("COMMIT")
    assert deleted.overwrite()
    connections[0].execute("DELETE FROM vehicles WHERE id = 50")
    connections[0].execute("INSERT INTO vehicles (id, tag) VALUES (50, 'new')")
    locked: list[str] = []
    searched = sqlite_traces._remains

    def search(file: int, position: int) -> list[tuple[int, int]]:
        try:  # another writer gets the lock, unless the search holds it
            connections[1].execute("BEGIN IMMEDIATE")
            connections[1].execute("ROLLBACK")
            locked.append("free")
        except sqlite3.OperationalError:
            locked.append("held")
        return searched(file, position)

    monkeypatch.setattr(sqlite_traces, "_remains", search)
    assert deleted.overwrite()
    assert locked.count("free") >= 140  # the parts of 9 MB
    assert locked.count("held") <= 5
    deleted.close()


def test_nothing_is_overwritten_while_another_connection_writes(
    connections: list[sqlite3.Connection], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_traces, "CHECKPOINT_PAUSE_S", 0.0)
    monkeypatch.setattr(sqlite_traces, "_LOCK_WAIT_S", 0.0)
    fill(connections, random.Random(1), 500)
    deleted = DeletedBytes(tmp_path / "some.sqlite")
    connections[0].execute("BEGIN IMMEDIATE")
    assert not deleted.overwrite()
    connections[0].execute("COMMIT")
    assert deleted.overwrite()
    deleted.close()


def test_expiry_searches_no_file_and_the_hourly_task_searches_it_once(
    portal: PortalFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search takes as long as the file is, and batches and dossiers expire every minute."""
    here = portal()
    parts, ana = here.parts, Person.at(here).signed_in()
    ana.post("/lote", placas=PLATE, consulta="decode")
    ana.client.get(f"/placa/{PLATE}?completo=1")
    parts.dossiers.issue(
        *("ana", new_identifiers(), IssuedSnapshot(plate=PLATE, caller="ana", summary="{}")),
        *("", None),
        last_purge=0,
    )
    with parts.database.writing() as db:
        sealed = [db.execute(select(column)).scalar_one() for column in SEALED]
        for table in (history, batches, dossiers):
            column = table.c.asked_at if table is history else table.c.expires_at
            db.execute(update(table).values({column: 0.0}))
    searched, search = [], DeletedBytes.overwrite

    def overwrite(file: DeletedBytes) -> bool:
        searched.append(file)
        return search(file)

    monkeypatch.setattr(DeletedBytes, "overwrite", overwrite)
    for part in (parts.history, parts.batches, parts.dossiers):
        part.drop_expired()
    with parts.database.reading() as db:
        assert [db.execute(select(column)).scalar() for column in SEALED] == [None] * len(SEALED)
    assert searched == []
    parts.scheduler.run_all()
    times = tmp_path / "data" / "housekeeping"
    times.write_text(json.dumps([0.0] * len(json.loads(times.read_text()))))  # all are due
    parts.scheduler.run_all()
    assert len(searched) == 1
    kept = b"".join(file.read_bytes() for file in (tmp_path / "data").glob("portal.sqlite*"))
    assert [each for each in sealed if each in kept] == []


@pytest.mark.parametrize(
    ("block", "cells", "start"), [(0, 1, 4095), (0, 2000, 100), (50, 1, 3000), (0, 1, 9)]
)
def test_page_with_inconsistent_header_is_left_alone(
    tmp_path: Path, block: int, cells: int, start: int
) -> None:
    page = bytearray(b"\1" * 4096)
    page[0] = 13
    page[8:10] = (3000).to_bytes(2)
    head = bytearray(4096)
    head[16:18] = (4096).to_bytes(2)

    def remains(*fields: int) -> list[tuple[int, int]]:
        page[1:7] = b"".join(each.to_bytes(2) for each in fields)
        (tmp_path / "file").write_bytes(head + page)
        with (tmp_path / "file").open("rb") as file:
            return sqlite_traces._remains(file.fileno(), 0)

    assert remains(0, 1, 3000) == [(4096 + 10, 2990)]
    assert remains(block, cells, start) == []
