"""An order and fines of which a verdict is made, on the day TODAY."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

from portal.law.assessment import AssessedFine
from tests.law.records import TODAY, fine, restriction

TJMG = restriction(
    "TRANSFERENCIA",
    court="TJMG-TRIBUNAL DE JUSTICA DE MINAS GERAIS",
    included_at=datetime.fromisoformat("2025-10-23T10:00:00"),
)


def assessed(**given_fields: Any) -> AssessedFine:
    values: dict[str, Any] = {
        "code": "7455",
        "amount": Decimal(130),
        "committed_on": date(2026, 5, 1),
    }
    return AssessedFine(fine(**values | given_fields), TODAY)


ENFORCEABLE = assessed(penalty_on=date(2026, 8, 1))
NOTICE = assessed(notified_on=date(2026, 5, 20))
PAID = assessed(paid_on=date(2026, 6, 1))
