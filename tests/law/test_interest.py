"""Interest on a fine: Res. Contran 918/2022, arts. 19, 22 and 23."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from portal.law.assessment import AssessedFine
from portal.law.interest import interest_on, selic
from portal.vehicle.fines import read_fines
from tests.factories import HIDDEN, fine, payment

VALUE = Decimal("195.23")


def test_table_has_each_month_once() -> None:
    months = list(selic())
    count = (months[-1].year - months[0].year) * 12 + months[-1].month - months[0].month + 1
    assert months == sorted(set(months))
    assert (months[0], len(months)) == (date(2016, 11, 1), count)
    assert all(Decimal(0) <= percent < 2 for percent in selic().values())


@pytest.mark.parametrize(
    ("due_on", "paid_on", "total", "last", "is_minimum"),
    [
        (date(2026, 3, 10), date(2026, 3, 10), None, None, False),
        (date(2026, 3, 10), date(2026, 3, 11), "197.18", None, False),
        (date(2026, 3, 10), date(2026, 4, 30), "197.18", None, False),
        # April 2026 has 1.09 %.
        (date(2026, 3, 10), date(2026, 5, 1), "199.31", date(2026, 4, 1), False),
        (date(2026, 3, 31), date(2026, 6, 1), "201.39", date(2026, 5, 1), False),
        (date(2026, 3, 10), date(2026, 10, 5), "210.20", date(2026, 9, 1), False),
        (date(2026, 3, 10), date(2026, 11, 28), "210.20", date(2026, 9, 1), True),
        # No month of the sum is known.
        (date(2026, 9, 10), date(2026, 11, 28), None, None, False),
    ],
)
def test_simple_sum_of_the_months_between_due_date_and_payment(
    due_on: date, paid_on: date, total: str | None, last: date | None, is_minimum: bool
) -> None:
    found = interest_on(VALUE, due_on, paid_on)
    if total is None:
        assert found is None
        return
    assert found is not None
    assert found.total == Decimal(total)
    assert (found.last, found.is_minimum) == (last, is_minimum)


def assessed(**given: Any) -> AssessedFine:
    sent = fine(
        **{
            "dataInfracao": "14/08/2024",
            "dataEmissaoNotificacao": "22/08/2024",
            "dataEmissaoPenalidade": "01/12/2024",
            **given,
        }
    )
    (record,) = read_fines([sent], HIDDEN)
    return AssessedFine(record, date(2026, 11, 28))


def test_interest_needs_an_end_of_the_case() -> None:
    """None is told while an appeal may be possible, of old records, and where a day is missing."""
    found = assessed().interest
    assert found is not None
    assert found.is_minimum
    assert found.due_on == date(2024, 12, 31)
    assert found.last == date(2026, 9, 1)
    for given in (
        {"dataEmissaoPenalidade": "10/11/2026"},
        {"tipo": "MULTA SUSPENSA POR RECURSO"},
        {"dataEmissaoPenalidade": ""},
        {"dataInfracao": "31/10/2016", "dataEmissaoNotificacao": "05/11/2016"},
        {"pagamento": payment(dataPagamento="10/01/2025", valorPago="130.16")},
        {"codigoInfracao": "5002", "descricao": ""},
    ):
        assert assessed(**given).interest is None, given
