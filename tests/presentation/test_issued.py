"""An issued dossier's summary uses the past tense and names missing answers."""

from dataclasses import replace

import msgspec
import pytest

from portal.presentation.issued.summary import IssuedSummary, in_the_past, issued_summary
from portal.presentation.issued.verification import partly_hidden
from portal.presentation.panels import Panels
from portal.presentation.paper.dossier import dossier_page
from tests.presentation.rendering import CONTEXT, DOWN, PLATE, UNASKED, panels


@pytest.mark.parametrize(
    ("now", "then"),
    [
        ("Não pode ser transferido agora", "Não podia ser transferido"),
        (
            "Não pode circular, ser licenciado nem ser transferido agora",
            "Não podia circular, ser licenciado nem ser transferido",
        ),
        (
            "Não pode ser licenciado agora nem, em regra, transferido",
            "Não podia ser licenciado nem, em regra, transferido",
        ),
        ("Em regra, não pode ser transferido agora", "Em regra, não podia ser transferido"),
        (
            "Na prática, não pode ser transferido nem licenciado agora",
            "Na prática, não podia ser transferido nem licenciado",
        ),
        (
            "Em regra, só pode ser transferido depois de pagas as multas",
            "Em regra, só podia ser transferido depois de pagas as multas",
        ),
        ("Falta consultar multas", "Faltava consultar multas"),
        ("Verificação incompleta", "Verificação incompleta"),
        (
            "Há restrição judicial de situação incerta",
            "Havia restrição judicial de situação incerta",
        ),
        ("Há multa em aberto", "Havia multa em aberto"),
        ("Há autuação, ainda sem multa", "Havia autuação, ainda sem multa"),
        (
            "Falta verificar IPVA, financiamento, roubo e furto.",
            "Faltava verificar IPVA, financiamento, roubo e furto.",
        ),
        ("Confirme com o juízo.", "Era preciso confirmar com o juízo."),
        (
            "Confirme a situação antes da transferência.",
            "Era preciso confirmar a situação antes da transferência.",
        ),
    ],
)
def test_findings_are_put_in_the_past(now: str, then: str) -> None:
    assert in_the_past(now) == then


def test_missing_lookups_do_not_read_as_clean_records() -> None:
    page = dossier_page(PLATE, Panels(DOWN, DOWN, DOWN), UNASKED, CONTEXT, address="http://x")
    summary = issued_summary(page, None)
    assert len(summary.missing) == 3
    for figure in summary.figures:
        assert "não significa “nada consta”" in figure.text
    complete = issued_summary(
        dossier_page(PLATE, panels(), UNASKED, CONTEXT, address="http://x"), None
    )
    assert complete.missing == ()
    assert [figure.text for figure in complete.figures][2].startswith("R$")


def test_summary_says_what_the_finding_stood_on_and_counts_notices_apart() -> None:
    page = dossier_page(PLATE, panels(), UNASKED, CONTEXT, address="http://x")
    summary = issued_summary(page, None)
    findings = [reason.finding for reason in page.contents.summary.reasons]
    assert summary.reasons == tuple(map(in_the_past, findings)) != ()
    (fines,) = [figure for figure in summary.figures if figure.label == "Multas em aberto"]
    assert page.contents.summary.fines is not None
    assert fines.text.endswith(page.contents.summary.fines.open_words)


def test_summary_stored_before_reasons_were_kept_still_reads() -> None:
    page = dossier_page(PLATE, panels(), UNASKED, CONTEXT, address="http://x")
    summary = issued_summary(page, None)
    stored = msgspec.json.decode(msgspec.json.encode(summary))
    assert msgspec.convert(stored, IssuedSummary) == summary
    del stored["reasons"], stored["more_reasons"]
    assert msgspec.convert(stored, IssuedSummary) == replace(summary, reasons=(), more_reasons=0)


def test_number_shows_three_characters_of_the_plate() -> None:
    assert partly_hidden("ABC1D23") == "ABC••••"
    assert partly_hidden("") == ""
