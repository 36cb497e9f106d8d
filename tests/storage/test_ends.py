"""What was ended is noted, and ends again in a database that was restored."""

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from sqlalchemy import delete, insert, select

from portal.access.calendar_addresses import CalendarAddresses, CalendarOwner
from portal.access.declarations import Declarations
from portal.access.history import History
from portal.access.own_sessions import UserAgent
from portal.access.people import People
from portal.access.tokens import SCOPES, TokenChange
from portal.batch.batches import Batches
from portal.batch.model import QuotedItem
from portal.batch.typed_list import read_strings
from portal.issued.archive import DossierArchive
from portal.issued.identifiers import new_identifiers
from portal.issued.model import IssuedSnapshot
from portal.messages.channels import Addresses, Channels
from portal.storage.database import Database
from portal.storage.ends import KEPT_S, End, Ends, EndsCopier
from portal.storage.ends_file import EndsFile
from portal.storage.tables import ends as ends_table
from portal.storage.tables import metadata
from portal.vehicle.plate import parse_subject
from tests.access.test_people import claims, company
from tests.fakes import Clock
from tests.fakes.one_tenant import subject_keys, tokens_in

AGENT: Final = UserAgent("firefox", "linux")
SECRET: Final = b"s" * 32
FIRST, SECOND = "ABC1D23", "LMP0A01"
OWNER, OTHER = "owner", "other"
DATABASE = "0123456789abcdef"
Rows = dict[str, list[dict[str, Any]]]


class Store:
    """The parts whose rows end, with what each has before the backup."""

    def __init__(self, database: Database, clock: Clock) -> None:
        keys = subject_keys(SECRET, lambda subject: f"tag-of-{subject}")
        self.database = database
        self.tokens = tokens_in(database, (), clock, clock)
        self.people: People = company(database, clock)
        self.calendar = CalendarAddresses(database, keys, clock)
        self.channels = Channels(database, keys, Addresses())
        self.history = History(database, keys, clock=clock)
        self.declarations = Declarations(database, keys, clock=clock)
        self.dossiers = DossierArchive(database, keys, lifetime_s=10**6, proof_s=10**6, clock=clock)
        self.batches = Batches(database, keys, lambda _: 3600.0, clock=clock)
        self.ends = Ends(database, clock)
        self.person = self.people.meet(claims("vendas"))
        for name in ("ana", "bia"):
            self.tokens.issue(name, SCOPES, None, 9)
        for owner in (OWNER, OTHER):
            self.calendar.make(CalendarOwner(owner, owner))
            self.channels.change(owner, "ana@loja.example", None)
            for subject in (FIRST, SECOND):
                self.history.record(owner, subject)
                self.declarations.put(owner, subject, {"line": b"{}", "kept": b"{}"})
        self.numbers = []
        for _ in range(2):
            snapshot = IssuedSnapshot(plate=FIRST, caller="ana", summary="{}")
            identifiers = new_identifiers()
            self.dossiers.issue(OWNER, identifiers, snapshot, "html", None, last_purge=0)
            self.numbers.append(identifiers.number)
        items = [QuotedItem(parse_subject(FIRST), is_stored=False, at_most=None)]
        self.drafts = [
            self.batches.create(OWNER, ("decode",), items, read_strings([FIRST])) for _ in range(3)
        ]
        clock.advance(60)

    def rows(self) -> Rows:
        """Return all rows, but those of the ends themselves."""
        with self.database.reading() as db:
            return {
                table.name: [dict(row) for row in db.execute(select(table)).mappings()]
                for table in metadata.sorted_tables
                if table is not ends_table
            }

    def restore(self, rows: Rows) -> list[End]:
        """Make the database what it was, and return the ends that a journal has of later."""
        journal = self.ends.since(0)
        with self.database.writing() as db:
            db.execute(delete(ends_table))
            for table in metadata.sorted_tables:
                if table is not ends_table:
                    db.execute(delete(table))
                    if rows[table.name]:
                        db.execute(insert(table), rows[table.name])
        return journal

    def apply(self, ends: list[End]) -> dict[Any, int]:
        with self.database.writing() as db:
            return dict(self.ends.apply(db, self.ends.lacking(ends)))


@pytest.fixture
def store(database: Database, clock: Clock) -> Store:
    return Store(database, clock)


NARROWER: Final = frozenset({"decode"})
ACTS: Final[dict[str, tuple[str, Callable[[Store], object]]]] = {
    "revoked token": ("token", lambda store: store.tokens.revoke("ana")),
    "scope taken": (
        "token",
        lambda store: store.tokens.change("ana", TokenChange(frozenset({"decode"}))),
    ),
    "limit lowered": (
        "token",
        lambda store: store.tokens.change("ana", TokenChange(daily_limit=1)),
    ),
    "end brought forward": (
        "token",
        lambda store: store.tokens.change("ana", TokenChange(lifetime_s=60.0)),
    ),
    "sessions": ("sessions", lambda store: store.people.end_sessions(store.person.id)),
    "calendar": ("calendar", lambda store: store.calendar.revoke(OWNER)),
    "addresses": ("channels", lambda store: store.channels.change(OWNER, "", None)),
    "history": ("history", lambda store: store.history.erase(OWNER)),
    "entry of a history": ("history", lambda store: store.history.erase(OWNER, FIRST)),
    "declaration": (
        "declaration",
        lambda store: store.declarations.put(OWNER, FIRST, {"line": None}),
    ),
    "dossier": ("dossier", lambda store: store.dossiers.revoke(store.numbers[0])),
    "draft": ("draft", lambda store: store.batches.discard(store.drafts[0], OWNER)),
    "batch": ("batch", lambda store: store.batches.cancel(store.drafts[1], OWNER)),
}


@pytest.mark.parametrize(("kind", "act"), ACTS.values(), ids=ACTS)
def test_restored_database_is_as_the_act_had_left_it(
    store: Store, kind: str, act: Callable[[Store], object]
) -> None:
    before = store.rows()
    act(store)
    after = store.rows()
    assert before != after
    journal = store.restore(before)
    assert store.rows() == before
    assert store.apply(journal) == {kind: 1}
    assert store.rows() == after
    assert store.apply(journal) == {}
    assert store.rows() == after


def test_rotated_token_ends_when_it_was_to_end(store: Store) -> None:
    """Regression: a restore gave the former token its whole lifetime back."""
    before = store.rows()
    assert store.tokens.rotate("ana", 60.0)
    (former,) = [each for each in store.tokens.listed() if each.name == "ana#1"]
    journal = store.restore(before)
    assert store.apply(journal) == {"token": 1}
    assert former in store.tokens.listed()
    assert {each.name for each in store.tokens.listed()} == {"ana#1", "bia"}
    store.tokens.issue("ana", SCOPES, None, 0)  # the new token is lost, and its name is free


def test_single_session_that_was_ended_is_over_with_the_others(store: Store) -> None:
    """Their list is encrypted, and the person signs in again."""
    one, other = (store.people.open_session(store.person.id, AGENT) for _ in range(2))
    before = store.rows()
    assert store.people.end_session(store.person.id, one.id)
    journal = store.restore(before)
    assert store.apply(journal) == {"session": 1}
    ((sessions,),) = [(row["sealed_sessions"],) for row in store.rows()["people"]]
    assert sessions is None
    assert not store.people.end_session(store.person.id, other.id)


def test_what_was_written_after_the_restore_stays(store: Store, clock: Clock) -> None:
    before = store.rows()
    store.history.erase(OWNER)
    store.calendar.revoke(OWNER)
    store.tokens.change("ana", TokenChange(daily_limit=1))
    store.declarations.put(OWNER, FIRST, {"line": None})
    journal = store.restore(before)
    clock.advance(1)
    store.history.record(OWNER, FIRST)
    key = store.calendar.make(CalendarOwner(OWNER, OWNER))
    store.tokens.change("ana", TokenChange(daily_limit=7))
    store.declarations.put(OWNER, FIRST, {"line": b"{}"})
    before = store.rows()
    store.apply(journal)
    assert store.calendar.of(OWNER) == key
    assert {each.name: each.daily_limit for each in store.tokens.listed()}["ana"] == 7
    after = store.rows()
    assert after["declarations"] == before["declarations"]
    assert len(before["history"]) - len(after["history"]) == 1


def test_nothing_is_noted_where_nothing_ends(store: Store) -> None:
    store.history.erase("nobody")
    store.calendar.revoke("nobody")
    store.channels.change("nobody", "a@loja.example", None)
    store.tokens.revoke("nobody")
    store.dossiers.revoke("000000000000")
    noted = {each.kind for each in store.ends.since(0)}
    assert noted == set()


def test_no_key_of_a_row_is_noted(store: Store, tmp_path: Path) -> None:
    """Otherwise a purge, which leaves no byte of them, would have to rewrite every journal."""
    for _, act in ACTS.values():
        act(store)
    before = store.rows()
    file = EndsFile(tmp_path / "ends.jsonl", DATABASE)
    file.add(store.ends.since(0))
    written = (tmp_path / "ends.jsonl").read_text()
    keys = {
        *(f"tag-of-{subject}" for subject in (FIRST, SECOND)),
        *store.numbers,
        *store.drafts,
        *(row[name] for row in before["history"] for name in ("visitor", "subject")),
        *(row["owner"] for row in before["declarations"]),
        *(row["digest"] for row in before["access_tokens"]),
    }
    assert [key for key in keys if key in written] == []


@pytest.fixture
def file(tmp_path: Path, clock: Clock) -> EndsFile:
    return EndsFile(tmp_path / "ends.jsonl", DATABASE, clock)


def test_copier_copies_each_end_once(store: Store, file: EndsFile, tmp_path: Path) -> None:
    copiers = [EndsCopier(store.ends, lambda: [file]) for _ in range(2)]  # of two processes
    for copier in copiers:
        copier.run()
    assert file.read() == []
    store.tokens.revoke("ana")
    for copier in copiers:
        copier.run()
    store.tokens.revoke("bia")
    for copier in (*copiers, EndsCopier(store.ends, lambda: [file])):
        copier.run()
    assert file.read() == store.ends.since(0)
    assert len((tmp_path / "ends.jsonl").read_text().splitlines()) == 2
    assert (tmp_path / "ends.jsonl").stat().st_mode & 0o777 == 0o600


def test_what_a_journal_refuses_is_copied_later_and_to_the_others_at_once(
    store: Store, file: EndsFile, caplog: pytest.LogCaptureFixture
) -> None:
    class Full:
        name = f"a full disk {secrets.token_hex(4)}"  # a warning is repeated once a minute
        is_full = True
        ends: list[End] = []

        def read(self) -> list[End]:
            return self.ends

        def add(self, ends: list[End]) -> None:
            if self.is_full:
                raise OSError(28, "No space left on device")
            self.ends += ends

    full = Full()
    copier = EndsCopier(store.ends, lambda: [full, file])  # type: ignore[list-item]
    store.tokens.revoke("ana")
    copier.run()
    assert f"not copied to {full.name}: OSError, ENOSPC" in caplog.text
    assert file.read() == store.ends.since(0)
    full.is_full = False
    copier.run()
    assert full.ends == store.ends.since(0)


def test_journal_of_another_database_is_not_read(
    store: Store, file: EndsFile, tmp_path: Path
) -> None:
    store.tokens.revoke("ana")
    other = EndsFile(tmp_path / "ends.jsonl", "another")
    other.add(store.ends.since(0))
    assert file.read() == []
    file.add(store.ends.since(0)[:0])
    assert len(other.read()) == 1


def test_ends_are_kept_as_long_as_a_backup_may_be_older(
    store: Store, file: EndsFile, clock: Clock
) -> None:
    store.tokens.revoke("ana")
    journal = store.ends.since(0)
    file.add(journal)
    clock.advance(KEPT_S + 1)
    store.tokens.revoke("bia")
    store.ends.drop_expired()
    assert [each.kind for each in store.ends.since(0)] == ["token"]
    assert store.ends.lacking(journal) == []
    file.add(store.ends.since(0))
    assert file.read() == store.ends.since(0)


def test_unreadable_line_of_a_later_version_is_skipped(
    store: Store, file: EndsFile, tmp_path: Path
) -> None:
    store.tokens.revoke("ana")
    file.add(store.ends.since(0))
    with (tmp_path / "ends.jsonl").open("a") as text:
        text.write('{"database":"0123456789abcdef","end":{"kind":"unheard of"}}\nnot JSON\n')
    assert file.read() == store.ends.since(0)
