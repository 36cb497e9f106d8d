"""Calls bought of a ledger without an upstream, and how they read in it."""

from decimal import Decimal

from portal.gateway import Caller, Ledger
from portal.gateway.ledger import LedgerEntry
from tests.gateway.gateways import CALLER


def announced(book: Ledger, caller: Caller = CALLER) -> LedgerEntry:
    return book.account("decode", "tag", Decimal("0.30"), caller).announce("primary")


def buy(
    book: Ledger, caller: Caller = CALLER, outcome: str | None = "answered", status: int = 200
) -> None:
    attempt = announced(book, caller)
    if outcome is not None:
        attempt.ended(outcome, status if outcome == "answered" else None)


def spent(book: Ledger) -> list[str]:
    return [row.outcome for row in book.rows()]
