"""Tokens: who one turns out to be, on SQLite and on PostgreSQL where a server is at hand."""

import hashlib
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Engine

from portal.access import (
    SCOPES,
    Gatekeeper,
    NameTaken,
    RefusedToken,
    Tokens,
    UnknownToken,
    digest,
)
from tests.fakes import Clock
from tests.fakes.databases import kept_open

HOUR = 3600.0
DECODE = frozenset({"decode"})
SECRET = b"the portal's own"
NAMES = (("live", None), ("revoked", None), ("expired", -1.0))  # with their lifetimes


def test_a_token_is_256_random_bits_and_told_once(engine: Engine) -> None:
    tokens = Tokens(engine, ())
    made = [tokens.issue(f"script-{number}", DECODE, None, 0) for number in range(20)]
    assert len(set(made)) == 20
    for token in made:
        assert re.fullmatch(r"[A-Za-z0-9_-]{43}", token)
    assert not any(token in repr(tokens.listed()) for token in made)


def test_an_issued_token_is_its_name_scopes_and_limit(engine: Engine) -> None:
    tokens = Tokens(engine, ())
    identity = tokens.identify(digest(tokens.issue("script", DECODE, HOUR, 7)))
    assert (identity.name, identity.scopes, identity.daily_limit) == ("script", DECODE, 7)
    assert identity.has_scope("decode")
    assert not identity.has_scope("report")


def test_a_token_expires_at_its_second(engine: Engine, clock: Clock) -> None:
    tokens = Tokens(engine, (), clock)
    known = digest(tokens.issue("trial", DECODE, HOUR, 0))
    clock.advance(HOUR - 0.5)
    assert tokens.identify(known).name == "trial"
    clock.advance(0.5)
    with pytest.raises(RefusedToken):
        tokens.identify(known)


def test_a_revocation_elsewhere_is_seen_within_two_seconds(engine: Engine, clock: Clock) -> None:
    tokens = Tokens(engine, (), clock, clock)
    elsewhere = Tokens(engine, (), clock, clock)
    known = digest(tokens.issue("leaver", DECODE, None, 0))
    assert tokens.identify(known).name == "leaver"
    assert elsewhere.revoke("leaver")
    clock.advance(2)
    with pytest.raises(RefusedToken):
        tokens.identify(known)


def test_a_token_issued_elsewhere_is_known_within_two_seconds(engine: Engine, clock: Clock) -> None:
    tokens = Tokens(engine, (), clock, clock)
    with pytest.raises(UnknownToken):
        tokens.identify(digest("not yet"))
    token = Tokens(engine, (), clock, clock).issue("new", DECODE, None, 0)
    assert tokens.identify(digest(token)).name == "new"


def test_a_name_is_given_once_even_after_its_revocation(engine: Engine) -> None:
    tokens = Tokens(engine, ())
    tokens.issue("script", DECODE, None, 0)
    assert tokens.revoke("script")
    assert not tokens.revoke("script")
    assert not tokens.revoke("nobody")
    with pytest.raises(NameTaken):
        tokens.issue("script", DECODE, None, 0)


def test_a_name_that_several_issue_at_once_is_given_to_one(engine: Engine) -> None:
    tokens = Tokens(engine, ())

    def issue(_: int) -> int:
        try:
            return len(tokens.issue("wanted", DECODE, None, 0)) and 1
        except NameTaken:
            return 0

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(issue, range(16))) == 1
    assert [each.name for each in tokens.listed()] == ["wanted"]


def test_tokens_are_listed_in_the_order_of_their_issue(engine: Engine, clock: Clock) -> None:
    tokens = Tokens(engine, (), clock)
    for name in ("b", "a", "c"):
        tokens.issue(name, DECODE, None, 0)
        clock.advance(1)
    tokens.revoke("a")
    assert [(each.name, each.holds(clock())) for each in tokens.listed()] == [
        ("b", True),
        ("a", False),
        ("c", True),
    ]


def test_a_flood_of_wrong_tokens_does_not_grow_the_memory(tmp_path: Path) -> None:
    tokens = Tokens(kept_open(None, tmp_path), ())
    for number in range(10_050):
        with pytest.raises(UnknownToken):
            tokens.identify(f"{number:064x}")
    assert len(tokens._cached) <= 10_000


def test_configured_tokens_may_do_everything(tmp_path: Path) -> None:
    tokens = Tokens(kept_open(None, tmp_path), ("one", "two"))
    assert tokens.identify(digest("two")).scopes == SCOPES
    assert tokens.identify(digest("one")).name != tokens.identify(digest("two")).name
    with pytest.raises(UnknownToken):
        tokens.identify("two")  # a digest is not the token


def test_the_demo_token_is_nobody_outside_the_demonstration(tmp_path: Path) -> None:
    tokens = Tokens(kept_open(None, tmp_path), ())
    assert Gatekeeper("demo", tokens, SECRET).admit("demo").name == "demo"
    assert not Gatekeeper("demo", tokens, SECRET).admit("demo").has_scope("admin")
    with pytest.raises(UnknownToken):
        Gatekeeper("managed", tokens, SECRET).admit("demo")


def test_pass_through_keeps_the_credential_out_of_sight(tmp_path: Path) -> None:
    tokens = Tokens(kept_open(None, tmp_path), ())
    identity = Gatekeeper("pass-through", tokens, SECRET).admit("the-callers-own")
    assert identity.credential == "the-callers-own"
    assert "the-callers-own" not in repr(identity)
    assert not identity.has_scope("admin")


def test_a_callers_own_credential_cannot_be_told_by_guessing(tmp_path: Path) -> None:
    tokens = Tokens(kept_open(None, tmp_path), ())
    mine = Gatekeeper("pass-through", tokens, SECRET).admit("123456")
    again = Gatekeeper("pass-through", tokens, SECRET).admit("123456")
    assert (mine.name, mine.digest) == (again.name, again.digest)
    for other in (
        Gatekeeper("pass-through", tokens, b"another portal's").admit("123456"),
        Gatekeeper("pass-through", tokens, SECRET).admit("123457"),
    ):
        assert other.name != mine.name
        assert other.digest != mine.digest
    # Every unkeyed digest of a short credential would be found by trying them all.
    for name in hashlib.algorithms_guaranteed - {"shake_128", "shake_256"}:
        guessed = hashlib.new(name, b"123456", usedforsecurity=False).hexdigest()
        assert mine.name.removeprefix("credential:") not in guessed
        assert mine.digest != guessed


def test_pass_through_refuses_issued_tokens_of_any_namespace(engine: Engine) -> None:
    """They are credentials of the portal: sent upstream they would be given away."""
    elsewhere = Tokens(engine, (), namespace="elsewhere")
    tokens = [elsewhere.issue(name, DECODE, lifetime, 0) for name, lifetime in NAMES]
    elsewhere.revoke("revoked")
    gatekeeper = Gatekeeper("pass-through", Tokens(engine, (), namespace="here"), SECRET)
    for token in tokens:
        with pytest.raises(UnknownToken):
            gatekeeper.admit(token)
    assert gatekeeper.admit("an-upstreams-own").credential == "an-upstreams-own"
