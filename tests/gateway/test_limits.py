"""How little is left of a limit, and what several limits allow together."""

from decimal import Decimal

import pytest

from portal.gateway.limits import Allowance, Limit, Period, Strain, Use, strain_of

PRICES = ("0.30", "0.95")


@pytest.mark.parametrize(
    ("period", "used", "prices", "strain"),
    [
        *(("day", "0", PRICES, None), ("day", "7", PRICES, None), ("day", "8", PRICES, "near")),
        # A limit of calls refuses none for its price.
        *(("day", "9.5", PRICES, "near"), ("day", "10", PRICES, "spent")),
        *(("day", "11", PRICES, "spent"), ("month", "11", (), "spent")),
        *(("month", "7.99", PRICES, None), ("month", "8", PRICES, "near")),
        *(("month", "9.05", PRICES, "near"), ("month", "9.06", PRICES, "refusing")),
        *(("month", "9.71", PRICES, "refusing"), ("total", "10", PRICES, "spent")),
        # No budget of R$ 10 ever paid a report of R$ 17, and one of reports alone pays nothing.
        *(("month", "0", ("0.30", "17"), None), ("month", "0", ("17",), "refusing")),
        *(("month", "0", ("0.30", "10"), None), ("month", "0.01", ("0.30", "10"), "refusing")),
        *(("month", "7.99", (), None), ("month", "8", (), "near")),
    ],
)
def test_strain_of_a_limit_of_ten(
    period: Period, used: str, prices: tuple[str, ...], strain: Strain | None
) -> None:
    use = Use(Limit("token", "token:ana", period, Decimal(10)), Decimal(used), None)
    assert strain_of(use, [*map(Decimal, prices)]) == strain


@pytest.mark.parametrize(
    ("day", "token", "left"), [(3, 2, 2), (2, 3, 2), (0, 3, 0), (None, 3, 3), (None, None, None)]
)
def test_allowance_is_what_each_limit_allows(
    day: int | None, token: int | None, left: int | None
) -> None:
    assert Allowance(day, token, 60.0).left == left
