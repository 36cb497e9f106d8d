"""The words of deadlines: with caution, with their exceptions, and never of a fine that lapses."""

from datetime import date, timedelta
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.law import deadlines
from portal.law.assessment import AssessedFine
from portal.law.deadlines import Deadline, Event
from portal.phrasebook.deadlines import RULES_NOTE, brief, doubt, sentence
from portal.vehicle.field import HIDDEN
from tests.law.records import fine

TODAY = date(2026, 11, 21)
COMMITTED = date(2024, 8, 18)
DAYS = st.none() | st.dates()


def after(days: int) -> date:
    return COMMITTED + timedelta(days=days)


def test_late_notice_is_worded_with_caution() -> None:
    said = sentence(deadlines.notice_of_infraction(COMMITTED, after(45), TODAY))
    assert "45 dias depois" in said
    assert "Em regra" in said
    assert "Confirme com um profissional" in said


def test_days_are_grouped_by_thousands() -> None:
    deadline = deadlines.notice_of_penalty(date(2021, 5, 1), date(2026, 5, 1), TODAY)
    assert "1.826 dias depois" in sentence(deadline)


def test_prescription_is_not_called_a_minimum() -> None:
    deadline = deadlines.prescription(COMMITTED, None, TODAY)
    assert "ao menos" not in sentence(deadline) + brief(deadline)
    for earlier in ("3 anos", "24 meses", "de 2024 em diante", "285, § 6º, 289 e 289-A"):
        assert earlier in sentence(deadline)
        assert earlier in RULES_NOTE


def test_late_deadlines_name_their_exceptions() -> None:
    notice = deadlines.notice_of_infraction(COMMITTED, after(45), TODAY)
    penalties = [deadlines.notice_of_penalty(COMMITTED, after(n), TODAY) for n in (200, 400)]
    assert "salvo se o auto foi assinado na hora" in sentence(notice)
    assert "art. 280, VI" in sentence(notice)
    for deadline in penalties:
        assert "art. 282, § 6º-A" in sentence(deadline)
        assert "de quando o órgão soube dela" in sentence(deadline)


def test_void_fine_stays_until_somebody_asks() -> None:
    """A reader once took a late penalty for one that lapses by itself."""
    within_the_defence = COMMITTED + timedelta(days=5)
    for deadline, said in (
        (deadlines.notice_of_infraction(COMMITTED, after(45), TODAY), "fora do prazo"),
        (
            deadlines.notice_of_penalty(COMMITTED, after(200), TODAY),
            "no prazo só com defesa prévia",
        ),
        (deadlines.notice_of_penalty(COMMITTED, after(400), TODAY), "fora do prazo"),
        (
            deadlines.notice_of_penalty(COMMITTED, after(20), TODAY, within_the_defence),
            "antes do fim da defesa",
        ),
        (deadlines.prescription(date(2018, 1, 1), None, TODAY), "pode ter prescrito"),
    ):
        assert doubt(deadline) == said
        assert "não cai sozinha" in sentence(deadline)
        assert "pedir ao órgão ou à Justiça" in sentence(deadline)


@pytest.mark.parametrize(
    ("deadline", "part"),
    [
        (
            deadlines.notice_of_infraction(COMMITTED, date(2024, 9, 9), TODAY),
            "em 22 dos 30 dias (art. 281, § 1º, II, do CTB)",
        ),
        (deadlines.notice_of_penalty(COMMITTED, None, TODAY), "Não é possível dizer"),
        (deadlines.notice_of_penalty(COMMITTED, None, TODAY), "825 dias"),
        (
            deadlines.prescription(COMMITTED, date(2025, 1, 10), TODAY),
            "do fim do processo, se não houve recurso, em 10/02/2030",
        ),
        (deadlines.prescription(date(2018, 1, 1), None, TODAY), "Pode ter prescrito"),
        (deadlines.prior_defence(date(2026, 11, 10), TODAY), "ao menos até 10/12/2026"),
        (
            deadlines.driver_nomination(date(2026, 11, 10), TODAY),
            "se o condutor não foi identificado na abordagem",
        ),
        (
            deadlines.notice_of_penalty(
                date(2026, 3, 10), date(2026, 3, 25), TODAY, date(2026, 3, 25)
            ),
            "no mesmo dia da notificação da autuação: a fonte pode ter repetido",
        ),
        (
            deadlines.not_caught(deadlines.notice_of_infraction(COMMITTED, after(45), TODAY)),
            "§ 6º-A",
        ),
        (
            deadlines.not_judged(deadlines.notice_of_infraction(COMMITTED, None, TODAY)),
            "por não indicar o condutor",
        ),
    ],
)
def test_deadline_is_said(deadline: Deadline, part: str) -> None:
    assert part in sentence(deadline)
    assert " 0 dias" not in sentence(deadline)


@pytest.mark.parametrize("event", get_args(Event))
def test_day_in_the_future_is_named(event: Event) -> None:
    deadline = Deadline("prescription", "unknown", "in_future", None, None, event=event)
    named = {"infraction": "infração", "notice": "notificação", "penalty": "penalidade"}[event]
    assert sentence(deadline) == f"Não é possível dizer: a data da {named} está no futuro."


@given(DAYS, DAYS, st.dates())
def test_every_deadline_has_a_sentence(
    first: date | None, second: date | None, today: date
) -> None:
    for deadline in (
        deadlines.notice_of_infraction(first, second, today),
        deadlines.notice_of_penalty(first, second, today),
        deadlines.prior_defence(first, today),
        deadlines.driver_nomination(first, today),
        deadlines.appeal(first, today),
        deadlines.prescription(first, second, today),
    ):
        assert sentence(deadline).endswith((".", ")"))
        if first is None and second is None:
            assert "Não é possível dizer" in sentence(deadline)


def test_hidden_date_is_not_called_missing() -> None:
    record = fine(code="7455", committed_on=TODAY, notified_on=TODAY, penalty_on_text=HIDDEN)
    for deadline in AssessedFine(record, TODAY).deadlines:
        assert "a fonte não informa" not in sentence(deadline)
