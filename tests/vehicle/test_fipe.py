"""Price series: codes, points, gaps and changes."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.vehicle.decode import FipeEntry, PricePoint
from portal.vehicle.field import EMPTY, Field
from portal.vehicle.fipe import PriceSeries, fipe_code

TODAY = date(2026, 11, 21)


def known(text: str) -> Field:
    return Field(text, "known")


def entry(*months: PricePoint, fipe_id: str = "81906", current: str | None = None) -> FipeEntry:
    return FipeEntry(
        year=2015,
        year_text=known("2015"),
        fipe_id=known(fipe_id) if fipe_id else EMPTY,
        make=EMPTY,
        model=EMPTY,
        version=EMPTY,
        fuel=EMPTY,
        current=Decimal(current) if current else None,
        current_text=EMPTY,
        sent_history=[
            {
                "ano": str(point.month.year),
                "mes": str(point.month.month),
                "valor": str(point.value),
                "predicao": point.predicted,
            }
            for point in months
        ],
    )


def month(year: int, number: int, value: int, *, predicted: bool = False) -> PricePoint:
    return PricePoint(date(year, number, 1), Decimal(value), predicted)


@pytest.mark.parametrize(
    "code",
    [
        *("001004-9", "001003-0", "004386-9", "005094-6", "005238-8", "008190-6", "038003-2"),
        *("801002-1", "840015-6", "501034-9"),
    ],
)
def test_code_without_zeros_and_hyphen_is_restored(code: str) -> None:
    bare = fipe_code(known(code.replace("-", "").lstrip("0")))
    assert bare is not None
    assert (bare.text, bare.is_verified) == (code, True)
    assert fipe_code(known(code)) == bare


def test_wrong_check_digit_is_not_verified() -> None:
    code = fipe_code(known("81907"))
    assert code is not None
    assert (code.text, code.is_verified) == ("008190-7", False)


@pytest.mark.parametrize("text", ["", "0", "abc", "12345678", "81 906", "٨١٩٠٦"])
def test_text_without_a_code_gives_none(text: str) -> None:
    assert fipe_code(known(text)) is None


def test_disorder_and_duplicates_are_handled() -> None:
    series = PriceSeries.of(
        entry(
            month(2025, 3, 120),
            month(2025, 1, 100),
            month(2025, 1, 90, predicted=True),
            month(2025, 4, 110, predicted=True),
            month(2025, 4, 115),
        ),
        TODAY,
    )
    assert [(p.month.month, int(p.value), p.predicted) for p in series.points] == [
        (1, 100, False),
        (3, 120, False),
        (4, 115, False),
    ]
    assert series.gaps == (date(2025, 2, 1),)


def test_changes_use_real_prices_only() -> None:
    months = [month(2024 + i // 12, i % 12 + 1, 1000 + 10 * i) for i in range(13)]
    months[6] = month(2024, 7, 2000)
    series = PriceSeries.of(
        entry(*months, month(2025, 2, 560, predicted=True), current="1120"), TODAY
    )
    assert series.twelve_month_change == Decimal("12.0")
    assert series.yearly_change == Decimal("12.0")
    assert series.peak is not None
    assert series.peak.month == date(2024, 7, 1)
    assert series.change_since_peak == Decimal("-44.0")
    assert series.last_real is not None
    assert series.last_real.month == date(2025, 1, 1)
    assert [p.month for p in series.predicted_tail] == [date(2025, 2, 1)]
    assert series.predicted_change == Decimal("-50.0")


def test_less_than_a_year_gives_no_yearly_change() -> None:
    series = PriceSeries.of(entry(*(month(2025, i, 100) for i in range(1, 12))), TODAY)
    assert series.yearly_change is None
    assert series.twelve_month_change is None


def test_missing_month_a_year_before_gives_no_change() -> None:
    series = PriceSeries.of(
        entry(month(2024, 1, 100), month(2024, 11, 90), month(2025, 12, 80)), TODAY
    )
    assert series.twelve_month_change is None
    assert series.yearly_change == Decimal("-11.0")


def test_single_month_and_empty_history_are_series() -> None:
    one = PriceSeries.of(entry(month(2025, 1, 100)), TODAY)
    assert (one.gaps, one.change_since_peak, one.predicted_change) == ((), Decimal("0.0"), None)
    none = PriceSeries.of(entry(), TODAY)
    assert not none
    assert (none.peak, none.last_real, none.gaps, none.predicted_tail) == (None, None, (), ())


@pytest.mark.parametrize(("first", "last"), [(1, 10**17), (10**17, 1), (50_000, 5)])
def test_implausible_price_change_gives_no_percentage(first: int, last: int) -> None:
    series = PriceSeries.of(entry(month(2024, 1, first), month(2025, 1, last)), TODAY)
    assert (series.twelve_month_change, series.yearly_change) == (None, None)


@given(
    st.lists(
        st.builds(
            PricePoint,
            st.dates(date(1900, 1, 1), date(2199, 1, 1)).map(lambda d: d.replace(day=1)),
            st.decimals(Decimal("1e-17"), Decimal(10**18), places=None),
            st.booleans(),
        ),
        max_size=30,
    )
)
def test_points_and_gaps_cover_each_month_once(history: list[PricePoint]) -> None:
    series = PriceSeries.of(entry(*history), TODAY)
    if series:
        first, last = series.points[0].month, series.points[-1].month
        length = (last.year - first.year) * 12 + last.month - first.month + 1
        assert len({p.month for p in series.points} | set(series.gaps)) == length
        assert len(series.points) + len(series.gaps) == length
    _ = (series.twelve_month_change, series.yearly_change, series.predicted_change)


@pytest.mark.parametrize(
    ("amount", "or_more", "when"),
    [
        (95, True, 3),
        (90, True, 4),
        (110, True, 2),
        (121, True, None),
        (80, True, 5),
        (80, False, 5),
        (95, False, 5),
        (79, False, None),
    ],
)
def test_last_month_at_an_amount(amount: int, or_more: bool, when: int | None) -> None:
    prices = (100, 120, 95, 90, 80)
    months = [month(2025, number, value) for number, value in enumerate(prices, start=1)]
    found = PriceSeries.of(entry(*months), TODAY).last_month_at(Decimal(amount), or_more=or_more)
    assert (found and found.month) == (when and date(2025, when, 1))


def test_cheaper_amount_is_looked_for_below_the_price() -> None:
    months = [month(2025, number, value) for number, value in enumerate((70, 100, 80), start=1)]
    series = PriceSeries.of(entry(*months), TODAY)
    cheaper = series.last_month_at(Decimal(72), or_more=False)
    cheapest = series.last_month_at(Decimal(60), or_more=False)
    assert cheaper is not None and cheaper.month == date(2025, 1, 1)
    assert cheapest is None
    assert PriceSeries.of(entry(), TODAY).last_month_at(Decimal(1), or_more=True) is None
