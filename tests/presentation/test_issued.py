"""An issued dossier's summary uses the past tense and names missing answers."""

from dataclasses import replace

import msgspec

from portal.dossier.answers import Panels
from portal.law.checklist import LINES
from portal.law.declared import Declaration
from portal.phrasebook import sums
from portal.phrasebook.findings import clause, sentence
from portal.phrasebook.verdict import finding
from portal.presentation.issued.pages import IssuedDossierPage
from portal.presentation.issued.summary import IssuedSummary, issued_summary
from portal.presentation.issued.verification import partly_hidden
from tests.factories import renajud_body, restriction
from tests.presentation.pages import dossier_page
from tests.presentation.rendering import CONTEXT, DOWN, PLATE, UNASKED, panels, render
from tests.presentation.specimens import stored_dossier
from tests.presentation.test_every_field import words


def test_summary_quotes_the_dossier_word_for_word() -> None:
    order = restriction(restricoes="Há bloqueio agora; não pode ser vendido")
    answers = panels(renajud=renajud_body(order))
    page = dossier_page(PLATE, answers, UNASKED, CONTEXT, address="http://x")
    summary = issued_summary(page, None)
    verdict = page.dossier.verdict
    assert summary.finding == finding(verdict)
    paper = words(render(page))
    assert all(words(each) in paper for each in (summary.quoted, *summary.reasons))
    assert len(summary.reasons) == len(verdict.reasons)
    assert any("“Há bloqueio agora; não pode ser vendido”" in each for each in summary.reasons)


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
    reasons = page.dossier.verdict.first_reasons
    assert summary.reasons == tuple(sentence(reason) for reason in reasons) != ()
    assert all(
        told.startswith(clause(one)) for told, one in zip(summary.reasons, reasons, strict=True)
    )
    (fines,) = [figure for figure in summary.figures if figure.label == "Multas em aberto"]
    assert page.dossier.totals is not None
    assert fines.text.endswith(sums.open_words(page.dossier.totals))


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


def test_summary_counts_the_open_lines() -> None:
    page = dossier_page(PLATE, panels(), UNASKED, CONTEXT, address="http://x")
    told = tuple(
        Declaration(key, "nothing", "loja", CONTEXT.today) for key in ("gravame", "recall")
    )
    page = replace(page, dossier=replace(page.dossier, declarations=told))
    summary = issued_summary(page, None)
    html = words(render(IssuedDossierPage(stored_dossier(), summary, "/d/k")))
    # Two lines are settled by records.
    assert f"Falta conferir {len(LINES) - 4} de {len(LINES)}" in html


def test_summary_of_an_older_version_counts_its_ticks() -> None:
    page = dossier_page(PLATE, panels(), UNASKED, CONTEXT, address="http://x")
    former = replace(issued_summary(page, None), lines=0, unverified=13, ticked=2)
    html = words(render(IssuedDossierPage(stored_dossier(), former, "/d/k")))
    assert "Falta conferir 13 de 18" in html
