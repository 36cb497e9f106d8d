"""Tests of the dossier's fines, prices and timeline."""

import re
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.dossier.answers import Panel, Panels
from portal.issued.issuer import Issuer
from portal.law.checklist import LINES
from portal.presentation.paper.dossier import DossierPage
from portal.presentation.paper.fines import MOST_IN_LEDGER
from portal.presentation.timeline import MOST_LINES
from tests.factories import (
    HIDDEN,
    decode_body,
    fine,
    fipe_entry,
    payment,
    price_history,
    renainf_body,
)
from tests.presentation import dossiers
from tests.presentation.pages import dossier_page, vehicle_page
from tests.presentation.rendering import CONTEXT, DOWN, PLATE, UNASKED, answered, panels, render
from tests.web.html_checker import HTML, check_html, text_of

PENALTY = {"dataInfracao": "14/08/2025", "dataEmissaoNotificacao": "22/08/2025"}


def page_of(*fines: Any, decode: bytes | None = None) -> DossierPage:
    shown = panels(decode=decode, renainf=renainf_body(*fines))
    return dossier_page(PLATE, shown, UNASKED, CONTEXT, address="https://portal.example")


@dataclass(frozen=True)
class Printed:
    """The cells of each fine's rows on the sheets, its record in full, and the note below."""

    cells: list[list[str]]
    records: list[str]
    note: str

    def words(self, row: int = 0) -> str:
        return " ".join((*self.cells[row], self.records[row]))


def printed(*fines: Any) -> Printed:
    tree = check_html(render(page_of(*fines)))
    (table,) = [one for one in tree.iter(f"{HTML}table") if "fines" in one.get("class", "").split()]
    of_fine = [one for one in table.iter() if one.get("id", "").startswith("multa-")]
    full = next(one for one in tree.iter(f"{HTML}section") if one.get("class") == "in-full")
    for value in full.iter(f"{HTML}dd"):
        value.text = f": {value.text or ''}"
        value.tail = ". "
    (note,) = [one for one in tree.iter(f"{HTML}p") if one.get("class") == "note fine-notes"]
    return Printed(
        cells=[
            [text_of(cell) for cell in one.iter() if cell.tag in (f"{HTML}td", f"{HTML}th")]
            for one in of_fine
        ],
        records=re.split(r"\bMulta \d+ ", text_of(full))[1:],
        note=text_of(note),
    )


def test_each_fine_has_two_rows_of_six_cells() -> None:
    table = printed(fine(autoInfracao=HIDDEN), fine(**PENALTY, dataEmissaoPenalidade="20/11/2025"))
    for cells in table.cells:
        assert len(cells) == 3 + 12
    first, second = table.cells
    assert [cell.partition(" ")[0] for cell in first[3:8]] == [
        *("Órgão", "Código", "Gravidade", "Notificada", "Penalidade"),
    ]
    assert first[13] == "Auto de infração oculto pela fonte"
    assert first[11] == "Com 20% R$ 104,13" and first[12] == "Com 40%, SNE R$ 78,10"
    assert "Com 20%" not in " ".join(second)  # it is enforceable, so it has no discount


@pytest.mark.parametrize("kind", [dossiers.usual, dossiers.varied, dossiers.standings])
def test_notes_below_the_fines_are_at_most_four_lines(kind: Any) -> None:
    """A line of a sheet has room for some 125 characters of 8 pt."""
    tree = check_html(kind())
    notes = [text_of(one) for one in tree.iter(f"{HTML}p") if "fine-notes" in one.get("class", "")]
    assert notes and all(len(note) <= 4 * 125 for note in notes), list(map(len, notes))


def test_what_sheets_have_no_room_for_is_in_the_record_in_full() -> None:
    words = printed(fine(codigoOrgaoAutuador="A", cnhInfrator=HIDDEN)).words()
    assert "Código do órgão autuador: A, fora da tabela do portal." in words
    assert "Prazos:" in words and "art. 282" in words


def test_bar_of_fines_has_a_legend_that_black_and_white_keep() -> None:
    """Each standing has a pattern of its own, in the bar as in the legend below it."""
    tree = check_html(dossiers.standings())
    bars = [one for one in tree.iter() if one.get("class") == "fines-bar"]
    (key,) = [one for one in tree.iter(f"{HTML}p") if one.get("class") == "fines-key"]

    def patterns(drawing: Any) -> list[tuple[Any, ...]]:
        """The drawn signs without their colours: filled, empty, dashed, and how it is hatched."""
        signs: list[list[Any]] = []
        for one in drawing.iter():
            kind = one.tag.rpartition("}")[2]
            if kind == "rect":
                is_empty = one.get("fill") == "#fff"
                shade = "empty" if is_empty else "dark" if one.get("fill") != "#dddcd8" else "light"
                signs.append([shade, one.get("stroke-dasharray")])
            elif kind == "path":
                signs[-1] += [one.get("stroke-width")]
        return list(map(tuple, signs))

    assert len(bars) == 1
    drawn, named = patterns(bars[0]), patterns(key)
    assert drawn == named and len(set(drawn)) == len(drawn) >= 4
    spans = [text_of(one) for one in key.iter(f"{HTML}span")]
    assert len(spans) == len(named)
    assert all(re.fullmatch(r"(R\$ )?[\d.,]+ \D+.*", words) for words in spans), spans


def test_more_fines_than_the_ledger_holds_are_an_annex() -> None:
    few, many = (
        render(page_of(*[fine()] * count)) for count in (MOST_IN_LEDGER, MOST_IN_LEDGER + 1)
    )
    assert 'id="anexo"' not in few and 'id="anexo"' in many
    alike = {**PENALTY, "dataEmissaoPenalidade": "14/10/2026"}
    annex = printed(*[fine(localInfracao=f"KM {n}", **alike) for n in range(MOST_IN_LEDGER + 1)])
    number, what, body, days, state, amount = annex.cells[3]
    assert number.startswith("4. 14/08/2025")
    assert what.endswith("745-5, art. 218, I; média, 4 pontos")
    assert body == "PRF, MG km 3" and days == "22/08/2025 14/10/2026, fora do prazo"
    assert state.startswith(("vencimento provável", "exigível"))
    assert amount == "R$ 130,16"


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, ("8 dos 30 dias", "embora tenham passado 463 dias")),
        (
            {"dataEmissaoNotificacao": "30/09/2025"},
            ("47 dias, fora do prazo", "47 dias depois da infração", "deveria ser arquivado"),
        ),
        (
            {"dataEmissaoPenalidade": "24/09/2025"},
            ("41 dos 180 dias", "em regra, já pode ser cobrada"),
        ),
        (
            {"dataEmissaoPenalidade": "25/08/2025"},
            ("antes do fim da defesa", "em princípio, é nula", "em regra, já pode ser cobrada"),
        ),
        (
            {"dataEmissaoPenalidade": "14/04/2026"},
            ("243 dias, no prazo só com defesa prévia", "ou 360 se houve defesa prévia"),
        ),
        (
            {"dataEmissaoPenalidade": "14/10/2026"},
            ("426 dias, fora do prazo", "426 dias depois da infração", "já teria se perdido"),
        ),
        (
            {"dataEmissaoPenalidade": "10/11/2026"},
            ("ao menos até 10/12/2026", "cabe recorrer ou pagar com desconto"),
        ),
        (
            {"dataInfracao": "14/08/2018", "dataEmissaoNotificacao": "20/08/2018"},
            ("os 5 anos passaram em 14/08/2023", "Pode ter prescrito"),
        ),
        ({"dataEmissaoPenalidade": HIDDEN}, ("oculta a data da penalidade",)),
        ({"tipo": "SUSPENSA"}, ("“SUSPENSA”", "não pode ser cobrada enquanto durar")),
        ({"codigoInfracao": "9999"}, ("fora da tabela do portal",)),
        ({"dataInfracao": "14/02/2025"}, ("já não contam mais",)),
    ],
)
def test_legal_assessment_is_printed_for_one_or_more_fines(
    given: dict[str, str], expected: tuple[str, ...], count: int
) -> None:
    table = printed(*[fine(**given)] * count)
    for row in range(count):
        words = table.words(row)
        assert all(part in words for part in expected), words


def test_hidden_and_empty_fields_differ() -> None:
    words = printed(fine(autoInfracao=HIDDEN, localInfracao="")).words()
    assert "Auto de infração: oculto pela fonte." in words
    assert "Local não informado" in words


def test_paid_fine_has_no_discount_or_deadline() -> None:
    paid = fine(pagamento=payment(dataPagamento="02/12/2025", valorPago="130.16"))
    table = printed(paid)
    assert table.cells[0][1] == "paga"
    assert "Pagamento 02/12/2025" in table.words()
    assert "Prescrição" not in table.words() and "Desconto" not in table.words()
    assert "Em regra, pelo CTB" not in table.note


def test_truncated_paid_amount_is_completed() -> None:
    paid = payment(dataPagamento="02/12/2025", valorPago="104")
    words = printed(fine(pagamento=paid)).words()
    assert "Valor pago: R$ 104,13 (80% do valor da tabela" in words


def test_dossier_lists_all_candidates_with_price_and_change() -> None:
    entries = [
        fipe_entry(versao=f"VERSAO {n}", valorAtual=f"{50_000 + n}.00", historicoPreco=[])
        for n in range(9)
    ]
    entries[0]["historicoPreco"] = price_history(60, 0, (2021, 12))
    page = page_of(decode=decode_body(str(PLATE), informacoesFipe=entries))
    assert page.chart is not None
    text = text_of(check_html(render(page))).replace("\u00a0", " ")
    table = text.partition("Em 12 meses")[2]
    assert all(f"Versao {n} · 2015" in table for n in range(9))
    assert re.search(r"Versao 0 · 2015.{0,80}\u2212\d+,\d%R\$ 50.000", table)
    assert re.search(r"Versao 8 · 2015.{0,80}sem dados para compararR\$ 50.008", table)


def test_month_table_has_every_month_of_likeliest_version() -> None:
    history = price_history(30, 3, (2024, 8))
    page = page_of(
        decode=decode_body(str(PLATE), informacoesFipe=[fipe_entry(historicoPreco=history)])
    )
    rows = re.findall(r'<tr><th scope="row">\d{4}</th>(.*?)</tr>', render(page))
    cells = [re.sub("</?i>", "", price) for row in rows for price in row[4:-5].split("</td><td>")]
    assert rows and len(cells) == 12 * len(rows)
    shown = [cell for cell in cells if cell != "—"]
    sent = [f"{int(point['valor']):,}".replace(",", ".") for point in history]
    assert sorted(cell.rstrip("*") for cell in shown) == sorted(sent)
    assert sum(cell.endswith("*") for cell in shown) == 3


def test_timeline_has_a_line_for_each_record() -> None:
    timeline = page_of(fine(), fine(dataInfracao="01/02/2025")).timeline
    assert timeline is not None
    texts = [line.text for line in timeline.lines]
    assert texts[0].startswith("Multa 2")
    assert any(text.startswith("Restrição de transferência (TJMG)") for text in texts)
    assert len(texts) == 3
    assert "de 01/02/2025 a" in timeline.description
    assert all(0 <= x <= timeline.width for line in timeline.lines for x in line.dots)
    for line in timeline.lines:
        assert list(line.dots) == sorted(line.dots)


def test_many_fines_share_a_line_for_each_standing() -> None:
    timeline = page_of(*[fine()] * (MOST_LINES + 1)).timeline
    assert timeline is not None
    assert len(timeline.lines) == 2
    assert any(line.text.startswith(f"{MOST_LINES + 1} multas: ") for line in timeline.lines)


def test_day_after_the_dossier_is_not_drawn() -> None:
    future = fine(dataInfracao="01/01/2030", dataEmissaoNotificacao="", dataEmissaoPenalidade="")
    timeline = page_of(future).timeline
    assert timeline is not None
    assert not any(line.text.startswith("Multa") for line in timeline.lines)


@given(st.lists(st.dates(date(1990, 1, 1), date(2035, 1, 1)), min_size=1, max_size=12))
def test_timeline_stays_inside_its_picture(days: list[date]) -> None:
    records = (fine(dataInfracao=f"{day:%d/%m/%Y}", dataEmissaoNotificacao="") for day in days)
    timeline = page_of(*records).timeline
    assert timeline is not None
    xs = [*(x for line in timeline.lines for x in line.dots), *(x for x, _ in timeline.ticks)]
    assert all(0 <= x <= timeline.width for x in xs)
    assert timeline.lines[-1].y < timeline.foot


def test_stale_answer_on_paper_does_not_claim_a_source_failure() -> None:
    text = text_of(check_html(dossiers.stale()))
    assert "não respondeu" not in text
    assert "era a última resposta guardada na emissão, já fora do prazo" in text


def test_draft_and_issued_dossier_say_which_they_are() -> None:
    issuer = Issuer("Loja Central", "CNPJ 12.345.678/0001-90", "Av. Brasil, 1200", "")
    draft = render(page_of())
    assert "Prévia sem número" in draft and "Emitente: " not in draft
    issued = render(replace(page_of(), issuer=issuer, number="7F3K-9QMD-2XHA"))
    assert "Rascunho" not in issued
    for words in ("7F3K-9QMD-2XHA", "Loja Central", "CNPJ 12.345.678/0001-90", "Emitente: Loja"):
        assert words in issued


@pytest.mark.parametrize(
    "shown", [Panels(DOWN, DOWN, DOWN), Panels(answered(b"{}"), answered(b"{}"), DOWN)]
)
def test_dossier_without_an_answer_is_refused(shown: Panels) -> None:
    page = dossier_page(PLATE, shown, UNASKED, CONTEXT, address="https://portal.example")
    assert page.state == "empty"
    html = render(page)
    assert "Sem nenhum registro não há dossiê" in html
    for words in ("Posso", "Rascunho", "Emitente", "Baixar PDF", "Nenhuma multa"):
        assert words not in html


def test_dossier_prints_prior_defence_deadline_and_article() -> None:
    today = CONTEXT.today
    issued = f"{today - timedelta(days=10):%d/%m/%Y}"
    fresh = fine(dataInfracao=issued, dataEmissaoNotificacao=issued)
    table = printed(fresh)
    until = f"ao menos até {today + timedelta(days=20):%d/%m/%Y}"
    assert f"Defesa prévia {until}" in table.words()
    assert "Defesa prévia, art. 281-A do CTB" in table.words()
    # The annex leaves out deadlines that have passed.
    annex = printed(*[fine()] * MOST_IN_LEDGER, fresh)
    assert until in annex.cells[-1][4] and "22/09/2025" not in annex.cells[0][4]


def test_tied_versions_share_a_range_of_changes_and_the_chart_names_its_own() -> None:
    steady = [{**point, "valor": "92000"} for point in price_history()]
    tied = [fipe_entry(versao="V1"), fipe_entry(versao="V2", historicoPreco=steady)]
    page = page_of(decode=decode_body(str(PLATE), informacoesFipe=tied))
    (change,) = [figure for figure in page.figures if figure.label == "FIPE em 12 meses"]
    assert change.value == "\u22128,1% a 0,0%"
    assert page.chart is not None
    caption, *_ = page.chart
    assert "V1" in caption
    assert caption.endswith("uma das 2 versões que empatam.")
    assert caption in render(page)
    alone = page_of(decode=decode_body(str(PLATE), informacoesFipe=tied[:1]))
    assert alone.chart is not None and alone.chart[0] == ""


NOTICE = fine(
    dataInfracao=f"{CONTEXT.today - timedelta(days=9):%d/%m/%Y}",
    dataEmissaoNotificacao=f"{CONTEXT.today - timedelta(days=8):%d/%m/%Y}",
    dataEmissaoPenalidade="",
)
PAID = fine(pagamento=payment(dataPagamento="01/10/2025"))


def test_discount_is_a_sentence_on_the_fines_that_have_it_not_a_sum_of_all() -> None:
    html = render(page_of(fine(dataEmissaoPenalidade="01/01/2026"), NOTICE))
    assert "1 autuação ainda pode ter desconto até o vencimento. " in html
    assert "<dt>Com 20% de desconto</dt>" not in html
    assert "ter desconto até o vencimento" not in render(page_of(PAID))


def test_timeline_texts_agree_in_number_and_end_before_the_line_of_today() -> None:
    timeline = page_of(NOTICE, *[PAID] * MOST_LINES).timeline
    assert timeline is not None
    lines = {line.text: line for line in timeline.lines}
    assert f"{MOST_LINES} multas: pagas" in lines
    notice = lines["1 multa: em autuação"]
    assert notice.anchor == "end" and notice.text_x < timeline.today_x


def test_dots_on_paper_count_what_is_left_to_verify() -> None:
    """One for each source that answered, and one for each line of the checklist."""

    def dots(shown: Panels) -> tuple[int, int]:
        page = dossier_page(PLATE, shown, UNASKED, CONTEXT, address="https://portal.example")
        tree = check_html(render(page))
        found = [one for one in tree.iter() if "gaps__dot" in one.get("class", "").split()]
        known = [one for one in found if "gaps__dot--known" in one.get("class", "")]
        left = page.dossier.open_lines
        assert f"Não verificado neste dossiê: {left} de {len(LINES)}" in text_of(tree)
        return len(found) - len(LINES), len(known)

    # Three sources, and the lines of fines and court orders.
    assert dots(panels()) == (3, 5)
    assert dots(replace(panels(), fines=DOWN)) == (2, 3)
    argo = fipe_entry(marca="Fiat", modelo="ARGO", versao="1.0 6V FLEX")
    assert dots(panels(decode_body(str(PLATE), informacoesFipe=[argo]))) == (2, 4)


def test_source_that_answered_with_a_text_did_respond() -> None:
    unread = Panel("unavailable", reason="Um texto.", cause="unconfirmed")
    page = vehicle_page(PLATE, replace(panels(), fines=unread), UNASKED, CONTEXT)
    text = text_of(check_html(render(page)))
    assert "Renainf não confirmado" in text and "Renainf não respondeu" not in text
