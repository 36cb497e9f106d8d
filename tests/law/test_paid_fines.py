"""A paid sum is exact to the cent only where the cents are known."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.law.fine_amounts import Amount
from portal.law.paid_fines import paid_sum
from portal.wording import money

OWED = Amount(Decimal("293.47"), "table", "", matches=True)
NBSP = "\u00a0"


@pytest.mark.parametrize(
    ("sent", "value", "share"),
    [("234", "234.78", "80%"), ("176", "176.08", "60%"), ("293", "293.47", "100%")],
)
def test_cut_cents_are_restored_from_the_table(sent: str, value: str, share: str) -> None:
    paid = paid_sum(Decimal(sent), OWED)
    assert (paid.value, paid.is_exact) == (Decimal(value), True)
    assert paid.words.startswith(f"{money(Decimal(value))} ({share} do valor da tabela")
    assert f"enviou {sent}, sem os centavos" in paid.words


@pytest.mark.parametrize("sent", ["234.78", "293.47", "250.10", "250.00"])
def test_sum_with_cents_is_kept_as_sent(sent: str) -> None:
    paid = paid_sum(Decimal(sent), OWED)
    assert (paid.value, paid.is_exact, paid.words) == (
        Decimal(sent),
        True,
        money(Decimal(sent)),
    )


def test_whole_number_that_is_no_share_is_not_exact() -> None:
    paid = paid_sum(Decimal(1250), OWED)
    assert not paid.is_exact
    assert paid.words == f"R${NBSP}1.250 (como a fonte enviou, talvez sem os centavos)"


def test_cents_are_not_restored_without_a_table() -> None:
    assert not paid_sum(Decimal(130), Amount(Decimal(130), "sent", "")).is_exact


@pytest.mark.parametrize("sent", [None, Decimal(-1), Decimal("NaN"), Decimal("1e400")])
def test_missing_sum_has_no_text(sent: Decimal | None) -> None:
    assert paid_sum(sent, OWED).words == ""


def test_zero_is_an_exact_sum() -> None:
    assert paid_sum(Decimal("0.00"), OWED).words == f"R${NBSP}0,00"


@given(st.decimals(allow_nan=True, allow_infinity=True))
def test_cents_are_shown_only_where_known(sent: Decimal) -> None:
    paid = paid_sum(sent, OWED)
    if paid.words and not paid.is_exact:
        assert "," not in paid.words.split(" (")[0]
