"""Each visitor's history: private, encrypted, erasable, deleted after thirty days."""

import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import func, select

from portal.access.history import History
from portal.access.sealing import SubjectKeys
from portal.storage.database import Database
from portal.storage.tables import history as table
from portal.system.erasure import BytesKept
from tests.conftest import PortalFactory
from tests.fakes import Clock, FaultUpstream
from tests.fakes.databases import PostgresProcess, kept_open, opened
from tests.fakes.forgetting import forget
from tests.fakes.in_process import PORTAL_TOKEN
from tests.fakes.one_tenant import subject_keys
from tests.web.json_paths import issue
from tests.web.person import Person
from tests.web.test_query_plans import statements

DAY = 86_400.0
SECRET = b"s" * 32


@pytest.fixture
def history(database: Database, clock: Clock) -> History:
    return History(database, subject_keys(SECRET, lambda subject: f"tag-of-{hash(subject)}"), clock)


def rows(database: Database) -> int:
    with database.engine.connect() as db:
        return int(db.execute(select(func.count()).select_from(table)).scalar_one())


def subjects_of(history: History, visitor: str) -> list[str]:
    return [entry.subject for entry in history.recent(visitor)]


def test_recent_lists_own_subjects_once_latest_first(history: History, clock: Clock) -> None:
    for subject in ("ABC1D23", "XYZ9A99", "ABC1D23"):
        history.record("ana", subject)
        clock.advance(1)
    history.record("bia", "QQQ0Q00")
    assert subjects_of(history, "ana") == ["ABC1D23", "XYZ9A99"]
    assert subjects_of(history, "bia") == ["QQQ0Q00"]
    assert subjects_of(history, "caio") == []


def test_entries_expire_and_are_deleted_after_thirty_days(
    history: History, database: Database, clock: Clock
) -> None:
    history.record("ana", "ABC1D23")
    clock.advance(30 * DAY + 1)
    assert subjects_of(history, "ana") == []
    history.drop_expired()
    assert rows(database) == 0


@pytest.mark.long
@pytest.mark.slow
def test_expiry_reads_no_whole_table_of_postgresql(postgres: PostgresProcess) -> None:
    """PostgreSQL expects 1,000 expired entries, and would rather read all 100,000."""
    full = f"""
        INSERT INTO history (visitor, subject, asked_at, sealed)
        SELECT repeat('v', 64), n, {time.time()} - 29 * 86400.0 * n / 100000, repeat('s', 99)::bytea
        FROM generate_series(1, 100000) n"""
    expired = "UPDATE history SET asked_at = 1.0 WHERE id <= 20"
    with opened(postgres.new_database(), Path()) as database:
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as db:
            # Filling the table may take longer than the portal's own statements may.
            for statement in ("SET statement_timeout = 0", full, "VACUUM ANALYZE history", expired):
                db.exec_driver_sql(statement)
            db.exec_driver_sql("RESET statement_timeout")
        with statements() as seen:
            History(database, subject_keys(SECRET, str)).drop_expired()
        assert 99_900 < rows(database) < 100_000
        with database.engine.begin() as db:
            db.exec_driver_sql(expired.replace("<= 20", "BETWEEN 21 AND 40"))
            for statement, parameters in seen.items():
                plan = db.exec_driver_sql(f"EXPLAIN {statement}", parameters).scalars().all()
                assert "Seq Scan" not in "".join(plan), statement


def test_erase_covers_one_visitor_and_forget_one_vehicle(
    history: History, database: Database
) -> None:
    for visitor in ("ana", "bia"):
        for subject in ("ABC1D23", "XYZ9A99"):
            history.record(visitor, subject)
    forget(database, history, "ABC1D23")
    assert subjects_of(history, "ana") == subjects_of(history, "bia") == ["XYZ9A99"]
    history.erase("ana")
    assert subjects_of(history, "ana") == []
    assert subjects_of(history, "bia") == ["XYZ9A99"]


def test_expired_and_erased_entries_leave_no_byte_in_any_file(tmp_path: Path, clock: Clock) -> None:
    database = kept_open(None, tmp_path)
    history = History(database, subject_keys(SECRET, lambda subject: f"tag-of-{subject}"), clock)

    def sealed() -> list[bytes]:
        with database.engine.connect() as db:
            return list(db.execute(select(table.c.sealed)).scalars())

    def left(traces: list[bytes]) -> list[bytes]:
        kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
        return [trace for trace in traces if trace in kept]

    for visitor in ("ana", "bia", "caio"):
        history.record(visitor, "QZX7K39")
    sealed_entries = sealed()
    assert left(sealed_entries) == sealed_entries
    history.erase("ana")
    assert len(left(sealed_entries)) == 2
    forget(database, history, "QZX7K39")
    database.erase_deleted()
    assert left(sealed_entries) == []
    history.record("ana", "XYZ9A99")
    sealed_entries = sealed()
    clock.advance(30 * DAY + 1)
    history.drop_expired()
    database.erase_deleted()
    assert left(sealed_entries) == []


def test_erase_raises_while_a_reader_prevents_byte_removal(tmp_path: Path, clock: Clock) -> None:
    history = History(
        kept_open(None, tmp_path), subject_keys(SECRET, lambda subject: f"tag-of-{subject}"), clock
    )
    history.record("ana", "QZX7K39")
    with closing(sqlite3.connect(tmp_path / "portal.sqlite", isolation_level=None)) as backup:
        backup.execute("BEGIN")
        backup.execute("SELECT count(*) FROM history").fetchone()
        with pytest.raises(BytesKept):
            history.erase("ana")
    assert subjects_of(history, "ana") == []
    history.erase("ana")


@pytest.mark.long
@pytest.mark.slow
def test_visit_at_the_same_time_loses_no_note(
    postgres: PostgresProcess, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other request inserts its row after the note's UPDATE has found none."""
    encrypt = SubjectKeys.encrypt
    with opened(postgres.new_database(), Path()) as database:
        history = History(database, subject_keys(SECRET, str), clock)

        def encrypt_late(keys: SubjectKeys, purpose: bytes, content: bytes) -> bytes:
            if content == b"ABC1D23":
                monkeypatch.setattr(SubjectKeys, "encrypt", encrypt)
                with ThreadPoolExecutor(1) as visit:
                    visit.submit(history.record, "ana", "ABC1D23").result()
            return encrypt(keys, purpose, content)

        monkeypatch.setattr(SubjectKeys, "encrypt", encrypt_late)
        history.annotate("ana", "ABC1D23", ("ver na sexta", ""))
        assert history.notes("ana", ["ABC1D23"]) == {"ABC1D23": ("ver na sexta", "")}
        assert rows(database) == 1


def test_concurrent_records_and_purges_leave_one_entry(
    history: History, database: Database
) -> None:
    """A page requests three panels at once, and several machines may serve them."""

    def visit(number: int) -> None:
        history.record("ana", ("ABC1D23", "XYZ9A99")[number % 2])
        if number % 7 == 0:
            forget(database, history, "XYZ9A99")

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(visit, range(60)))
    history.record("ana", "ABC1D23")
    forget(database, history, "XYZ9A99")
    assert subjects_of(history, "ana") == ["ABC1D23"]
    assert rows(database) == 1


def test_history_is_encrypted_under_the_secret_key(
    history: History, database: Database, clock: Clock, tmp_path: Path
) -> None:
    history.record("ana", "QZX7K39")
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"QZX7K39" not in kept
    assert subjects_of(History(database, subject_keys(b"t" * 32, str), clock), "ana") == []


def test_home_page_shows_and_erases_only_own_history(
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


def test_demonstration_keeps_one_history_per_browser(portal: PortalFactory) -> None:
    here = portal({})
    one, other = Person.at(here), Person.at(here)
    one.pages.get("/placa/ABC1D23")
    assert one.pages.get("/").all("form", action="/historico/apagar") != []
    assert other.pages.get("/").all("form", action="/historico/apagar") == []


def test_visitor_may_keep_the_history_for_ninety_days(
    history: History, database: Database, clock: Clock
) -> None:
    for visitor in ("ana", "bia"):
        history.record(visitor, "ABC1D23")
    history.keep_for("ana", 90)
    history.record("ana", "XYZ9A99")  # later entries follow the choice
    assert (history.kept_days("ana"), history.kept_days("bia")) == (90, 30)
    clock.advance(31 * DAY)
    history.drop_expired()
    assert rows(database) == 2
    assert sorted(subjects_of(history, "ana")) == ["ABC1D23", "XYZ9A99"]
    assert subjects_of(history, "bia") == []
    clock.advance(60 * DAY)
    history.drop_expired()
    assert rows(database) == 0


def test_what_was_last_seen_is_encrypted_and_forgotten_with_the_entry(
    history: History, database: Database
) -> None:
    history.keep_sight("ana", "ABC1D23", b"seen")  # without an entry there is nothing to keep it in
    assert rows(database) == 0
    history.record("ana", "ABC1D23")
    history.keep_sight("ana", "ABC1D23", b"seen")
    assert history.sights("ana", ["ABC1D23", "XYZ9A99"]) == {"ABC1D23": b"seen"}
    assert history.sights("bia", ["ABC1D23"]) == {}
    with database.engine.connect() as db:
        assert b"seen" not in (db.execute(select(table.c.sealed_sight)).scalar_one() or b"")
    forget(database, history, "ABC1D23")
    assert history.sights("ana", ["ABC1D23"]) == {}
