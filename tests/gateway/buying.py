"""Calls bought of a ledger without an upstream, and how they read in it."""

from decimal import Decimal

from portal.gateway import Caller, Ledger
from tests.gateway.asking import CALLER


def buy(book: Ledger, caller: Caller = CALLER, outcome: str | None = "answered") -> None:
    attempt = book.account("decode", "tag", Decimal("0.30"), caller).announce("primary")
    if outcome is not None:
        attempt.ended(outcome, 200 if outcome == "answered" else None)


def spent(book: Ledger) -> list[str]:
    return [row.outcome for row in book.rows()]
