"""What may be done about a fine, and until when, as far as it has come."""

from datetime import date, timedelta

import pytest

from portal.law import assess
from tests.law.records import fine

TODAY = date(2026, 11, 21)
SPEEDING, UNREGISTERED = "7455", "6599"  # the second is the owner's: there is no driver to name


def names_of(clocks):
    return [clock.name for clock in clocks]


@pytest.mark.parametrize(
    ("code", "issued_days_ago", "penalty_days_ago", "remedies"),
    [
        (SPEEDING, 30, None, ["Defesa prévia", "Indicação do condutor"]),
        (SPEEDING, 31, None, []),
        (UNREGISTERED, 30, None, ["Defesa prévia"]),
        (SPEEDING, 120, 10, ["Recurso à JARI e vencimento"]),
        (SPEEDING, 120, 90, ["Recurso à JARI e vencimento"]),
    ],
)
def test_a_notice_is_contested_while_its_days_last_and_a_penalty_afterwards(
    code, issued_days_ago, penalty_days_ago, remedies
):
    issued = TODAY - timedelta(days=issued_days_ago)
    penalty = None if penalty_days_ago is None else TODAY - timedelta(days=penalty_days_ago)
    dates = {"committed_on": issued, "notified_on": issued, "penalty_on": penalty}
    found = assess(fine(code=code, **dates), TODAY)
    assert names_of(found.remedies) == remedies
    assert names_of(found.clocks) == [
        *("Notificação da autuação", "Notificação da penalidade"),
        *remedies,
        "Prescrição",
    ]


def test_nothing_runs_for_a_paid_fine():
    found = assess(fine(code=SPEEDING, committed_on=TODAY, paid_on=TODAY), TODAY)
    assert found.is_paid
    assert found.clocks == found.remedies == ()
