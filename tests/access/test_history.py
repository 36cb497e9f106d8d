"""What each person asked: theirs alone, encrypted, erasable, gone after thirty days."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Engine, func, select

from portal.access import BytesKept, History, HistoryUnavailable
from portal.storage import history as table
from tests.conftest import PortalFactory
from tests.fakes import Clock, FaultUpstream
from tests.fakes.databases import kept_open
from tests.fakes.in_process import PORTAL_TOKEN
from tests.web.json_paths import issue
from tests.web.person import Person

DAY = 86_400.0
SECRET = b"s" * 32


@pytest.fixture
def history(engine: Engine, clock: Clock) -> History:
    return History(engine, SECRET, lambda subject: f"tag-of-{hash(subject)}", clock)


def rows(engine: Engine) -> int:
    with engine.connect() as db:
        return int(db.execute(select(func.count()).select_from(table)).scalar_one())


def asked(history: History, who: str) -> list[str]:
    return [entry.subject for entry in history.recent(who)]


def test_each_sees_their_own_the_latest_first_and_each_vehicle_once(
    history: History, clock: Clock
) -> None:
    for subject in ("ABC1D23", "XYZ9A99", "ABC1D23"):
        history.record("ana", subject)
        clock.advance(1)
    history.record("bia", "QQQ0Q00")
    assert asked(history, "ana") == ["ABC1D23", "XYZ9A99"]
    assert asked(history, "bia") == ["QQQ0Q00"]
    assert asked(history, "caio") == []


def test_it_is_gone_after_thirty_days_whether_or_not_anybody_asks(
    history: History, engine: Engine, clock: Clock
) -> None:
    history.record("ana", "ABC1D23")
    clock.advance(30 * DAY + 1)
    assert asked(history, "ana") == []
    history.drop_expired()
    assert rows(engine) == 0


def test_erasing_is_for_oneself_and_forgetting_for_a_vehicle(history: History) -> None:
    for who in ("ana", "bia"):
        for subject in ("ABC1D23", "XYZ9A99"):
            history.record(who, subject)
    history.forget("ABC1D23")
    assert asked(history, "ana") == asked(history, "bia") == ["XYZ9A99"]
    history.erase("ana")
    assert asked(history, "ana") == []
    assert asked(history, "bia") == ["XYZ9A99"]


def test_dropped_and_erased_entries_leave_no_byte_in_any_file(tmp_path: Path, clock: Clock) -> None:
    engine = kept_open(None, tmp_path)
    history = History(engine, SECRET, lambda subject: f"tag-of-{subject}", clock)

    def sealed() -> list[bytes]:
        with engine.connect() as db:
            return list(db.execute(select(table.c.sealed)).scalars())

    def left(traces: list[bytes]) -> list[bytes]:
        kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
        return [trace for trace in traces if trace in kept]

    for who in ("ana", "bia", "caio"):
        history.record(who, "QZX7K39")
    all_of_them = sealed()
    assert left(all_of_them) == all_of_them
    history.erase("ana")
    assert len(left(all_of_them)) == 2
    history.forget("QZX7K39")
    assert left(all_of_them) == []
    history.record("ana", "XYZ9A99")
    all_of_them = sealed()
    clock.advance(30 * DAY + 1)
    history.drop_expired()
    assert left(all_of_them) == []


def test_history_whose_bytes_a_reader_keeps_is_not_said_to_be_erased(
    tmp_path: Path, clock: Clock
) -> None:
    history = History(kept_open(None, tmp_path), SECRET, lambda subject: f"tag-of-{subject}", clock)
    history.record("ana", "QZX7K39")
    with closing(sqlite3.connect(tmp_path / "portal.sqlite", isolation_level=None)) as backup:
        backup.execute("BEGIN")
        backup.execute("SELECT count(*) FROM history").fetchone()
        with pytest.raises(HistoryUnavailable):
            history.erase("ana")
        with pytest.raises(BytesKept):
            history.drop_expired()
    assert asked(history, "ana") == []
    history.erase("ana")
    history.drop_expired()


def test_one_visit_noted_by_a_crowd_is_one_entry_and_a_purge_meanwhile_ends(
    history: History, engine: Engine
) -> None:
    """A browser asks for three panels at once, on PostgreSQL at several machines."""

    def visit(number: int) -> None:
        history.record("ana", ("ABC1D23", "XYZ9A99")[number % 2])
        if number % 7 == 0:
            history.forget("XYZ9A99")

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(visit, range(60)))
    history.record("ana", "ABC1D23")
    history.forget("XYZ9A99")
    assert asked(history, "ana") == ["ABC1D23"]
    assert rows(engine) == 1


def test_the_files_name_no_plate_and_another_key_reads_nothing(
    history: History, engine: Engine, clock: Clock, tmp_path: Path
) -> None:
    history.record("ana", "QZX7K39")
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"QZX7K39" not in kept
    assert asked(History(engine, b"t" * 32, str, clock), "ana") == []


def test_a_person_sees_and_erases_what_they_asked(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    ana = Person.at(here).signed_in(PORTAL_TOKEN)
    bia = Person.at(here).signed_in(issue(here, "bia"))
    ana.pages.get("/placa/QZX7K39")
    assert "QZX7K39" in ana.pages.get("/").html
    assert "QZX7K39" not in bia.pages.get("/").html
    assert "QZX7K39" not in Person.at(here).pages.get("/").html
    assert ana.post("/historico/apagar").status_code == 303
    assert "QZX7K39" not in ana.pages.get("/").html


def test_in_the_demonstration_each_browser_has_its_own(portal: PortalFactory) -> None:
    here = portal({})
    one, other = Person.at(here), Person.at(here)
    one.pages.get("/placa/ABC1D23")
    assert one.pages.get("/").all("form", action="/historico/apagar") != []
    assert other.pages.get("/").all("form", action="/historico/apagar") == []
