"""Tokens on SQLite, and on PostgreSQL where a server is available."""

import hashlib
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import update

from portal.access import tokens as tokens_module
from portal.access.tokens import (
    SCOPES,
    Gatekeeper,
    NameTaken,
    RefusedToken,
    Tokens,
    UnknownToken,
    digest,
)
from portal.gateway.ledger import Ledger
from portal.storage.database import Database
from portal.storage.tables import tokens as table
from tests.fakes import Clock
from tests.fakes.databases import kept_open
from tests.fakes.one_tenant import tokens_in
from tests.gateway.ledgers import buy

HOUR = 3600.0
DECODE = frozenset({"decode"})
SECRET = b"the portal's own"
NAMES = (("live", None), ("revoked", None), ("expired", -1.0))  # name and lifetime in seconds


def test_issued_token_has_256_random_bits_and_is_not_listed(database: Database) -> None:
    tokens = tokens_in(database, ())
    issued = [tokens.issue(f"script-{number}", DECODE, None, 0) for number in range(20)]
    assert len(set(issued)) == 20
    for token in issued:
        assert re.fullmatch(r"[A-Za-z0-9_-]{43}", token)
    assert not any(token in repr(tokens.listed()) for token in issued)


def test_issued_token_identifies_name_scopes_and_limit(database: Database) -> None:
    tokens = tokens_in(database, ())
    identity = tokens.identify(digest(tokens.issue("script", DECODE, HOUR, 7)))
    assert (identity.name, identity.scopes, identity.daily_limit) == ("script", DECODE, 7)
    assert identity.has_scope("decode")
    assert not identity.has_scope("report")


def test_token_expires_at_its_expiry_time(database: Database, clock: Clock) -> None:
    tokens = tokens_in(database, (), clock)
    known = digest(tokens.issue("trial", DECODE, HOUR, 0))
    clock.advance(HOUR - 0.5)
    assert tokens.identify(known).name == "trial"
    clock.advance(0.5)
    with pytest.raises(RefusedToken):
        tokens.identify(known)


def test_revocation_by_another_process_is_seen_in_two_seconds(
    database: Database, clock: Clock
) -> None:
    tokens = tokens_in(database, (), clock, clock)
    elsewhere = tokens_in(database, (), clock, clock)
    known = digest(tokens.issue("leaver", DECODE, None, 0))
    assert tokens.identify(known).name == "leaver"
    assert elsewhere.revoke("leaver")
    clock.advance(2)
    with pytest.raises(RefusedToken):
        tokens.identify(known)


def test_token_issued_by_another_process_is_accepted(database: Database, clock: Clock) -> None:
    tokens = tokens_in(database, (), clock, clock)
    with pytest.raises(UnknownToken):
        tokens.identify(digest("not yet"))
    token = tokens_in(database, (), clock, clock).issue("new", DECODE, None, 0)
    assert tokens.identify(digest(token)).name == "new"


def test_name_of_a_revoked_token_cannot_be_reused(database: Database) -> None:
    tokens = tokens_in(database, ())
    tokens.issue("script", DECODE, None, 0)
    assert tokens.revoke("script")
    assert not tokens.revoke("script")
    assert not tokens.revoke("nobody")
    with pytest.raises(NameTaken):
        tokens.issue("script", DECODE, None, 0)


def test_concurrent_issues_of_one_name_succeed_once(database: Database) -> None:
    tokens = tokens_in(database, ())

    def issue(_: int) -> int:
        try:
            return len(tokens.issue("wanted", DECODE, None, 0)) and 1
        except NameTaken:
            return 0

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(issue, range(16))) == 1
    assert [each.name for each in tokens.listed()] == ["wanted"]


def test_tokens_are_listed_in_issue_order_with_their_validity(
    database: Database, clock: Clock
) -> None:
    tokens = tokens_in(database, (), clock)
    for name in ("b", "a", "c"):
        tokens.issue(name, DECODE, None, 0)
        clock.advance(1)
    tokens.revoke("a")
    assert [(each.name, each.state(clock())) for each in tokens.listed()] == [
        ("b", "valid"),
        ("a", "revoked"),
        ("c", "valid"),
    ]


def test_token_cache_is_bounded_for_unknown_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tokens_module.MOST_CACHED <= 10_000
    monkeypatch.setattr(tokens_module, "MOST_CACHED", 100)  # low: each token costs a database read
    tokens = tokens_in(kept_open(None, tmp_path), ())
    for number in range(150):
        with pytest.raises(UnknownToken):
            tokens.identify(f"{number:064x}")
        assert 0 < len(tokens._cached) <= 100


def test_configured_tokens_have_all_scopes(tmp_path: Path) -> None:
    tokens = tokens_in(kept_open(None, tmp_path), ("one", "two"))
    assert tokens.identify(digest("two")).scopes == SCOPES
    assert tokens.identify(digest("one")).name != tokens.identify(digest("two")).name
    with pytest.raises(UnknownToken):
        tokens.identify("two")  # the token itself, not its digest


def test_demo_token_is_valid_only_in_demo_mode(tmp_path: Path) -> None:
    tokens = tokens_in(kept_open(None, tmp_path), ())
    assert Gatekeeper("demo", tokens, SECRET).authenticate("demo").name == "demo"
    assert not Gatekeeper("demo", tokens, SECRET).authenticate("demo").has_scope("admin")
    with pytest.raises(UnknownToken):
        Gatekeeper("managed", tokens, SECRET).authenticate("demo")


def test_pass_through_identity_repr_hides_the_credential(tmp_path: Path) -> None:
    tokens = tokens_in(kept_open(None, tmp_path), ())
    identity = Gatekeeper("pass-through", tokens, SECRET).authenticate("the-callers-own")
    assert identity.credential == "the-callers-own"
    assert "the-callers-own" not in repr(identity)
    assert not identity.has_scope("admin")


def test_pass_through_identity_is_a_keyed_hash(tmp_path: Path) -> None:
    tokens = tokens_in(kept_open(None, tmp_path), ())
    mine = Gatekeeper("pass-through", tokens, SECRET).authenticate("123456")
    again = Gatekeeper("pass-through", tokens, SECRET).authenticate("123456")
    assert (mine.name, mine.digest) == (again.name, again.digest)
    for other in (
        Gatekeeper("pass-through", tokens, b"another portal's").authenticate("123456"),
        Gatekeeper("pass-through", tokens, SECRET).authenticate("123457"),
    ):
        assert other.name != mine.name
        assert other.digest != mine.digest
    # Brute force could find a short credential from a digest that uses no key.
    for name in hashlib.algorithms_guaranteed - {"shake_128", "shake_256"}:
        guessed = hashlib.new(name, b"123456", usedforsecurity=False).hexdigest()
        assert mine.name.removeprefix("credential:") not in guessed
        assert mine.digest != guessed


def test_pass_through_refuses_issued_tokens_of_any_namespace(database: Database) -> None:
    """A portal token must not be disclosed to an upstream."""
    elsewhere = Tokens(database, (), namespace="elsewhere")
    tokens = [elsewhere.issue(name, DECODE, lifetime, 0) for name, lifetime in NAMES]
    elsewhere.revoke("revoked")
    gatekeeper = Gatekeeper("pass-through", Tokens(database, (), namespace="here"), SECRET)
    for token in tokens:
        with pytest.raises(UnknownToken):
            gatekeeper.authenticate(token)
    assert gatekeeper.authenticate("an-upstreams-own").credential == "an-upstreams-own"


def test_token_of_another_namespace_is_unknown(database: Database) -> None:
    here, there = Tokens(database, (), namespace="here"), Tokens(database, (), namespace="there")
    token = digest(here.issue("ana", frozenset({"decode"}), None, 0))
    elsewhere = digest(there.issue("ana", frozenset({"report"}), None, 0))
    assert here.identify(token).scopes == {"decode"}
    with pytest.raises(UnknownToken):
        here.identify(elsewhere)
    assert there.revoke("ana")
    assert here.identify(token).name == "ana"
    with pytest.raises(UnknownToken):
        here.identify(elsewhere)
    with pytest.raises(RefusedToken):
        Tokens(database, (), namespace="there").identify(elsewhere)


def test_overview_has_a_page_of_valid_tokens_and_those_that_need_attention(
    database: Database, clock: Clock
) -> None:
    tokens = tokens_in(database, (), clock)
    for name, days in (("a", 5), ("b", 9), ("c", None), ("d", 1), ("e", 2), ("f", 30)):
        tokens.issue(name, SCOPES, days and days * 86400.0, daily_limit=1)
    tokens.revoke("f")
    clock.advance(1.5 * 86400)
    ledger = Ledger(database, clock=clock, namespace=tokens.listed()[0].namespace)
    (limited,) = [each for each in tokens.listed() if each.name == "c"]
    buy(ledger, replace(limited.identity, daily_limit=1))
    found = tokens.overview("", 2, 9, 4 * 86400.0, 9)
    assert [each.name for each in found.valid] == ["a", "b"]
    assert [each.name for each in found.ended] == ["d", "f"]  # the last to end comes first
    assert [each.name for each in found.full] == ["c"]
    assert [each.name for each in found.ending] == ["e", "a"]
    assert [each.name for each in tokens.overview("b", 9, 1, 0, 9).valid] == ["c", "e"]
    clock.advance(86400)
    assert tokens.overview("", 9, 1, 0, 9).full == []


def test_data_of_an_owner_outlives_a_token(database: Database, clock: Clock) -> None:
    """A batch whose token has ended goes on with a later token of the same owner."""
    tokens = tokens_in(database, ("configured",), clock)
    first = tokens.identify(digest(tokens.issue("ana", SCOPES, None, 0)))
    clock.advance(1)
    second = tokens.identify(digest(tokens.issue("ana-2", frozenset({"decode"}), None, 0)))
    assert len({first.owner, first.digest, second.owner}) == 3
    with database.writing() as db:
        db.execute(update(table).where(table.c.name == "ana-2").values(owner=first.owner))
    assert tokens.identify_owner(first.owner).name == "ana-2"
    assert tokens.revoke("ana-2")
    assert tokens.identify_owner(first.owner) == first
    assert tokens.revoke("ana")
    with pytest.raises(RefusedToken):
        tokens.identify_owner(first.owner)
    with pytest.raises(UnknownToken):
        tokens.identify_owner(second.owner)
    assert tokens.identify_owner(digest("configured")).owner == digest("configured")


def test_token_that_was_issued_before_owners_owns_its_data(
    database: Database, clock: Clock
) -> None:
    tokens = tokens_in(database, (), clock)
    token_digest = digest(tokens.issue("ana", SCOPES, None, 0))
    with database.writing() as db:
        db.execute(update(table).values(owner=None))
    assert tokens.identify(token_digest).owner == token_digest
    assert tokens.identify_owner(token_digest).digest == token_digest
