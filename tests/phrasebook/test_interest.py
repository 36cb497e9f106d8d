"""The words of a fine's interest: which months it has, and whether it is a minimum."""

from datetime import date
from decimal import Decimal

import pytest

from portal.law.interest import interest_on
from portal.phrasebook.interest import words

DUE_ON = date(2026, 3, 10)


@pytest.mark.parametrize(
    ("paid_on", "said"),
    [
        (date(2026, 3, 11), "1% a mais"),
        (date(2026, 5, 1), "Selic de abr/2026 e 1%"),
        (date(2026, 6, 1), "Selic de abr/2026 a mai/2026 e 1%"),
        (date(2026, 11, 28), "Selic até set/2026 e 1%"),
    ],
)
def test_interest_is_said_with_its_months(paid_on: date, said: str) -> None:
    found = interest_on(Decimal("195.23"), DUE_ON, paid_on)
    assert found is not None
    assert f", {said}, se venceu em " in words(found)
    assert words(found).startswith("ao menos ") is found.is_minimum is ("até" in said)
