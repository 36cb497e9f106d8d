"""Tests of the fine totals: expired discounts and points that do not count."""

from datetime import timedelta
from typing import Any

from tests.factories import fine, payment, renainf_body
from tests.presentation.pages import panel_fragment
from tests.presentation.rendering import CONTEXT, PLATE, panels, render
from tests.web.html_checker import parse, text_of


def days_ago(days: int) -> str:
    return f"{CONTEXT.today - timedelta(days=days):%d/%m/%Y}"


def notified(days: int) -> dict[str, Any]:
    return fine(dataInfracao=days_ago(days), dataEmissaoNotificacao=days_ago(days))


def penalised(days: int) -> dict[str, Any]:
    return {**notified(days + 90), "dataEmissaoPenalidade": days_ago(days)}


def panel_text(*fines: dict[str, Any]) -> str:
    html = render(panel_fragment("multas", PLATE, panels(renainf=renainf_body(*fines)), CONTEXT))
    return text_of(parse(f"<!doctype html><html lang='pt-BR'>{html}</html>"))


def test_no_discount_if_all_fines_are_enforceable() -> None:
    page = panel_text(penalised(61), penalised(90))
    assert "ter desconto até o vencimento" not in page
    assert "Em regra já exigíveis" in page


def test_discount_line_excludes_fines_past_their_due_date() -> None:
    """Of R$ 260,32, only the notice's R$ 130,16 can still be paid at 80 % or 60 %."""
    page = panel_text(penalised(90), notified(9))
    assert "1 autuação ainda pode ter desconto até o vencimento. Com 20%: R$ 104,13, para" in page
    assert "Com 40%: R$ 78,10, só para o dono ou infrator que já usava o SNE" in page
    assert "2 multas ainda podem ter desconto" in panel_text(penalised(9), penalised(12))


def test_points_of_notice_do_not_count_yet() -> None:
    page = panel_text(notified(9))
    assert "Pontos que contam0 de quem dirigia" in page
    assert "mais 4 podem vir a contar" in page
    assert "podem vir a contar" in panel_text(penalised(60))
    assert "podem vir a contar" not in panel_text(penalised(90))


def test_points_of_paid_fines_count() -> None:
    paid = {**penalised(90), "pagamento": payment(dataPagamento=days_ago(5))}
    page = panel_text(paid)
    assert "Pontos que contam4 de quem dirigia" in page


def test_notices_are_not_counted_as_fines() -> None:
    page = panel_text(penalised(90), penalised(100), notified(9))
    assert "2 multas e 1 autuação em aberto" in page
    assert "em autuação" in page
    assert "3 multas" not in page


def test_sum_without_amounts_does_not_read_as_zero() -> None:
    page = panel_text({**penalised(90), "valor": "", "codigoInfracao": "9999"})
    assert "Em aberto, valor cheionão informado" in page
    assert "R$ 0,00" not in page


def test_traces_of_a_payment_are_shown() -> None:
    traces = payment(valorPago="104", dataRegistro=days_ago(4), ufPagamento="MG")
    page = panel_text({**penalised(90), "pagamento": traces})
    assert "talvez paga" in page
    assert "Valor pagoR$ 104,13" in page
    assert f"o registro do pagamento ({days_ago(4)})" in page
    assert "a UF do pagamento (MG)" in page
    assert "20% de desconto" not in page


def test_enforceable_fine_prints_no_discounted_amount() -> None:
    page = panel_text(penalised(90))
    assert "Descontoem regra, nenhum" in page
    assert "104,13" not in page
