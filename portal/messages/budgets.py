"""Tells of a month's budget at 80 % and when it is spent, each once a month."""

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
        self._written: set[str] = set()  # saves a statement for each further refused call

    def taken(
        self,
        db: Connection,
        limit: Limit,
        caller: Identity,
        used: Decimal,
        price: Decimal,
        seconds: float,
    ) -> None:
        """Write of a budget that this call has brought to 80 % or used up, in its transaction."""
        before, line = used - price, limit.most * WARNED_AT
        if before < line <= used:
            for message in _messages("budget.warned", limit, caller, used, seconds):
                self._outbox.add(db, message)
        if before < limit.most <= used:
            for message in _messages("budget.spent", limit, caller, used, seconds):
                self._outbox.add(db, message)

    def refused(
        self, limit: Limit, caller: Identity, used: Callable[[], Decimal], seconds: float
    ) -> None:
        """Write of a budget that has not enough left for a call. Raises SQLAlchemyError.

        ``used`` reads what is used of it.
        """
        key = f"{limit.payer} {period_of(limit.period, seconds)}"
        if key in self._written:
            return
        for message in _messages("budget.spent", limit, caller, used(), seconds):
            self._outbox.write(message)
        self._written.add(key)


def _messages(
    kind: MessageType, limit: Limit, caller: Identity, used: Decimal, seconds: float
) -> list[Message]:
    is_own = limit.scope != "portal"
    last_day = ends_at("month", seconds) - timedelta(days=1)
    data = {
        "scope": limit.scope,
        "token": caller.name if is_own else "",
        "budget": str(limit.most),
        "used": str(used),
        "month": f"{last_day:%Y-%m}",
        "ends_on": f"{last_day:%d/%m/%Y}",
    }
    key = f"{kind}:{limit.payer}:{period_of('month', seconds)}"
    recipients = [OPERATOR, caller.owner] if is_own else [OPERATOR]
    return [Message(kind, key, data, each) for each in recipients]
