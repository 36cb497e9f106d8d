"""Tests of the deadline picture of a fine."""

from datetime import timedelta
from typing import Any

from portal.dossier.deadline_steps import DeadlineStep, deadline_steps
from tests.factories import HIDDEN, fine, payment, renainf_body
from tests.presentation.rendering import CONTEXT, PLATE, panels


def ago(days: int) -> str:
    return f"{CONTEXT.today - timedelta(days=days):%d/%m/%Y}"


def steps(**overrides: Any) -> dict[str, DeadlineStep]:
    (found,) = CONTEXT.dossier(PLATE, panels(renainf=renainf_body(fine(**overrides)))).fines or ()
    return {step.name: step for step in deadline_steps(found)}


def test_steps_of_an_enforceable_fine_are_measured() -> None:
    found = steps(
        dataInfracao=ago(300), dataEmissaoNotificacao=ago(288), dataEmissaoPenalidade=ago(210)
    )
    assert list(found) == [
        "Infração",
        "Autuação notificada",
        "Penalidade emitida",
        "Vencimento provável",
        "Prescrição",
    ]
    committed = found["Infração"].leg
    assert committed is not None
    assert (committed.used, committed.words, committed.line) == (40, "12 de 30 dias", "solid")
    notified = found["Autuação notificada"]
    assert notified.note == "no prazo"
    assert notified.leg is not None
    assert (notified.leg.used, notified.leg.words) == (50, "90 de 180 dias")
    due = found["Vencimento provável"]
    assert (due.mark, due.when) == ("computed", f"{ago(179)} ou depois")
    assert due.leg is not None
    assert (due.leg.line, due.leg.has_today, due.leg.words) == ("dashed", True, "hoje")
    assert due.leg.used == 10
    assert found["Prescrição"].leg is None


def test_late_notice_is_marked() -> None:
    found = steps(dataInfracao=ago(60), dataEmissaoNotificacao=ago(20))
    leg = found["Infração"].leg
    assert leg is not None
    assert (leg.used, leg.words, leg.is_late) == (100, "40 de 30 dias", True)
    assert found["Autuação notificada"].note == "fora do prazo"


def test_penalty_within_the_defence_is_not_called_late_without_one() -> None:
    """The picture once said that 25 of 180 days were in time only with a defence."""
    found = steps(
        dataInfracao=ago(300), dataEmissaoNotificacao=ago(290), dataEmissaoPenalidade=ago(275)
    )
    assert found["Penalidade emitida"].note == "antes do fim da defesa"
    found = steps(
        dataInfracao=ago(300), dataEmissaoNotificacao=ago(290), dataEmissaoPenalidade=ago(80)
    )
    assert found["Penalidade emitida"].note == "no prazo só com defesa prévia"


def test_notice_waits_for_its_penalty_until_today() -> None:
    found = steps(dataInfracao=ago(45), dataEmissaoNotificacao=ago(30))
    leg = found["Autuação notificada"].leg
    assert leg is not None
    assert (leg.used, leg.words, leg.line) == (25, "hoje, 45 de 180 dias", "dashed")
    assert leg.has_today
    assert found["Penalidade"].when == "ainda não emitida"
    assert found["Penalidade"].note == f"em regra, até {ago(-135)}"
    assert found["Vencimento"].when == "sem data"


def test_hidden_date_is_dotted() -> None:
    found = steps(dataInfracao=ago(300), dataEmissaoNotificacao=HIDDEN)
    assert (found["Autuação notificada"].mark, found["Autuação notificada"].when) == (
        "hidden",
        "oculto pela fonte",
    )
    leg = found["Infração"].leg
    assert leg is not None
    assert (leg.used, leg.words, leg.line) == (None, "", "dotted")


def test_unreadable_date_is_shown_as_sent() -> None:
    found = steps(dataInfracao=ago(300), dataEmissaoNotificacao="ontem")
    assert found["Autuação notificada"].when == "ontem"
    assert found["Infração"].leg is not None
    assert found["Infração"].leg.used is None


def test_paid_fine_ends_with_its_payment() -> None:
    found = steps(
        dataInfracao=ago(300),
        dataEmissaoNotificacao=ago(290),
        dataEmissaoPenalidade=ago(200),
        pagamento=payment(dataPagamento=ago(180)),
    )
    assert list(found)[-1] == "Pagamento"
    assert found["Pagamento"].when == ago(180)
    assert "Prescrição" not in found


def test_dates_in_the_future_have_no_gauge() -> None:
    found = steps(dataInfracao=ago(-5), dataEmissaoNotificacao=ago(-3))
    assert all(step.leg is None or step.leg.used is None for step in found.values())
