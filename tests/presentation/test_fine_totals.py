"""Tests of the fine totals: expired discounts and points that do not count."""

from datetime import timedelta
from typing import Any

from portal.presentation import vehicle_page
from tests.factories import fine, payment, renainf_body
from tests.presentation.rendering import CONTEXT, UNASKED, panels, render
from tests.presentation.specimens import PLATE
from tests.web.html_checker import check_html, text_of


def days_ago(days: int) -> str:
    return f"{CONTEXT.today - timedelta(days=days):%d/%m/%Y}"


def notified(days: int) -> dict[str, Any]:
    return fine(dataInfracao=days_ago(days), dataEmissaoNotificacao=days_ago(days))


def penalised(days: int) -> dict[str, Any]:
    return {**notified(days + 90), "dataEmissaoPenalidade": days_ago(days)}


def page_text(*fines: dict[str, Any]) -> str:
    page = vehicle_page(PLATE, panels(renainf=renainf_body(*fines)), UNASKED, CONTEXT)
    return text_of(check_html(render(page)))


def test_no_discount_if_all_fines_are_enforceable() -> None:
    page = page_text(penalised(61), penalised(90))
    assert "Com 20% de desconto" not in page
    assert "Em regra já exigíveis" in page


def test_discount_note_excludes_enforceable_fines() -> None:
    both = page_text(penalised(60), notified(9))
    assert "até o vencimento; as que já não têm desconto, pelo valor cheio" in both
    assert "pelo valor cheio" not in page_text(notified(9))


def test_points_of_notice_do_not_count_yet() -> None:
    page = page_text(notified(9))
    assert "paga ou não: 0; mais 4, se as autuações virarem multa" in page
    assert "se as autuações virarem multa" not in page_text(penalised(60))


def test_points_of_paid_fines_count() -> None:
    paid = {**penalised(90), "pagamento": payment(dataPagamento=days_ago(5))}
    page = page_text(paid)
    assert "Pontos que contam para quem dirigia" in page
    assert "com a multa paga ou não: 4." in page


def test_traces_of_a_payment_are_shown() -> None:
    traces = payment(valorPago="104", dataRegistro=days_ago(4), ufPagamento="MG")
    page = page_text({**penalised(90), "pagamento": traces})
    assert "talvez paga" in page
    assert "Valor pagoR$\u00a0104,13" in page or "Valor pagoR$ 104,13" in page
    assert f"o registro do pagamento ({days_ago(4)})" in page
    assert "a UF do pagamento (MG)" in page
    assert "20% de desconto" not in page.split("talvez paga")[1].split("Prazos")[0]


def test_enforceable_fine_prints_no_discounted_amount() -> None:
    page = page_text(penalised(90))
    assert "130,16 cheio. Em regra, não há mais desconto" in page
