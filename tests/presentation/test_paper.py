"""Tests of the dossier's fines, prices and timeline."""

import re
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.dossier.answers import Panels
from portal.law.assessment import AssessedFine
from portal.presentation.paper.dossier import DossierPage, Issuer, dossier_page
from portal.presentation.paper.fines import MOST_IN_LEDGER
from portal.presentation.paper.timeline import MOST_LINES
from portal.vehicle.fines import read_fines
from portal.vehicle.wire import result_of
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
from tests.presentation.rendering import CONTEXT, DOWN, PLATE, UNASKED, answered, panels, render
from tests.web.html_checker import HTML, check_html, text_of

PENALTY = {"dataInfracao": "14/08/2025", "dataEmissaoNotificacao": "22/08/2025"}


def page_of(*fines: Any, decode: bytes | None = None) -> DossierPage:
    shown = panels(decode=decode, renainf=renainf_body(*fines))
    return dossier_page(PLATE, shown, UNASKED, CONTEXT, address="https://portal.example")


@dataclass(frozen=True)
class Printed:
    """The text of each row's line and body, and of the notes below the rows."""

    heads: list[list[str]]
    bodies: list[str]
    notes: dict[str, str]
    common: str
    rules: str
    discounts: list[str]

    def words(self, row: int = 0) -> str:
        """The text of a row, of its footnotes, and of the notes on all rows."""
        notes = [self.notes[mark] for mark in self.marks(row)]
        return " ".join((*self.heads[row], self.bodies[row], *notes, self.common))

    def marks(self, row: int) -> list[str]:
        _, _, marks = self.bodies[row].rpartition(" Notas: ")
        return marks.rstrip(".").split(", ") if " Notas: " in self.bodies[row] else []


def printed(*fines: Any) -> Printed:
    tree = check_html(render(page_of(*fines)))
    (table,) = [one for one in tree.iter(f"{HTML}table") if "fines" in one.get("class", "").split()]
    rows = [row for row in table.iter(f"{HTML}tr") if row.find(f"{HTML}td") is not None]
    for value in table.iter(f"{HTML}dd"):
        value.text = f": {value.text}. "
    (shared,) = [one for one in tree.iter(f"{HTML}div") if one.get("class") == "fine-notes"]
    texts = [text_of(one) for one in shared]
    lettered = [one for one in shared if (one.findtext(f"{HTML}b") or "").endswith(")")]
    return Printed(
        heads=[[text_of(cell) for cell in row] for row in rows[::2]],
        bodies=[text_of(row) for row in rows[1::2]],
        notes={
            (mark.text or "").rstrip(")"): (mark.tail or "").strip()
            for one in lettered
            for mark in one.iter(f"{HTML}b")
        },
        common=" ".join(text for text in texts if text.startswith("Em todas as multas.")),
        rules=" ".join(text for text in texts if text.startswith("Prazos:")),
        discounts=[text for text in texts if text.startswith("Desconto, ")],
    )


def test_shared_sentence_becomes_note_and_single_stays_in_row() -> None:
    twins = printed(fine(), fine())
    (read,) = read_fines(result_of(renainf_body(fine())), HIDDEN)
    sentence = AssessedFine(read, CONTEXT.today).status.shared
    assert list(twins.notes.values()).count(sentence) == 1
    assert not any(sentence in body for body in twins.bodies)
    alone = printed(fine())
    assert (alone.notes, alone.common) == ({}, "")
    assert sentence in alone.bodies[0]
    assert alone.marks(0) == []


def test_what_holds_for_all_fines_is_said_once() -> None:
    table = printed(fine(autoInfracao=HIDDEN), fine(autoInfracao=HIDDEN))
    _, _, hidden = table.common.partition("Oculto pela fonte: ")
    hidden = hidden.partition(".")[0]
    assert "Auto de infração" in hidden and "CNH do infrator" in hidden
    assert "CNH do infrator" not in table.bodies[0] + "".join(table.notes.values())
    (read,) = read_fines(result_of(renainf_body(fine())), HIDDEN)
    note = " ".join(AssessedFine(read, CONTEXT.today).amount.note.split())
    assert table.common.count(note) == 1


def test_codes_of_a_body_stay_in_the_row_where_they_differ() -> None:
    same = printed(fine(codigoOrgaoAutuador="A"), fine(codigoOrgaoAutuador="A"))
    differing = printed(fine(codigoOrgaoAutuador="A"), fine(codigoOrgaoAutuador="B"))
    assert "Códigos do órgão autuador" in same.common
    assert "Códigos do órgão autuador" not in differing.common
    assert "Código do órgão autuador: A" in differing.words(0)


def test_more_fines_than_the_ledger_holds_are_an_annex() -> None:
    few, many = (
        render(page_of(*[fine()] * count)) for count in (MOST_IN_LEDGER, MOST_IN_LEDGER + 1)
    )
    assert 'id="anexo"' not in few and 'id="anexo"' in many
    alike = {**PENALTY, "dataEmissaoPenalidade": "14/10/2026"}
    annex = printed(*[fine(localInfracao=f"KM {n}", **alike) for n in range(MOST_IN_LEDGER + 1)])
    assert annex.bodies[3].startswith(
        "745-5, art. 218, I do CTB; média, 4 pontos, não contados; "
        "Polícia Rodoviária Federal (MG); km 3; "
    )
    # Every sentence is a note, and the notes say what is hidden.
    assert re.search(r"; [^.]*: 10%\. Notas: [a-z, ]+\.$", annex.bodies[3])
    assert "oculto" not in annex.bodies[3]
    assert "Oculto pela fonte: Auto de infração" in annex.common


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, ("8 dos 30 dias", "embora tenham passado mais de 360 dias")),
        (
            {"dataEmissaoNotificacao": "30/09/2025"},
            ("47 dias depois da infração", "deveria ser arquivado"),
        ),
        (
            {"dataEmissaoPenalidade": "24/09/2025"},
            ("41 dos 180 dias", "em regra, já pode ser cobrada"),
        ),
        (
            {"dataEmissaoPenalidade": "25/08/2025"},
            ("em princípio, é nula", "em regra, já pode ser cobrada"),
        ),
        (
            {"dataEmissaoPenalidade": "14/04/2026"},
            ("243 dias depois da infração", "só se houve defesa prévia"),
        ),
        (
            {"dataEmissaoPenalidade": "14/10/2026"},
            ("426 dias depois da infração", "já teria se perdido"),
        ),
        (
            {"dataEmissaoPenalidade": "10/11/2026"},
            ("ao menos até 10/12/2026", "Ainda no prazo: ao menos por 30 dias da penalidade"),
        ),
        (
            {"dataInfracao": "14/08/2018", "dataEmissaoNotificacao": "20/08/2018"},
            ("os 5 anos passaram em 14/08/2023", "pode ter prescrito"),
        ),
        ({"dataEmissaoPenalidade": HIDDEN}, ("oculta a data da penalidade",)),
        ({"tipo": "SUSPENSA"}, ("“SUSPENSA”", "não pode ser cobrada enquanto durar")),
        ({"codigoInfracao": "9999"}, ("fora da tabela do portal",)),
        ({"dataInfracao": "14/02/2025"}, ("já saíram da contagem",)),
    ],
)
def test_legal_assessment_is_printed_for_one_or_more_fines(
    given: dict[str, str], expected: tuple[str, ...], count: int
) -> None:
    table = printed(*[fine(**given)] * count)
    for row in range(count):
        words = table.words(row)
        assert all(part in words for part in expected), words


def test_marks_and_notes_match() -> None:
    codes = ("7455", "5010", "6050", "9999", "7633")
    table = printed(*(fine(codigoInfracao=code) for code in codes for _ in range(2)))
    marks = {mark for row in range(len(table.bodies)) for mark in table.marks(row)}
    assert marks == set(table.notes)


def test_hidden_and_empty_fields_differ() -> None:
    words = printed(fine(autoInfracao=HIDDEN, localInfracao="")).words()
    assert "Auto de infração: oculto pela fonte." in words
    assert "Local: não informado." in words


def test_paid_fine_has_no_discount_or_deadline() -> None:
    paid = fine(pagamento=payment(dataPagamento="02/12/2025", valorPago="130.16"))
    table = printed(paid)
    assert table.heads[0][2] == "paga"
    assert "Pagamento: 02/12/2025" in table.bodies[0]
    assert "Prescrição" not in table.bodies[0] and "Desconto" not in table.bodies[0]
    assert (table.rules, table.discounts) == ("", [])


def test_enforceable_fine_prints_no_discounted_amount() -> None:
    enforceable = fine(**PENALTY, dataEmissaoPenalidade="20/11/2025")
    table = printed(enforceable, fine())
    assert "Desconto" not in table.bodies[0]
    assert "Desconto: R$ 104,13 com 20%; R$ 78,10 com 40% pelo SNE." in table.bodies[1]
    (past, running) = table.discounts
    assert past.startswith("Desconto, exigível: Em regra, não há mais desconto")
    assert running.startswith("Desconto, situação não informada: Em regra: 20% até o vencimento")


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
    assert all(f"VERSAO {n} · 2015" in table for n in range(9))
    assert re.search(r"VERSAO 0 · 2015.{0,80}\u2212\d+,\d%R\$ 50.000", table)
    assert re.search(r"VERSAO 8 · 2015.{0,80}sem dados para compararR\$ 50.008", table)


def test_month_table_has_every_month_of_likeliest_version() -> None:
    history = price_history(30, 3, (2024, 8))
    page = page_of(
        decode=decode_body(str(PLATE), informacoesFipe=[fipe_entry(historicoPreco=history)])
    )
    rows = re.findall(r'<tr><th scope="row">\d{4}</th>(.*?)</tr>', render(page))
    cells = [price for row in rows for price in re.sub("</?td>", "\t", row).split("\t") if price]
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
    table = printed(fine(dataInfracao=issued, dataEmissaoNotificacao=issued))
    assert f"Defesa prévia: ao menos até {today + timedelta(days=20):%d/%m/%Y}." in table.words()
    assert "Defesa prévia, art. 281-A do CTB" in table.rules
    assert "Recurso" not in table.words() + table.rules
    # The notice may grant more than the minimum, so the page and the paper state its end.
    of_last_year = [fine()] * (MOST_IN_LEDGER + 1)
    assert "Defesa prévia: prazo mínimo até 22/09/2025." in printed(*of_last_year[:1]).words()
    assert "Defesa prévia" not in printed(*of_last_year).words()  # the annex leaves it out


def test_rules_cover_all_fines() -> None:
    today = CONTEXT.today
    issued = f"{today - timedelta(days=10):%d/%m/%Y}"
    fresh = fine(dataInfracao=issued, dataEmissaoNotificacao=issued)
    rules = printed(fresh, fine(**PENALTY, dataEmissaoPenalidade="20/11/2025")).rules
    assert "Defesa prévia" in rules
    assert "Recurso à JARI" in rules


def test_tied_versions_share_a_range_of_changes_and_the_chart_names_its_own() -> None:
    steady = [{**point, "valor": "92000"} for point in price_history()]
    tied = [fipe_entry(versao="V1"), fipe_entry(versao="V2", historicoPreco=steady)]
    page = page_of(decode=decode_body(str(PLATE), informacoesFipe=tied))
    (change,) = [figure for figure in page.figures if figure.label == "FIPE em 12 meses"]
    assert change.value == "\u22128,1% a 0,0%"
    assert page.chart is not None
    assert "V1" in page.chart.caption
    assert page.chart.caption.endswith("uma das 2 versões que empatam.")
    assert page.chart.caption in render(page)
    alone = page_of(decode=decode_body(str(PLATE), informacoesFipe=tied[:1]))
    assert alone.chart is not None
    assert alone.chart.caption == ""


NOTICE = fine(
    dataInfracao=f"{CONTEXT.today - timedelta(days=9):%d/%m/%Y}",
    dataEmissaoNotificacao=f"{CONTEXT.today - timedelta(days=8):%d/%m/%Y}",
    dataEmissaoPenalidade="",
)
PAID = fine(pagamento=payment(dataPagamento="01/10/2025"))


def test_discount_is_a_sentence_on_the_fines_that_have_it_not_a_sum_of_all() -> None:
    html = render(page_of(fine(dataEmissaoPenalidade="01/01/2026"), NOTICE))
    assert "1 autuação ainda pode ter desconto: " in html
    assert "<dt>Com 20% de desconto</dt>" not in html
    assert "ter desconto: " not in render(page_of(PAID))


def test_timeline_texts_agree_in_number_and_end_before_the_line_of_today() -> None:
    timeline = page_of(NOTICE, *[PAID] * MOST_LINES).timeline
    assert timeline is not None
    lines = {line.text: line for line in timeline.lines}
    assert f"{MOST_LINES} multas: pagas" in lines
    notice = lines["1 multa: em autuação"]
    assert notice.anchor == "end" and notice.text_x < timeline.today_x
