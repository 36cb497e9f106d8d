"""What a caller saw of a vehicle, for tests of what differs since."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from portal.law.last_seen import SeenFine, Sight

START = datetime(2026, 11, 20, 12, tzinfo=UTC)
FINE = SeenFine("enforceable", Decimal("130.16"))
NOTICE = SeenFine("notice", Decimal("195.23"))
PRICE = (Decimal(89957), Decimal(89957))


def sight(minutes: float = 0, **parts: object) -> Sight:
    known = {"level": "caution", "fines": {"a": FINE}, "orders": ["o"], "price": PRICE} | parts
    return Sight(START + timedelta(minutes=minutes), **known)  # type: ignore[arg-type]
