"""Sums of calls and of answers without one."""

from decimal import Decimal

import pytest

from portal.gateway.usage import CallFailures, Usage, merged

FIRST = Usage(calls=2, known_spent=Decimal(1), hits=3, stale=4, collapsed=5, known_saved=Decimal(7))
MORE = Usage(calls=1, known_spent=Decimal(1), hits=1, unpriced_calls=1, unpriced_hits=1)
BOTH = Usage(3, Decimal(2), 4, 4, 5, Decimal(7), 1, 1)


def test_sums_are_added_and_taken_apart() -> None:
    assert merged([FIRST, MORE]) == BOTH
    assert BOTH.without(MORE) == FIRST
    assert (FIRST.free, FIRST.lookups) == (12, 14)


def test_sum_with_an_unknown_price_is_unknown() -> None:
    assert (FIRST.spent, FIRST.saved) == (Decimal(1), Decimal(7))
    assert (BOTH.spent, BOTH.saved) == (None, None)


@pytest.mark.parametrize(
    ("outcome", "is_free"), [("not_sent", True), ("circuit_open", True), ("timed_out", False)]
)
def test_call_that_was_not_sent_is_free(outcome: str, is_free: bool) -> None:
    assert CallFailures(outcome, None, "primary", 1, 0.0).is_free is is_free
