"""Tests of the wording functions, with Babel's pt_BR as the oracle."""

from datetime import date, datetime
from decimal import Decimal

from babel.dates import format_date
from babel.numbers import format_currency, format_decimal
from hypothesis import given
from hypothesis import strategies as st

from portal import wording

LOCALE = "pt_BR"


@given(st.decimals(min_value=-(10**12), max_value=10**12, places=2).filter(bool))
def test_money_matches_babel(amount: Decimal) -> None:
    expected = format_currency(amount, "BRL", locale=LOCALE)
    assert wording.money(amount) == expected.replace("-", wording.MINUS)


@given(st.decimals(min_value=-(10**9), max_value=10**9, places=4).filter(lambda d: abs(d) >= 1))
def test_money_rounds_like_babel(amount: Decimal) -> None:
    expected = format_currency(amount, "BRL", locale=LOCALE)
    assert wording.money(amount) == expected.replace("-", wording.MINUS)


@given(st.integers(min_value=1, max_value=10**12))
def test_money_without_cents_matches_babel(amount: int) -> None:
    expected = format_currency(
        amount, "BRL", format="¤ #,##0", locale=LOCALE, currency_digits=False
    )
    assert wording.money(Decimal(amount), places=0).replace("\u00a0", " ") == expected.replace(
        "\u00a0", " "
    )


def test_money_rounding_to_zero_has_no_sign() -> None:
    assert wording.money(Decimal("-0.001")) == "R$\u00a00,00"


@given(st.integers(min_value=-(10**12), max_value=10**12))
def test_grouping_matches_babel(number: int) -> None:
    expected = format_decimal(number, locale=LOCALE)
    assert wording.grouped(number) == expected.replace("-", wording.MINUS)


@given(st.dates(min_value=date(1000, 1, 1)))
def test_day_matches_babel(day: date) -> None:
    assert wording.day(day) == format_date(day, "dd/MM/yyyy", locale=LOCALE)


def test_moment_is_in_its_own_zone() -> None:
    assert wording.moment(datetime(2025, 10, 23, 9, 5)) == "23/10/2025 às 09:05"  # noqa: DTZ001


def test_noun_agrees_with_count() -> None:
    counts = [wording.counted(n, "multa", "multas") for n in (0, 1, 2, 1200)]
    assert counts == ["0 multas", "1 multa", "2 multas", "1.200 multas"]


def test_list_joins_its_last_item_with_a_word() -> None:
    lists: tuple[list[str], ...] = ([], ["a"], ["a", "b"], ["a", "b", "c"])
    assert [wording.listed(parts) for parts in lists] == ["", "a", "a e b", "a, b e c"]
    assert wording.listed(["a", "b"], last=" ou ") == "a ou b"


@given(st.text(), st.text())
def test_bare_text_is_the_concatenation_of_its_parts(first: str, second: str) -> None:
    assert wording.bare(first + second) == wording.bare(first) + wording.bare(second)


def test_bare_text_has_no_accents() -> None:
    assert wording.bare("Penhora averbação") == "PENHORA AVERBACAO"


def test_long_list_names_the_first_parts() -> None:
    parts = [f"p{number}" for number in range(5)]
    assert wording.listed_briefly(parts, 5) == "p0, p1, p2, p3 e p4"
    assert wording.listed_briefly(parts, 3) == "p0, p1, p2 e mais 2"
    assert wording.listed_briefly([], 3) == ""
