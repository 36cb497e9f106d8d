"""Data that portal.access stores: expiry, order and length of lists, derived names."""

from sqlalchemy import update

from portal.access.history import LISTED, History
from portal.access.sealing import decrypt
from portal.access.tokens import DEMO_TOKEN, REMEMBERED_S, Gatekeeper, digest
from portal.storage.database import Database
from portal.storage.tables import history as history_table
from tests.fakes import Clock
from tests.fakes.one_tenant import subject_keys, tokens_in

SECRET = b"s" * 32
DAY = 86_400.0
SCOPES_OF_TWO = frozenset({"decode", "renainf"})


def history_on(database: Database, clock: Clock) -> History:
    return History(database, subject_keys(SECRET, lambda subject: f"tag-of-{subject}"), clock)


def test_expiry_keeps_entries_younger_than_thirty_days(database: Database, clock: Clock) -> None:
    history = history_on(database, clock)
    history.record("ana", "ABC1D23")
    clock.advance(20 * DAY)
    history.record("ana", "XYZ9A99")
    clock.advance(11 * DAY)
    history.drop_expired()
    assert [entry.subject for entry in history.recent("ana")] == ["XYZ9A99"]


def test_history_lists_a_bounded_number_of_entries(database: Database, clock: Clock) -> None:
    history = history_on(database, clock)
    for number in range(LISTED + 3):
        history.record("ana", f"ABC1D{number:02}")
        clock.advance(1)
    assert len(history.recent("ana")) == LISTED


def test_history_skips_an_unreadable_entry_and_lists_those_behind_it(
    database: Database, clock: Clock
) -> None:
    history = history_on(database, clock)
    for subject in ("ABC1D23", "BRK1E23", "XYZ9A99"):
        history.record("ana", subject)
        clock.advance(1)
    broken = history_table.c.subject == "tag-of-BRK1E23"
    with database.engine.begin() as db:
        db.execute(update(history_table).where(broken).values(sealed=b"of another key"))
    assert [entry.subject for entry in history.recent("ana")] == ["XYZ9A99", "ABC1D23"]


def test_tokens_are_listed_by_age_with_all_their_scopes(database: Database, clock: Clock) -> None:
    tokens = tokens_in(database, (), clock)
    for name in ("zeta", "alfa", "miolo"):
        tokens.issue(name, SCOPES_OF_TWO, None, 0)
        clock.advance(1)
    assert [each.name for each in tokens.listed()] == ["zeta", "alfa", "miolo"]
    assert {each.scopes for each in tokens.listed()} == {SCOPES_OF_TWO}


def test_identity_carries_the_digest_for_rate_limits(database: Database) -> None:
    tokens = tokens_in(database, ("configured-token",))
    issued = digest(tokens.issue("script", SCOPES_OF_TWO, None, 0))
    assert tokens.identify(issued).digest == issued
    configured = digest("configured-token")
    assert tokens.identify(configured).digest == configured
    gatekeeper = Gatekeeper("demo", tokens, SECRET)
    assert gatekeeper.visitor().digest == digest(DEMO_TOKEN)


def test_identify_uses_its_cached_row_within_the_time_to_live(database: Database) -> None:
    monotonic_clock = Clock(1000.0)
    tokens = tokens_in(database, (), monotonic=monotonic_clock)
    known = digest(tokens.issue("script", SCOPES_OF_TWO, None, 0))
    tokens.identify(known)
    tokens_in(database, ()).revoke("script")  # as another process would
    monotonic_clock.advance(REMEMBERED_S - 0.1)
    assert tokens.identify(known).name == "script"


def test_pass_through_callers_have_no_daily_limit(database: Database) -> None:
    identity = Gatekeeper("pass-through", tokens_in(database, ()), SECRET).authenticate("alice")
    assert identity.daily_limit == 0
    assert identity.credential == "alice"
    assert len(identity.name) == len("credential:") + 12


def test_derived_names_and_sealed_texts_match_golden_values(database: Database) -> None:
    """Another derivation would make the data stored under these names unreachable."""
    gatekeeper = Gatekeeper("pass-through", tokens_in(database, ()), SECRET)
    assert gatekeeper.authenticate("alice").digest == GOLDEN_NAME
    purpose = b"session|upstream:a"
    assert decrypt(SECRET, purpose, GOLDEN_SEALED) == b"alice"
    assert decrypt(b"another" * 5, purpose, GOLDEN_SEALED) is None
    assert decrypt(SECRET, b"session|upstream:b", GOLDEN_SEALED) is None


GOLDEN_NAME = "4daa3294834061786c333366fe5d60d8bb46ad109fec07b1ca090f56bbe14a23"
GOLDEN_SEALED = (
    b"gAAAAABrAmfMK_jPgOF_-dWyOf-UkUgx4x7bJaZ7jMk272pUNmRqX1mkXOC8"
    b"C3FDdd54qpIvUHOYukUe3IzXbmfCG76gAvH4fQ=="
)
