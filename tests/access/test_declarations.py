"""Declared lines: for their owner alone, encrypted, expiring, and gone after a purge."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import select

from portal.access.declarations import KEPT_S, Declarations
from portal.access.sealing import SubjectKeys
from portal.storage.database import Database
from portal.storage.tables import declarations as table
from tests.fakes import Clock
from tests.fakes.one_tenant import subject_keys

SECRET = b"s" * 32


@pytest.fixture
def declarations(database: Database, clock: Clock) -> Declarations:
    keys = subject_keys(SECRET, lambda subject: f"tag-of-{hash(subject)}")
    return Declarations(database, keys, clock)


def of(declarations: Declarations, owner: str, subject: str = "ABC1D23") -> dict[str, bytes]:
    found = declarations.of(owner, [subject])
    assert found is not None
    return dict(found.get(subject, {}))


def test_named_lines_are_replaced_and_others_stay(declarations: Declarations) -> None:
    declarations.put("ana", "ABC1D23", {"gravame": b"1", "recall": b"2"})
    declarations.put("ana", "ABC1D23", {"gravame": b"3", "leilao": b"4"})
    assert of(declarations, "ana") == {"gravame": b"3", "leilao": b"4", "recall": b"2"}
    declarations.put("ana", "ABC1D23", {"gravame": None, "recall": None})
    assert of(declarations, "ana") == {"leilao": b"4"}


def test_another_owner_and_another_vehicle_see_nothing(declarations: Declarations) -> None:
    declarations.put("ana", "ABC1D23", {"gravame": b"1"})
    assert of(declarations, "bia") == {}
    assert of(declarations, "ana", "ABC1C34") == {}
    declarations.put("bia", "ABC1D23", {"gravame": b"2"})
    assert of(declarations, "ana") == {"gravame": b"1"}


def test_another_namespace_sees_nothing(database: Database, clock: Clock) -> None:
    for name in ("one", "two"):
        keys = SubjectKeys(SECRET, lambda subject: f"tag-of-{hash(subject)}", name)
        store = Declarations(database, keys, clock)
        assert store.of("ana", ["ABC1D23"]) == {}
        store.put("ana", "ABC1D23", {"gravame": name.encode()})
        assert of(store, "ana") == {"gravame": name.encode()}


def test_many_vehicles_are_read_at_once(declarations: Declarations) -> None:
    plates = [f"ABC{number:04}" for number in range(900)]
    for plate in plates[:3]:
        declarations.put("ana", plate, {"gravame": plate.encode()})
    found = declarations.of("ana", plates)
    assert found is not None
    assert {plate: lines["gravame"] for plate, lines in found.items()} == {
        plate: plate.encode() for plate in plates[:3]
    }


def test_contents_are_encrypted(declarations: Declarations, database: Database) -> None:
    declarations.put("ana", "ABC1D23", {"gravame": b"banco do norte"})
    with database.engine.connect() as db:
        row = db.execute(select(table)).one()
    stored = repr(tuple(row))
    assert "banco do norte" not in stored and "ABC1D23" not in stored and "'ana'" not in stored


def test_unreadable_line_is_left_out(database: Database, clock: Clock) -> None:
    def tag(subject: str) -> str:
        return f"tag-of-{hash(subject)}"

    Declarations(database, subject_keys(SECRET, tag), clock).put("ana", "ABC1D23", {"recall": b"1"})
    other = Declarations(database, subject_keys(b"t" * 32, tag), clock)
    assert of(other, "ana") == {}


def test_expired_lines_are_not_read_and_are_deleted(
    declarations: Declarations, database: Database, clock: Clock
) -> None:
    declarations.put("ana", "ABC1D23", {"gravame": b"1"})
    clock.advance(KEPT_S + 1)
    assert of(declarations, "ana") == {}
    declarations.put("ana", "ABC1D23", {"recall": b"2"})
    declarations.drop_expired()
    with database.engine.connect() as db:
        assert [row.line for row in db.execute(select(table))] == ["recall"]


def test_purge_forgets_the_vehicle_and_texts_that_name_it(
    declarations: Declarations, database: Database
) -> None:
    declarations.put("ana", "ABC1D23", {"gravame": b"1"})
    declarations.put("bia", "ABC1D23", {"recall": b"2"})
    declarations.put("ana", "XYZ9A99", {"leilao": b"igual ao abc-1d23", "recall": b"3"})
    with database.writing() as db:
        declarations.forget(db, "ABC1D23")
    assert of(declarations, "ana") == of(declarations, "bia") == {}
    assert of(declarations, "ana", "XYZ9A99") == {"recall": b"3"}


def test_lines_declared_at_the_same_time_are_all_kept(declarations: Declarations) -> None:
    keys = [f"line-{number}" for number in range(20)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda key: declarations.put("ana", "ABC1D23", {key: b"x"}), keys))
    assert sorted(of(declarations, "ana")) == sorted(keys)


def test_lost_table_is_unreadable_and_not_empty(
    declarations: Declarations, database: Database, tmp_path: Path
) -> None:
    assert tmp_path.exists()
    with database.writing() as db:
        table.drop(db)
    assert declarations.of("ana", ["ABC1D23"]) is None
