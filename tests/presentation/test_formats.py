"""Tests of the template filters, with Babel's pt_BR as the oracle."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from babel.dates import format_date, format_datetime
from babel.numbers import format_percent
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Environment

from portal import formats
from portal.presentation import filters
from portal.system.local_time import sao_paulo

LOCALE = "pt_BR"
days = st.dates(min_value=date(1000, 1, 1))


@given(
    st.decimals(min_value=-20, max_value=20, places=5).filter(lambda d: abs(d) > Decimal("0.001"))
)
def test_percent_matches_babel(ratio: Decimal) -> None:
    expected = format_percent(ratio, format="#,##0.0%", locale=LOCALE)
    assert formats.percent(ratio) == expected.replace("-", "\u2212")


@given(st.decimals(min_value=-99, max_value=999, places=1).filter(bool))
def test_change_shows_sign(points: Decimal) -> None:
    expected = format_percent(points / 100, format="+#,##0.0%;-#,##0.0%", locale=LOCALE)
    assert formats.change(points) == expected.replace("-", "\u2212")


def test_zero_change_has_no_sign() -> None:
    assert formats.change(Decimal("0.0")) == "0,0%"


@given(days)
def test_dates_match_babel(day: date) -> None:
    assert formats.long_date(day) == format_date(day, "long", locale=LOCALE)
    assert formats.long_month(day) == format_date(day, "MMMM 'de' y", locale=LOCALE)


@given(days)
def test_month_matches_babel_without_dot(day: date) -> None:
    assert formats.month(day) == format_date(day, "MMM/yy", locale=LOCALE).replace(".", "")


@given(st.datetimes(min_value=datetime(1990, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001
def test_moment_is_converted_to_sao_paulo(when: datetime) -> None:
    expected = format_datetime(when, "dd/MM/yyyy 'às' HH:mm", tzinfo=sao_paulo(), locale=LOCALE)
    assert formats.moment(when) == expected


def test_naive_moment_is_not_converted() -> None:
    assert formats.moment(datetime(2025, 10, 23, 9, 5)) == "23/10/2025 às 09:05"  # noqa: DTZ001


@pytest.mark.parametrize("amount", [None, Decimal("NaN"), Decimal("Infinity"), Decimal("1e400")])
def test_missing_or_absurd_amount_formats_as_missing(amount: Decimal | None) -> None:
    for read in (formats.brl, formats.whole_brl, formats.integer, formats.percent):
        assert read(amount) == "não informado"


@pytest.mark.parametrize(
    "read",
    [formats.short_date, formats.long_date, formats.month, formats.long_month, formats.moment],
)
def test_missing_date_formats_as_missing(read: object) -> None:
    assert callable(read)
    assert read(None) == "não informado"


def test_value_rounding_to_zero_has_no_sign() -> None:
    assert formats.percent(Decimal("-0.00001")) == "0,0%"


@pytest.mark.parametrize(
    ("elapsed", "text"),
    [
        (timedelta(seconds=-5), "agora"),
        (timedelta(seconds=59), "agora"),
        (timedelta(minutes=3), "há 3\u00a0min"),
        (timedelta(minutes=59, seconds=59), "há 59\u00a0min"),
        (timedelta(hours=1), "há 1\u00a0h"),
        (timedelta(hours=47), "há 47\u00a0h"),
        (timedelta(hours=48), "há 2\u00a0dias"),
    ],
)
def test_age_uses_largest_unit(elapsed: timedelta, text: str) -> None:
    assert formats.age(elapsed) == text


@pytest.mark.parametrize(
    ("amounts", "text"),
    [
        (["89325.00"], "R$\u00a089.325"),
        (["14802", "12809.00", "13000"], "R$\u00a012.809 a R$\u00a014.802"),
        (["12809", "14802.50"], "R$\u00a012.809,00 a R$\u00a014.802,50"),
        (["87538.50"], "R$\u00a087.538,50"),
    ],
)
def test_prices_of_a_range_have_one_form(amounts: list[str], text: str) -> None:
    assert formats.price_range([Decimal(amount) for amount in amounts]) == text


def test_number_below_zero_has_a_minus_sign() -> None:
    assert formats.change(Decimal("-6.6")) == "\u22126,6%"
    assert formats.brl(Decimal("-0.5")) == "\u2212R$\u00a00,50"


def test_register_adds_filters() -> None:
    environment = Environment(autoescape=True)
    filters.register(environment)
    text = environment.from_string("{{ n | brl }} {{ d | date }} {{ 2 | plural('a', 'as') }}")
    assert (
        text.render(n=Decimal("1234.5"), d=date(2024, 8, 18)) == "R$\u00a01.234,50 18/08/2024 2 as"
    )
