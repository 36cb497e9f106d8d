"""Lists: what becomes a batch, and why another list is refused."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from portal.access.idempotency import KeyReused
from portal.access.tokens import Identity
from portal.batch.model import UnknownBatch
from portal.desk.caller import Caller
from portal.desk.lists import ListProblem, ListRefused, Lists
from portal.factory import Portal
from portal.presentation.list_refusals import refusal_sentence
from portal.settings import Settings
from portal.vehicle.operation_name import LOOKUPS

LIMIT = 3
PLATES = "ABC1D23\nABC1D24"


def caller(owner: str) -> Caller:
    return Caller.of_token(Identity(owner, owner, owner, frozenset(LOOKUPS)))


@pytest.fixture
def portal(tmp_path: Path) -> Iterator[Portal]:
    env = {"PORTAL_DATA_DIR": str(tmp_path), "PORTAL_BATCH_LIMIT": str(LIMIT)}
    with closing(Portal(Settings.from_environment(env), bytes(32))) as built:
        yield built


@pytest.fixture
def lists(portal: Portal) -> Lists:
    return portal.desk(caller("ana")).lists


def problem_of(lists: Lists, text: str, *, ask: bool = True, may_tick: bool = False) -> ListProblem:
    with pytest.raises(ListRefused) as refused:
        listed = lists.read(text, text.encode() if text.startswith("%") else b"")
        lists.draft(listed, LOOKUPS if ask else (), may_tick=may_tick)
    assert refusal_sentence(refused.value)
    assert lists.all() == []
    return refused.value.problem


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty"),
        ("nada", "empty"),
        ("ABC1D2", "empty"),
        ("ABC1D23 ABC1D24 ABC1D25 ABC1D26", "too_long"),
        ("%PDF-1.7", "binary"),
    ],
)
def test_refused_list_stores_nothing(lists: Lists, text: str, problem: ListProblem) -> None:
    assert problem_of(lists, text) == problem


def test_list_without_lookups_is_refused(lists: Lists) -> None:
    assert problem_of(lists, PLATES, ask=False) == "nothing_asked"


def test_too_long_list_says_both_numbers(lists: Lists) -> None:
    with pytest.raises(ListRefused) as refused:
        lists.check(lists.read("ABC1D23 ABC1D24 ABC1D25 ABC1D26"), LOOKUPS)
    assert refusal_sentence(refused.value) == "São 4 placas; um lote tem no máximo 3."


def test_doubtful_entries_alone_need_somebody_who_can_tick(lists: Lists) -> None:
    listed = lists.read("A8C1D23")
    assert not listed.subjects
    assert any(entry.suggestion for entry in listed.wrong)
    with pytest.raises(ListRefused):
        lists.check(listed, LOOKUPS)
    lists.check(listed, LOOKUPS, may_tick=True)


def test_too_many_drafts_are_refused(lists: Lists, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("portal.batch.batches.MOST_DRAFTS", 1)
    first = lists.draft(lists.read(PLATES), LOOKUPS)
    with pytest.raises(ListRefused, match="too_many_drafts"):
        lists.draft(lists.read(PLATES), LOOKUPS)
    assert [batch.id for batch in lists.all()] == [first]
    lists.draft(lists.read(PLATES), LOOKUPS, replaced=first)


def test_repeated_key_returns_the_first_batch(lists: Lists) -> None:
    listed = lists.read(PLATES)
    first = lists.draft(listed, LOOKUPS, key="k", content=b"1")
    assert lists.draft(listed, LOOKUPS, key="k", content=b"1") == first
    with pytest.raises(KeyReused):
        lists.draft(listed, LOOKUPS, key="k", content=b"2")


def test_ticked_rows_replace_a_draft(lists: Lists) -> None:
    draft = lists.draft(lists.read(PLATES), LOOKUPS)
    assert lists.tick(draft, ["ABC1D23", "ABC1D24"]) == ""
    changed = lists.tick(draft, ["ABC1D24"])
    assert [item.subject.text for item in lists.items(changed)] == ["ABC1D24"]
    with pytest.raises(UnknownBatch):
        lists.get(draft)


def test_another_caller_has_no_such_batch(portal: Portal, lists: Lists) -> None:
    draft, other = lists.draft(lists.read(PLATES), LOOKUPS), portal.desk(caller("bia")).lists
    for attempt in (other.get, other.items, other.start, other.pause, other.discard, other.priced):
        with pytest.raises(UnknownBatch):
            attempt(draft)
    assert lists.get(draft).state == "draft"
