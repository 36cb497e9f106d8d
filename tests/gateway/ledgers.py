"""Helpers that write ledger rows of calls, without an upstream."""

from decimal import Decimal

from portal.access.tokens import Identity
from portal.gateway.ledger import Ledger, LedgerEntry
from tests.gateway.gateways import CALLER


def begin_call(ledger: Ledger, caller: Identity = CALLER) -> LedgerEntry:
    return LedgerEntry(ledger, "decode", "tag", Decimal("0.30"), caller).begin("primary")


def buy(
    ledger: Ledger, caller: Identity = CALLER, outcome: str | None = "answered", status: int = 200
) -> None:
    attempt = begin_call(ledger, caller)
    if outcome is not None:
        attempt.finish(outcome, status if outcome == "answered" else None)


def spent(ledger: Ledger) -> list[str]:
    return [row.outcome for row in ledger.rows()]
