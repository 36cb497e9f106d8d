"""An unknown amount is never 0."""

from decimal import Decimal

import pytest

from portal.amounts import amount_of, amount_text, total


@pytest.mark.parametrize("amount", [None, Decimal(0), Decimal("0.30"), Decimal("0.00")])
def test_text_of_an_amount_gives_the_amount(amount: Decimal | None) -> None:
    assert amount_of(amount_text(amount)) == amount


def test_former_versions_read_an_unknown_amount_as_zero() -> None:
    assert Decimal(amount_text(None)) == 0


def test_sum_with_an_unknown_amount_is_unknown() -> None:
    assert total([Decimal(1), Decimal(2)]) == 3
    assert total([Decimal(1), None]) is None
    assert total([]) == 0
