"""Tells of a month's budget at 80 % and when it is spent, each once a month and amount.

A budget that the operator has raised is another one to warn of.
"""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

from sqlalchemy import Connection

from portal.access.tokens import Identity
from portal.gateway.limits import WARNED_AT, Limit
from portal.gateway.reservation import ends_at, period_of
from portal.messages.outbox import OPERATOR, Message, MessageType, Outbox


class BudgetMessages:
    """Writes the messages on budgets. The operator and, on its own budget, the owner get them."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._written: set[str] = set()  # saves a statement for each further call

    def taken(
        self, db: Connection, limit: Limit, caller: Identity, used: Decimal, seconds: float
    ) -> None:
        """Write of a budget of which 80 % are used, or all, in the transaction of the call."""
        if used >= limit.most * WARNED_AT:
            self._add(db, "budget.warned", limit, caller, used, seconds)
        if used >= limit.most:
            self._add(db, "budget.spent", limit, caller, used, seconds)

    def refused(
        self, limit: Limit, caller: Identity, used: Callable[[], Decimal], seconds: float
    ) -> None:
        """Write of a budget that has not enough left for a call. Raises SQLAlchemyError.

        ``used`` reads what is used of it.
        """
        key = _key("budget.spent", limit, seconds)
        if key in self._written:
            return
        for message in _messages("budget.spent", limit, caller, used(), seconds):
            self._outbox.write(message)
        self._written.add(key)

    def _add(
        self,
        db: Connection,
        kind: MessageType,
        limit: Limit,
        caller: Identity,
        used: Decimal,
        seconds: float,
    ) -> None:
        key = _key(kind, limit, seconds)
        if key in self._written:
            return
        messages = _messages(kind, limit, caller, used, seconds)
        # A message that is new here is only certain once the transaction has ended.
        inserted = [self._outbox.add(db, message) for message in messages]
        if not any(inserted):
            self._written.add(key)


def _key(kind: MessageType, limit: Limit, seconds: float) -> str:
    return f"{kind}:{limit.payer}:{period_of('month', seconds)}:{limit.most.normalize():f}"


def _messages(
    kind: MessageType, limit: Limit, caller: Identity, used: Decimal, seconds: float
) -> list[Message]:
    is_own = limit.scope != "portal"
    last_day = ends_at("month", seconds) - timedelta(days=1)
    data = {
        "scope": limit.scope,
        "token": caller.name if is_own else "",
        "budget": float(limit.most),
        "used": float(used),
        "month": f"{last_day:%Y-%m}",
        "ends_on": last_day.date().isoformat(),
    }
    key = _key(kind, limit, seconds)
    recipients = [OPERATOR, caller.owner] if is_own else [OPERATOR]
    return [Message(kind, key, data, recipient) for recipient in recipients]
