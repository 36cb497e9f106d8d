"""The trail: its chain, what it notes once an hour, its end and its purges."""

import random
from collections.abc import Callable
from typing import Any, Final

import pytest
from sqlalchemy import Connection, delete, insert, select, text, update

from portal.access.trail import AGAIN_S, Act, Entry, Face, Trail
from portal.storage.database import Database
from portal.storage.purge_log import log_purges, purge_bucket
from portal.storage.tables import meta
from portal.storage.tables import trail as table
from portal.system.local_time import DAY_S
from tests.fakes import Clock
from tests.fakes.one_tenant import subject_keys

SECRET: Final = b"s" * 32
ROWS: Final = 1000


def tag(subject: str) -> str:
    return f"tag-of-{subject[::-1]}"


def trail_of(database: Database, clock: Clock, days: int = 365, last_purge: int = 0) -> Trail:
    return Trail(database, subject_keys(SECRET, tag), days, clock, lambda: last_purge)


@pytest.fixture
def trail(database: Database, clock: Clock) -> Trail:
    return trail_of(database, clock)


def entry(
    act: Act = "saw", vehicle: str = "ABC1D23", who: str = "ana", face: Face = "page", **more: Any
) -> Entry:
    return Entry(who=who, kind="token", act=act, face=face, vehicle=vehicle, **more)


def fill(trail: Trail, database: Database, count: int = ROWS) -> None:
    with database.writing() as db:
        trail.write(db, *(entry("asked", f"ABC{number:04}") for number in range(count)))


def row(db: Connection, number: int) -> dict[str, Any]:
    return dict(db.execute(select(table).where(table.c.id == number)).mappings().one())


def put(db: Connection, at: int, /, **values: Any) -> None:
    db.execute(update(table).where(table.c.id == at).values(**values))


# The chain


def test_untouched_chain_holds(trail: Trail, database: Database) -> None:
    assert trail.verify().fault is None
    fill(trail, database)
    trail.add(entry("issued", number="7F3K9QMD2XHA"))
    found = trail.verify()
    assert (found.rows, found.last.number, found.fault) == (ROWS + 1, ROWS + 1, None)


def _remove(db: Connection, number: int) -> None:
    db.execute(delete(table).where(table.c.id == number))


def _close_gap(db: Connection, number: int) -> None:
    _remove(db, number)
    for each in range(number + 1, ROWS + 1):
        put(db, each, id=each - 1)


def _swap(db: Connection, number: int) -> None:
    first, second = row(db, number), row(db, number + 1)
    put(db, number, **{**second, "id": number})
    put(db, number + 1, **{**first, "id": number + 1})


def _swap_vehicles(db: Connection, number: int) -> None:
    first, second = row(db, number), row(db, number + 1)
    for each, other in ((number, second), (number + 1, first)):
        put(db, each, subject=other["subject"], sealed=other["sealed"], vehicle=other["vehicle"])


def _append(db: Connection, _: int) -> None:
    db.execute(insert(table).values(**{**row(db, ROWS), "id": ROWS + 1, "who": "mallory"}))


def _empty_as_a_purge_would(db: Connection, number: int) -> None:
    put(db, number, subject=None, sealed=None)


def _empty_and_copy_a_signature(db: Connection, number: int) -> None:
    put(db, number, subject=None, sealed=None, emptied="0" * 64)


def _change(**values: Any) -> Callable[[Connection, int], None]:
    return lambda db, number: put(db, number, **values)


TAMPERINGS: Final[dict[str, tuple[Callable[[Connection, int], None], str]]] = {
    "removed": (_remove, "missing"),
    "removed and renumbered": (_close_gap, "changed"),
    "swapped": (_swap, "changed"),
    "vehicles swapped": (_swap_vehicles, "changed"),
    "who": (_change(who="bia"), "changed"),
    "when": (_change(at=1.5), "changed"),
    "act": (_change(act="saw"), "changed"),
    "face": (_change(face="api"), "changed"),
    "kind": (_change(kind="person"), "changed"),
    "purpose": (_change(purpose="outra"), "changed"),
    "number": (_change(number="1"), "changed"),
    "namespace": (_change(namespace="other"), "changed"),
    "tag": (_change(subject="tag"), "changed"),
    "ciphertext": (_change(sealed=b"x"), "changed"),
    "digest": (_change(vehicle=""), "changed"),
    "mac": (_change(mac="0" * 64), "changed"),
    "emptied": (_empty_as_a_purge_would, "changed"),
    "emptied with a false signature": (_empty_and_copy_a_signature, "changed"),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_tampering_with_one_row_in_a_thousand_is_named(
    name: str, trail: Trail, database: Database
) -> None:
    tamper, kind = TAMPERINGS[name]
    fill(trail, database)
    number = random.Random(name).randrange(2, ROWS - 1)
    with database.writing() as db:
        tamper(db, number)
    assert trail.verify().fault == (number, kind)


def test_appended_row_is_named(trail: Trail, database: Database) -> None:
    fill(trail, database)
    with database.writing() as db:
        _append(db, ROWS)
    assert trail.verify().fault == (ROWS + 1, "changed")


def test_rows_missing_at_the_end_are_named_now_and_after_later_acts(
    trail: Trail, database: Database
) -> None:
    fill(trail, database, 10)
    with database.writing() as db:
        db.execute(delete(table).where(table.c.id > 7))
    assert trail.verify().fault == (8, "missing")
    trail.add(entry("issued"))
    assert trail.verify().fault == (8, "missing")


@pytest.mark.parametrize("value", ["", "3:0", "10:" + "0" * 64 + ":" + "0" * 64])
def test_changed_head_is_noticed_and_stops_no_act(
    value: str, trail: Trail, database: Database
) -> None:
    fill(trail, database, 10)
    with database.writing() as db:
        db.execute(update(meta).where(meta.c.name == "trail_head").values(value=value))
    assert trail.verify().fault == (11, "missing")
    trail.add(entry("issued"))
    assert [each.act for each in trail.latest(1)] == ["issued"]


def test_first_rows_cannot_be_removed_as_if_they_had_expired(
    trail: Trail, database: Database
) -> None:
    fill(trail, database, 10)
    with database.writing() as db:
        db.execute(delete(table).where(table.c.id < 4))
        db.execute(insert(meta).values(name="trail_anchor", value=f"3:{row(db, 4)['mac']}:0"))
    assert trail.verify().fault == (1, "missing")


# What is seen


def acts(trail: Trail) -> list[tuple[str, str, str]]:
    return [(each.who, each.act, each.vehicle) for each in trail.rows()]


def test_hits_are_written_once_an_hour_for_a_caller_a_vehicle_and_a_face(
    trail: Trail, clock: Clock
) -> None:
    for _ in range(3):
        for who, vehicle, face in (
            ("ana", "ABC1D23", "page"),
            ("bia", "ABC1D23", "page"),
            ("ana", "LMP0A01", "page"),
            ("ana", "ABC1D23", "api"),
        ):
            trail.note(entry("saw", vehicle, who, face))  # type: ignore[arg-type]
        trail.flush()
        clock.advance(AGAIN_S / 4)
    assert len(acts(trail)) == 4
    clock.advance(AGAIN_S)
    trail.note(entry())
    trail.flush()
    assert len(acts(trail)) == 5


def test_processes_share_the_hour(database: Database, clock: Clock) -> None:
    first, second = trail_of(database, clock), trail_of(database, clock)
    for each in (first, second):
        each.note(entry())
        each.flush()
    assert acts(first) == [("ana", "saw", "ABC1D23")]


def test_each_lookup_and_export_of_a_script_is_written(trail: Trail) -> None:
    for act in ("asked", "asked", "exported", "exported"):
        trail.note(entry(act, face="api"))
    trail.flush()
    assert [act for _, act, _ in acts(trail)] == ["asked", "asked", "exported", "exported"]


def test_panels_of_one_page_are_one_act(trail: Trail) -> None:
    for _ in range(3):
        trail.note(entry("asked"))
    trail.flush()
    assert len(acts(trail)) == 1


def test_notes_wait_for_a_database_that_is_away(trail: Trail, database: Database) -> None:
    with database.writing() as db:
        db.execute(text("ALTER TABLE trail RENAME TO away"))
    trail.note(entry())
    trail.flush()
    with database.writing() as db:
        db.execute(text("ALTER TABLE away RENAME TO trail"))
    trail.flush()
    assert acts(trail) == [("ana", "saw", "ABC1D23")]


def test_act_that_fails_leaves_no_row(trail: Trail, database: Database) -> None:
    with pytest.raises(ZeroDivisionError), database.writing() as db:
        trail.write(db, entry("issued"))
        raise ZeroDivisionError
    assert acts(trail) == []
    assert trail.verify().fault is None


def test_no_trail_is_kept_for_0_days(database: Database, clock: Clock) -> None:
    trail_of(database, clock).add(entry("issued"))
    trail = trail_of(database, clock, days=0)
    trail.note(entry())
    trail.add(entry("issued"))
    trail.flush()
    trail.drop_expired()
    assert acts(trail) == []
    assert trail.verify().fault is None


# Ends


def test_expiry_leaves_an_anchor_from_which_the_chain_holds(
    trail: Trail, database: Database, clock: Clock
) -> None:
    fill(trail, database, 5)
    clock.advance(364 * DAY_S)
    fill(trail, database, 3)
    clock.advance(2 * DAY_S)
    trail.drop_expired()
    found = trail.verify()
    assert (found.anchor.number, found.rows, found.fault) == (5, 3, None)
    clock.advance(400 * DAY_S)
    trail.drop_expired()
    assert trail.verify().fault is None
    trail.add(entry("issued"))
    found = trail.verify()
    assert (found.anchor.number, found.last.number, found.fault) == (8, 9, None)


def test_purge_empties_the_vehicle_and_leaves_the_rows(trail: Trail, database: Database) -> None:
    for vehicle in ("ABC1D23", "LMP0A01", "ABC1D23"):
        trail.add(entry("issued", vehicle))
    with database.writing() as db:
        trail.forget(db, ["ABC1D23"])
        trail.write(db, entry("purged", "", number="1"))
    assert acts(trail) == [
        ("ana", "issued", ""),
        ("ana", "issued", "LMP0A01"),
        ("ana", "issued", ""),
        ("ana", "purged", ""),
    ]
    assert list(trail.rows(vehicles=["ABC1D23"])) == []
    assert trail.verify().fault is None
    with database.engine.connect() as db:
        stored = repr(db.execute(select(table)).all())
    assert "ABC1D23" not in stored and tag("ABC1D23") not in stored


def test_note_before_a_purge_is_written_without_the_vehicle(
    database: Database, clock: Clock
) -> None:
    trail = trail_of(database, clock)
    trail.note(entry())
    trail.note(entry("saw", "LMP0A01"))
    with database.writing() as db:
        log_purges(db, [purge_bucket(tag("ABC1D23"))])
        trail.forget(db, ["ABC1D23"])
    trail.flush()
    assert acts(trail) == [("ana", "saw", ""), ("ana", "saw", "LMP0A01")]


def test_what_is_seen_after_a_purge_is_written_within_the_hour(
    database: Database, clock: Clock
) -> None:
    purges = [0]
    trail = Trail(database, subject_keys(SECRET, tag), 365, clock, lambda: purges[0])
    trail.note(entry())
    trail.flush()
    with database.writing() as db:
        (purges[0],) = log_purges(db, [purge_bucket(tag("ABC1D23"))])
        trail.forget(db, ["ABC1D23"])
    trail.note(entry())
    trail.flush()
    assert acts(trail) == [("ana", "saw", ""), ("ana", "saw", "ABC1D23")]


# Reading


def test_rows_are_found_by_time_person_and_vehicle(trail: Trail, clock: Clock) -> None:
    start = clock()
    for who, vehicle in (("ana", "ABC1D23"), ("bia", "ABC1D23"), ("ana", "LMP0A01")):
        trail.add(entry("asked", vehicle, who))
        clock.advance(10)
    assert [each.who for each in trail.rows(since=start + 5)] == ["bia", "ana"]
    assert [each.who for each in trail.rows(until=start + 5)] == ["ana"]
    assert [each.vehicle for each in trail.rows(who="ana")] == ["ABC1D23", "LMP0A01"]
    assert [each.who for each in trail.rows(vehicles=["ABC1D23", "ABC1C34"])] == ["ana", "bia"]
    latest = trail.latest(2)
    assert [each.vehicle for each in latest] == ["LMP0A01", "ABC1D23"]
    assert [each.who for each in trail.latest(2, before=latest[-1].number_in_trail)] == ["ana"]


def test_another_namespace_continues_the_chain_and_sees_its_own_rows(
    trail: Trail, database: Database, clock: Clock
) -> None:
    trail.add(entry("issued"))
    other = Trail(database, subject_keys(SECRET, tag), 365, clock)
    object.__setattr__(other._keys, "namespace", "other")
    other.add(entry("asked", who="bia"))
    assert [each.who for each in trail.rows()] == ["ana"]
    assert [each.who for each in other.rows()] == ["bia"]
    assert trail.verify().fault is None
    assert trail.verify().rows == 2
