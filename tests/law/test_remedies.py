"""What may be done about a fine, and until when, as far as it has come."""

from datetime import date, timedelta

import pytest

from portal.law import assess
from portal.vehicle import HIDDEN, Field
from tests.law.records import fine

TODAY = date(2026, 11, 21)
SPEEDING, UNREGISTERED, ON_FOOT, UNKNOWN = "7455", "6599", "7382", "9999"
DEFENCE, NOMINATION = "Defesa prévia", "Indicação do condutor"
APPEAL = "Recurso à JARI e vencimento"


def names_of(clocks):
    return [clock.name for clock in clocks]


def issued(days_ago: int, code: str = SPEEDING, **given):
    day = TODAY - timedelta(days=days_ago)
    return fine(**{"code": code, "committed_on": day, "notified_on": day, **given})


@pytest.mark.parametrize(
    ("record", "remedies"),
    [
        (issued(0), [DEFENCE, NOMINATION]),
        (issued(30), [DEFENCE, NOMINATION]),
        (issued(31), [DEFENCE]),  # thirty days are its least, and all that a nomination has
        (issued(30, UNKNOWN), [DEFENCE, NOMINATION]),
        # There is no driver to name:
        (issued(30, UNREGISTERED), [DEFENCE]),
        (issued(30, ON_FOOT), [DEFENCE]),
        # A late notice is contested like any other, and the rest of the record may be missing:
        (issued(10, committed_on=TODAY - timedelta(days=500)), [DEFENCE, NOMINATION, APPEAL]),
        # The source's own word for what was done:
        (issued(10, kind="EM DEFESA"), [NOMINATION, APPEAL]),
        (issued(10, kind="DEFESA PRÉVIA INDEFERIDA"), [NOMINATION]),
        *(
            (issued(10, kind=word), [DEFENCE, NOMINATION])
            for word in (
                *("SEM DEFESA", "PRAZO DE DEFESA", "AGUARDANDO DEFESA PREVIA", "NAO HOUVE DEFESA"),
                *("DEFESA NAO APRESENTADA", "AGUARDANDO CONDUTOR INDICADO"),
            )
        ),
        (issued(10, kind="CONDUTOR INDICADO"), [DEFENCE]),
        # A penalty is appealed against:
        (issued(120, penalty_on=TODAY - timedelta(days=10)), [APPEAL]),
        (issued(120, penalty_on=TODAY - timedelta(days=90)), [APPEAL]),
        (issued(10, penalty_on_text=Field("", "hidden")), [APPEAL]),
        (issued(10, penalty_on_text="ontem"), [APPEAL]),
        # Nothing has been notified, as far as is known:
        (fine(code=SPEEDING), [APPEAL]),
        (issued(-1), [APPEAL]),
    ],
)
def test_a_notice_is_contested_until_a_penalty_follows_and_that_is_appealed(record, remedies):
    found = assess(record, TODAY)
    assert names_of(found.remedies) == remedies
    assert names_of(found.clocks) == [
        *("Notificação da autuação", "Notificação da penalidade"),
        *remedies,
        "Prescrição",
    ]


def test_nothing_runs_for_a_paid_fine():
    found = assess(issued(10, paid_on=TODAY), TODAY)
    assert found.is_paid
    assert found.clocks == found.remedies == ()


def test_a_nomination_is_for_whoever_was_not_stopped():
    (_, nomination) = assess(issued(10), TODAY).remedies
    assert "se o condutor não foi identificado na abordagem" in nomination.sentence
    assert not nomination.at_least


def test_a_hidden_date_is_not_said_to_be_missing_at_the_source():
    record = issued(10, penalty_on_text=Field(HIDDEN, "hidden"))
    for clock in assess(record, TODAY).clocks:
        assert "a fonte não informa" not in clock.sentence
