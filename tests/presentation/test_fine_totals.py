"""Tests of the fine totals: expired discounts and points that do not count."""

from datetime import timedelta
from typing import Any

from portal.presentation import vehicle_page
from tests.factories import fine, renainf_body
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
    page = page_text(penalised(60), penalised(90))
    assert "Com 20% de desconto" not in page
    assert "Em regra já exigíveis" in page


def test_discount_note_excludes_enforceable_fines() -> None:
    both = page_text(penalised(60), notified(9))
    assert "até o vencimento; as já exigíveis, pelo valor cheio" in both
    assert "pelo valor cheio" not in page_text(notified(9))


def test_points_of_notice_do_not_count_yet() -> None:
    page = page_text(notified(9))
    assert "para o proprietário: 0; podem vir a contar os de multas sem penalidade: 4" in page
    assert "podem vir a contar" not in page_text(penalised(60))
