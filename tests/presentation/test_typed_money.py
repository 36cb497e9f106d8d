"""Tests of the money parser."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal import formats
from portal.presentation.typed_money import (
    NEGATIVE,
    NOT_MONEY,
    TOO_LARGE,
    read_money,
)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("1.234,56", "1234.56"),
        ("R$ 1.234,56", "1234.56"),
        ("R$\u00a01.234,56", "1234.56"),
        ("r$1234,5", "1234.5"),
        ("1234", "1234"),
        ("1.234", "1234"),
        ("1234.56", "1234.56"),
        ("350.5", "350.5"),
        ("0,99", "0.99"),
        ("10,", "10"),
        ("007", "7"),
        ("99.999.999,99", "99999999.99"),
    ],
)
def test_read_money_parses_brazilian_formats(text: str, amount: str) -> None:
    assert read_money(text) == (Decimal(amount), "")


@pytest.mark.parametrize("text", ["", " ", "R$", "R$ \u00a0"])
def test_read_money_returns_none_for_blank_text(text: str) -> None:
    assert read_money(text) == (None, "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("abc", NOT_MONEY),
        ("1,234.56", NOT_MONEY),
        ("1.23,45", NOT_MONEY),
        ("1,234", NOT_MONEY),
        ("1.2.3", NOT_MONEY),
        ("1e9", NOT_MONEY),
        ("NaN", NOT_MONEY),
        ("Infinity", NOT_MONEY),
        ("١٢٣", NOT_MONEY),
        ("12\n3", NOT_MONEY),
        ("-5", NEGATIVE),
        ("−5,00", NEGATIVE),
        ("100.000.000,00", TOO_LARGE),
        ("9" * 5000, TOO_LARGE),
    ],
)
def test_read_money_rejects_invalid_text(text: str, problem: str) -> None:
    assert read_money(text) == (None, problem)


@given(st.decimals(0, "99999999.99", places=2))
def test_read_money_parses_formatted_amount(amount: Decimal) -> None:
    assert read_money(formats.brl(amount)) == (amount, "")


@given(st.text(max_size=30))
def test_read_money_of_any_text_has_an_amount_or_a_problem(text: str) -> None:
    amount, problem = read_money(text)
    assert amount is None or (0 <= amount < 10**8 and not problem)
