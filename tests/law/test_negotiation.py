"""A price ceiling (the price less fines and costs) uses known amounts only."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from portal.law.assessment import AssessedFine, Totals, totals
from portal.law.negotiation import SHARES, Cost, negotiate
from portal.vehicle.fines import read_fines
from portal.vehicle.wire import result_of
from tests.factories import HIDDEN, fine, renainf_body

TODAY = date(2026, 11, 20)


def owed(*records: dict[str, object]) -> Totals:
    fines = read_fines(result_of(renainf_body(*records)), HIDDEN)
    return totals([AssessedFine(one, TODAY) for one in fines])


def test_ceiling_is_price_less_fines_less_costs() -> None:
    sums = negotiate(
        Decimal("89325.00"),
        owed(fine(), fine()),
        [Cost("Transferência", Decimal("350.10")), Cost("Reparos", Decimal(1200))],
    )
    assert [(s.share, s.fines, s.ceiling) for s in sums.scenarios] == [
        (100, Decimal("260.32"), Decimal("87514.58")),
        (80, Decimal("208.26"), Decimal("87566.64")),
        (60, Decimal("156.20"), Decimal("87618.70")),
    ]
    assert sums.unknown == ()


def test_missing_price_or_fines_gives_no_ceiling() -> None:
    for price, fines, unknown in (
        (None, owed(), ("price",)),
        (Decimal(1000), None, ("fines",)),
        (None, None, ("price", "fines")),
    ):
        sums = negotiate(price, fines)
        assert sums.unknown == unknown
        assert [scenario.ceiling for scenario in sums.scenarios] == [None, None, None]


def test_no_fines_leave_the_full_price() -> None:
    assert negotiate(Decimal(1000), owed()).scenario(60).ceiling == Decimal(1000)


def test_fines_without_an_amount_are_counted() -> None:
    sums = negotiate(Decimal(1000), owed(fine(valor="", codigoInfracao="")))
    assert sums.fines_without_amount == 1
    assert sums.scenario(100).ceiling == Decimal(1000)


def test_enforceable_fines_have_no_discount() -> None:
    sums = negotiate(Decimal(1000), owed(fine(dataEmissaoPenalidade="01/12/2025"), fine()))
    assert sums.fines_past_discount == 1


def test_deductions_above_the_price_give_a_negative_ceiling() -> None:
    assert negotiate(Decimal(100), owed(fine())).scenario(100).ceiling == Decimal("-30.16")


MONEY = st.decimals(0, 10**7, places=2)


@given(MONEY, MONEY, st.lists(MONEY, max_size=5))
def test_ceilings_add_up_and_rise_with_the_discount(
    price: Decimal, amount: Decimal, costs: list[Decimal]
) -> None:
    fines = replace(owed(), amount=amount, amount_at_80=amount * 4 / 5, amount_at_60=amount * 3 / 5)
    sums = negotiate(price, fines, [Cost("x", cost) for cost in costs])
    ceilings = []
    for share in SHARES:
        one = sums.scenario(share)
        assert one.fines is not None and one.ceiling is not None
        assert one.ceiling + one.fines + sum(costs) == price
        ceilings.append(one.ceiling)
    assert ceilings == sorted(ceilings)
