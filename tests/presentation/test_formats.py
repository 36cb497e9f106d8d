"""Tests of the formats, with Babel's pt_BR as the oracle."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from babel.dates import format_date, format_datetime
from babel.numbers import format_currency, format_decimal, format_percent
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Environment

from portal.presentation import formats

LOCALE = "pt_BR"
amounts = st.decimals(min_value=-(10**12), max_value=10**12, places=2)
days = st.dates(min_value=date(1000, 1, 1))


@given(amounts.filter(bool))
def test_brl_matches_babel(amount: Decimal) -> None:
    assert formats.brl(amount) == format_currency(amount, "BRL", locale=LOCALE)


@given(st.decimals(min_value=-(10**9), max_value=10**9, places=4).filter(lambda d: abs(d) >= 1))
def test_brl_rounds_like_babel(amount: Decimal) -> None:
    assert formats.brl(amount) == format_currency(amount, "BRL", locale=LOCALE)


@given(st.integers(min_value=-(10**12), max_value=10**12))
def test_integer_grouping_matches_babel(number: int) -> None:
    assert formats.integer(number) == format_decimal(number, locale=LOCALE)


@given(st.integers(min_value=1, max_value=10**12))
def test_whole_brl_matches_babel(amount: int) -> None:
    expected = format_currency(
        amount, "BRL", format="¤ #,##0", locale=LOCALE, currency_digits=False
    )
    assert formats.whole_brl(amount).replace("\u00a0", " ") == expected.replace("\u00a0", " ")


@given(
    st.decimals(min_value=-20, max_value=20, places=5).filter(lambda d: abs(d) > Decimal("0.001"))
)
def test_percent_matches_babel(ratio: Decimal) -> None:
    assert formats.percent(ratio) == format_percent(ratio, format="#,##0.0%", locale=LOCALE)


@given(st.decimals(min_value=-99, max_value=999, places=1).filter(bool))
def test_change_shows_sign(points: Decimal) -> None:
    expected = format_percent(points / 100, format="+#,##0.0%;-#,##0.0%", locale=LOCALE)
    assert formats.change(points) == expected


def test_zero_change_has_no_sign() -> None:
    assert formats.change(Decimal("0.0")) == "0,0%"


@given(days)
def test_dates_match_babel(day: date) -> None:
    assert formats.short_date(day) == format_date(day, "dd/MM/yyyy", locale=LOCALE)
    assert formats.long_date(day) == format_date(day, "long", locale=LOCALE)
    assert formats.long_month(day) == format_date(day, "MMMM 'de' y", locale=LOCALE)


@given(days)
def test_month_matches_babel_without_dot(day: date) -> None:
    assert formats.month(day) == format_date(day, "MMM/yy", locale=LOCALE).replace(".", "")


@given(st.datetimes(min_value=datetime(1990, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001
def test_moment_is_converted_to_sao_paulo(when: datetime) -> None:
    expected = format_datetime(
        when, "dd/MM/yyyy 'às' HH:mm", tzinfo=formats._sao_paulo(), locale=LOCALE
    )
    assert formats.moment(when) == expected


def test_naive_moment_is_not_converted() -> None:
    assert formats.moment(datetime(2025, 10, 23, 9, 5)) == "23/10/2025 às 09:05"  # noqa: DTZ001


def test_local_date_changes_at_midnight_in_sao_paulo() -> None:
    assert formats.local_date(datetime(2026, 1, 1, 2, 59, tzinfo=UTC)) == date(2025, 12, 31)


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
    assert formats.brl(Decimal("-0.001")) == "R$\u00a00,00"
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


def test_plural_agrees_with_count() -> None:
    counts = [formats.plural(n, "multa", "multas") for n in (0, 1, 2, 1200)]
    assert counts == ["0 multas", "1 multa", "2 multas", "1.200 multas"]


def test_register_adds_filters() -> None:
    environment = Environment(autoescape=True)
    formats.register(environment)
    text = environment.from_string("{{ n | brl }} {{ d | date }} {{ 2 | plural('a', 'as') }}")
    assert (
        text.render(n=Decimal("1234.5"), d=date(2024, 8, 18)) == "R$\u00a01.234,50 18/08/2024 2 as"
    )
