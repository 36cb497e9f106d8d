"""A replaced answer is kept for comparison until its retention ends."""

from pathlib import Path

import pytest

from portal.access.tokens import Identity
from portal.gateway.backend import Outcome
from portal.gateway.lookup import Served, Spend
from portal.upstream.protocol import Response
from tests import factories
from tests.fakes import Clock
from tests.gateway.gateways import CALLER, FRESH_S, STALE_S, Bench, as_caller, bench, decode

OLD = factories.decode_body("ABC1D23", combustivel="Gasolina")
NEW = factories.decode_body("ABC1D23", combustivel="Flex")


@pytest.fixture
def made(tmp_path: Path, clock: Clock) -> Bench:
    return bench(tmp_path, clock)


def answer(made: Bench, body: bytes) -> None:
    """Advance the clock by 10 s, then refresh with this body from the upstream."""
    made.clock.advance(10)
    made.upstream.answer = Response(200, body, "primary")
    made.decode(directive=Spend.AGAIN)


def previous(made: Bench, caller: Identity) -> Served | None:
    return made.gateway.previous(made.gateway.read(decode(), caller))


def test_first_answer_has_no_previous_answer(made: Bench) -> None:
    answer(made, OLD)
    assert previous(made, CALLER) is None


def test_replaced_answer_keeps_its_fetch_time(made: Bench) -> None:
    answer(made, OLD)
    fetched_at = made.clock()
    answer(made, NEW)
    kept = previous(made, CALLER)
    assert kept is not None
    assert (kept.body, kept.fetched_at) == (OLD, fetched_at)
    assert made.decode().body == NEW


def test_equal_answer_does_not_change_previous_answer(made: Bench) -> None:
    for body in (OLD, NEW, NEW):
        answer(made, body)
    kept = previous(made, CALLER)
    assert kept is not None and kept.body == OLD


def test_previous_answer_expires_by_its_own_retention(made: Bench) -> None:
    answer(made, OLD)
    fetched_at = made.clock()
    made.clock.advance(FRESH_S + STALE_S - 100)
    answer(made, NEW)
    assert previous(made, CALLER) is not None
    made.clock.advance(fetched_at + FRESH_S + STALE_S - made.clock())
    assert previous(made, CALLER) is None
    assert made.decode().body == NEW


def test_failure_and_rejection_do_not_change_previous_answer(made: Bench) -> None:
    answer(made, OLD)
    made.clock.advance(10)
    made.upstream.answer = Response(400, factories.message_body("Não."), "primary")
    made.decode(directive=Spend.AGAIN)
    assert previous(made, CALLER) is None


def test_purge_removes_previous_answer(made: Bench) -> None:
    answer(made, OLD)
    answer(made, NEW)
    assert made.purge("ABC1D23") == 2
    made.store.erase_deleted()
    assert previous(made, CALLER) is None
    assert OLD not in (b"".join(path.read_bytes() for path in _files(made)))


@pytest.mark.parametrize("write", [1, 2])
def test_purge_during_replacement_removes_previous_answer(
    made: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: int
) -> None:
    """Another process purges after the first or the second of the two writes."""
    other = bench(tmp_path, made.clock)
    answer(made, OLD)
    replace, written = made.backend.replace, []

    def replace_beside_a_purge(*given: object) -> Outcome:
        written.append(given[0])
        kept = replace(*given)  # type: ignore[arg-type]
        if len(written) == write:
            other.purge("ABC1D23")
        return kept

    monkeypatch.setattr(made.backend, "replace", replace_beside_a_purge)
    answer(made, NEW)
    assert len(written) == 2
    made.store.tick()
    assert previous(made, CALLER) is None


def _files(made: Bench) -> list[Path]:
    folder = Path(made.sqlite._path).parent
    return [path for path in folder.iterdir() if path.is_file()]


def test_pass_through_previous_answer_is_not_shared(tmp_path: Path, clock: Clock) -> None:
    made = bench(tmp_path, clock, operator_credential=None)
    mine, theirs = as_caller("me", credential="mine"), as_caller("them", credential="theirs")
    for body in (OLD, NEW):
        made.clock.advance(10)
        made.upstream.answer = Response(200, body, "primary")
        made.gateway.fetch(decode(), mine, Spend.AGAIN)
    assert previous(made, mine) is not None
    assert previous(made, theirs) is None
