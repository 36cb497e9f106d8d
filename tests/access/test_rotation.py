"""Tokens that are changed and replaced, without loss of what their owner has stored."""

import math
from decimal import Decimal

import pytest

from portal.access.tokens import SCOPES, RefusedToken, TokenChange, digest
from portal.storage.database import Database
from tests.fakes import Clock
from tests.fakes.one_tenant import ledger_of, tokens_in
from tests.gateway.ledgers import buy

DAY = 86_400.0


def test_new_token_has_the_owner_and_the_terms_of_the_former_one(
    database: Database, clock: Clock
) -> None:
    tokens = tokens_in(database, (), clock, clock)
    former = digest(tokens.issue("ana", frozenset({"decode"}), 30 * DAY, 7, Decimal(60)))
    before = tokens.identify(former)
    clock.advance(20 * DAY)
    replaced = tokens.rotate("ana", DAY)
    assert replaced is not None
    after = tokens.identify(digest(replaced))
    assert (after.name, after.owner, after.scopes) == ("ana", before.owner, before.scopes)
    assert (after.daily_limit, after.monthly_budget) == (7, Decimal(60))
    assert tokens.identify(former).name == "ana"  # both work, under one name
    clock.advance(DAY)
    with pytest.raises(RefusedToken):
        tokens.identify(former)
    clock.advance(28 * DAY)
    assert tokens.identify(digest(replaced)).name == "ana"
    clock.advance(DAY)
    with pytest.raises(RefusedToken):
        tokens.identify(digest(replaced))


def test_token_that_leaked_ends_at_once(database: Database, clock: Clock) -> None:
    tokens = tokens_in(database, (), clock, clock)
    former = digest(tokens.issue("ana", SCOPES, None, 0))
    for _ in range(3):
        tokens.rotate("ana", 0.0)
    with pytest.raises(RefusedToken):
        tokens.identify(former)
    assert [each.name for each in tokens.listed()] == ["ana#1", "ana#2", "ana#3", "ana"]


def test_both_tokens_share_one_limit_until_the_former_one_ends(
    database: Database, clock: Clock
) -> None:
    tokens = tokens_in(database, (), clock, clock)
    former = tokens.identify(digest(tokens.issue("ana", SCOPES, None, 3)))
    later = tokens.identify(digest(tokens.rotate("ana", DAY) or ""))
    ledger = ledger_of(database, clock=clock)
    buy(ledger, former)
    buy(ledger, later)
    assert ledger.allowance(former).token == ledger.allowance(later).token == 1


def test_change_keeps_the_owner_and_renews_an_expired_token(
    database: Database, clock: Clock
) -> None:
    tokens = tokens_in(database, (), clock, clock)
    known = digest(tokens.issue("ana", SCOPES, DAY, 0))
    owner = tokens.identify(known).owner
    clock.advance(2 * DAY)
    assert tokens.change("ana", TokenChange(frozenset({"stored"}), DAY, 5, Decimal("9.50")))
    found = tokens.identify(known)
    assert (found.owner, found.scopes, found.daily_limit) == (owner, frozenset({"stored"}), 5)
    assert found.monthly_budget == Decimal("9.50")
    assert tokens.change("ana", TokenChange(lifetime_s=math.inf))
    assert tokens.listed()[0].expires_at is None


def test_revoked_or_unknown_token_cannot_be_changed_or_replaced(
    database: Database, clock: Clock
) -> None:
    tokens = tokens_in(database, (), clock, clock)
    tokens.issue("ana", SCOPES, None, 0)
    tokens.revoke("ana")
    for name in ("ana", "nobody"):
        assert not tokens.change(name, TokenChange(daily_limit=1))
        assert tokens.rotate(name, DAY) is None
