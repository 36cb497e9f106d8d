"""Tests of the fines panel and of the bar on paper: bar, years, order, filters and selection."""

from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import pairwise
from typing import Any
from xml.etree.ElementTree import Element

import pytest

from portal.presentation.authority import short_authority
from portal.presentation.vehicle.fine_ledger import FEWEST_TO_CHOOSE, standing_bar
from portal.vehicle.field import Field
from portal.vehicle.plate import Renavam
from tests.factories import fine, payment, renainf_body
from tests.presentation.pages import panel_fragment, renavam_page, vehicle_page
from tests.presentation.rendering import CONTEXT, PLATE, UNASKED, answered, panels, render
from tests.web.html_checker import HTML, check_html, text_of


def ago(days: int) -> str:
    return f"{CONTEXT.today - timedelta(days=days):%d/%m/%Y}"


def record(days: int = 300, **overrides: Any) -> dict[str, Any]:
    """A fine whose penalty was issued ``days`` days ago."""
    return fine(
        **{
            "dataInfracao": ago(days + 90),
            "dataEmissaoNotificacao": ago(days + 80),
            "dataEmissaoPenalidade": ago(days),
            **overrides,
        }
    )


NOTICE = fine(dataInfracao=ago(20), dataEmissaoNotificacao=ago(10), ufOrgaoAutuador="RJ")
PAID = record(100, pagamento=payment(dataPagamento=ago(50)), ufOrgaoAutuador="MG")
RECORDS = (
    NOTICE,
    PAID,
    record(45, ufOrgaoAutuador="SP", orgaoAutuador="PREFEITURA MUNICIPAL DE SAO PAULO"),
    record(700, codigoInfracao="6050", descricao="AVANCAR O SINAL VERMELHO", valor="293"),
    record(300, ufOrgaoAutuador="SP"),
    record(310, ufOrgaoAutuador=""),
)


@dataclass(frozen=True)
class Shown:
    """What the fines panel shows."""

    panel: Element

    @property
    def heading(self) -> str:
        (count,) = self._all("span", "panel__count")
        return text_of(count)

    def _all(self, tag: str, name: str) -> list[Element]:
        found = self.panel.iter(f"{HTML}{tag}")
        return [one for one in found if name in one.get("class", "").split()]

    def text(self, tag: str, name: str) -> str:
        (found,) = self._all(tag, name)
        return text_of(found)

    @property
    def years(self) -> list[tuple[str, str, str]]:
        """The year, the words on its fines, and their sum."""
        heads = (one.iter(f"{HTML}th") for one in self._all("tr", "ledger__year"))
        return [tuple(map(text_of, next(head)))[:3] for head in heads]  # type: ignore[misc]

    @property
    def hidden_years(self) -> list[str]:
        out = self._all("tbody", "ledger__out")
        return [one.get("data-year", "") for one in out]

    @property
    def rows(self) -> list[Element]:
        return self._all("tr", "fine")

    @property
    def numbers(self) -> list[int]:
        """The numbers of the fines that no filter hides, in their order."""
        shown = (one for one in self.rows if "fine--out" not in one.get("class", "").split())
        return [int(one.get("id", "").removeprefix("multa-")) for one in shown]

    @property
    def checked(self) -> list[str]:
        boxes = (one for one in self.panel.iter(f"{HTML}input") if one.get("name") == "marcada")
        return [one.get("value", "") for one in boxes if one.get("checked") is not None]

    @property
    def negotiation(self) -> str:
        (link,) = self._all("a", "ledger-sum__negotiate")
        return link.get("href", "")


def panel(*records: dict[str, Any], **query: str | list[str]) -> Shown:
    values = {name: [sent] if isinstance(sent, str) else sent for name, sent in query.items()}
    pairs = tuple((name, one) for name, sent in values.items() for one in sent)
    answers = panels(renainf=renainf_body(*(records or RECORDS)))
    page = vehicle_page(PLATE, answers, UNASKED, replace(CONTEXT, query=pairs))
    tree = check_html(render(page))
    (found,) = (one for one in tree.iter(f"{HTML}section") if one.get("id") == "multas")
    return Shown(found)


def segments(*records: dict[str, Any]) -> list[tuple[str, float, float, str]]:
    """The state, start and width in per cent of each segment of the paper's bar, and its words."""
    answers = panels(renainf=renainf_body(*records))
    bar = standing_bar(CONTEXT.dossier(PLATE, answers).fines or ())
    return [(standing.key, part.x, part.width, f"{s.value} {s.label}") for part, standing, s in bar]


def test_bar_covers_every_situation_once() -> None:
    found = segments(*RECORDS)
    assert [state for state, *_ in found] == ["exigivel", "vencimento", "autuacao", "paga"]
    assert found[0][1] == 0
    assert sum(width for _, _, width, _ in found) == pytest.approx(100, abs=0.05)
    for (_, start, width, _), (_, after, *_) in pairwise(found):
        assert after == pytest.approx(start + width, abs=0.02)
    assert found[2][3] == "R$\xa0130,16 em 1 autuação, ainda não é multa"
    assert found[0][3].endswith(" em 3 multas exigíveis")


def test_small_sum_stays_visible_in_the_bar() -> None:
    dear = record(300, valor="99999", codigoInfracao="9999")
    bar = segments(dear, {**NOTICE, "valor": "1", "codigoInfracao": "9999"})
    assert bar[1][2] == pytest.approx(1.5, abs=0.05)
    assert sum(width for _, _, width, _ in bar) == pytest.approx(100, abs=0.05)


def test_bar_without_amounts_shows_counts() -> None:
    unknown = {"valor": "", "codigoInfracao": "9999"}
    bar = segments(record(300, **unknown), record(310, **unknown), {**NOTICE, **unknown})
    assert [round(width) for _, _, width, _ in bar] == [67, 33]


def test_fines_are_grouped_by_year_newest_first() -> None:
    found = panel()
    assert [year for year, _, _ in found.years] == ["2026", "2025", "2024"]
    assert found.numbers == [1, 3, 2, 5, 6, 4]
    assert found.years[0][1] == "2 multas e 1 autuação, 2 em aberto"


def test_year_whose_fines_are_all_open_says_so_once() -> None:
    for _, words, amount in panel(*[record()] * 5).years:
        assert f"{words} {amount}".count("em aberto") == 1


def test_undated_fines_come_last() -> None:
    found = panel(*RECORDS, record(dataInfracao="ontem"))
    assert found.years[-1][0] == "Sem data"
    assert found.numbers[-1] == 7


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ({"situacao": "autuacao"}, [1]),
        ({"situacao": "paga"}, [2]),
        ({"situacao": "aberto"}, [1, 3, 5, 6, 4]),
        ({"uf": "SP"}, [3, 5]),
        ({"uf": "sem"}, [6]),
        ({"uf": "SP", "situacao": "exigivel"}, [5]),
        ({"busca": "sinal"}, [4]),
        ({"busca": "são paulo"}, [3]),
        ({"busca": "nada disso"}, []),
        ({"uf": "XX", "situacao": "zzz"}, [1, 3, 2, 5, 6, 4]),
    ],
)
def test_filters_hide_other_fines(query: dict[str, Any], numbers: list[int]) -> None:
    found = panel(**query)
    assert found.numbers == numbers
    assert len(found.rows) == len(RECORDS)
    words = found.text("p", "ledger-shown")
    if len(numbers) < len(RECORDS):
        assert words.startswith(f"{len(numbers)} de 6 registros; R$ ")
        assert " de R$ " in words
    else:
        assert words.startswith("6 registros; R$ ")


def test_filtered_year_says_how_many_of_how_many() -> None:
    found = panel(uf="SP")
    assert found.years[0] == ("2026", "1 de 3 registros", "R$ 130,16 de R$ 260,32 em aberto")
    assert panel(uf="RJ").hidden_years == ["2025", "2024"]


def test_print_counts_the_whole_year_whatever_a_filter_hides() -> None:
    (words, amount) = (
        next(one.get(name, "") for one in panel(uf="SP").panel.iter() if one.get(name))
        for name in ("data-words", "data-amount")
    )
    assert words == "2 multas e 1 autuação, 2 em aberto"
    assert amount == "R$\u00a0260,32 em aberto"


def test_year_without_open_fines_has_no_sum() -> None:
    paid = [record(pagamento=payment(dataPagamento=ago(50)))] * 5
    assert [amount for _, _, amount in panel(*paid).years] == [""]
    assert [amount for _, _, amount in panel(*paid, busca="nada disso").years] == [""]


def test_orders_by_amount_and_gravity_have_no_years() -> None:
    by_amount = panel(ordem="valor")
    assert by_amount.numbers[0] == 4
    assert by_amount.years == []
    by_gravity = panel(*RECORDS, record(codigoInfracao="7633", valor="293"), ordem="gravidade")
    assert by_gravity.numbers[:2] == [7, 4]  # gravíssima, newest first
    assert by_gravity.years == []


def test_selection_sums_open_fines_only() -> None:
    found = panel(marcada=["1", "2", "4", "299"])
    assert found.text("div", "ledger-sum").startswith("Seleção: 1 multa e 1 autuação: R$ 423,63 ")
    assert found.negotiation == "/placa/ABC1D23/negociacao?multas=1,4"
    assert found.checked == ["1", "4"]


def test_selection_names_unknown_amounts() -> None:
    unknown = record(valor="", codigoInfracao="9999")
    words = panel(*RECORDS, unknown, marcada=["5", "7"]).text("div", "ledger-sum")
    assert "2 multas: R$ 130,16, e 1 sem valor informado" in words
    assert "ao menos" not in words
    alone = panel(*RECORDS, unknown, marcada=["7"]).text("div", "ledger-sum")
    assert "1 multa: valor não informado" in alone and "sem valor" not in alone


def test_short_list_has_no_controls_and_ignores_the_choice() -> None:
    few = [record(300 + n, ufOrgaoAutuador="SP") for n in range(FEWEST_TO_CHOOSE - 1)]
    found = panel(*few, uf="RJ", busca="nada", marcada=["1"])
    assert found.numbers == [1, 2, 3, 4]
    assert not list(found.panel.iter(f"{HTML}input")) and not list(
        found.panel.iter(f"{HTML}select")
    )


def test_heading_counts_notices_apart() -> None:
    assert panel().heading == "4 multas e 1 autuação em aberto, 1 paga"
    assert panel(NOTICE).heading == "1 autuação em aberto"
    assert panel(PAID).heading == "1 multa, paga"
    assert panel(PAID, PAID).heading == "2 multas, todas pagas"


def test_page_keeps_other_parameters_in_form_and_addresses() -> None:
    context = replace(CONTEXT, query=(("uf", "SP"), ("versao", "2"), ("completo", "1")))
    answers = panels(renainf=renainf_body(*RECORDS))
    page = vehicle_page(PLATE, answers, UNASKED, context)
    html = render(page)
    check_html(html)
    assert '<input type="hidden" name="versao" value="2">' in html
    assert 'data-panel-url="/placa/ABC1D23/painel/multas?uf=SP&amp;versao=2"' in html
    assert page.whole_page_url == "/placa/ABC1D23?uf=SP&versao=2&completo=1"
    assert '<option value="SP" selected>SP (2)</option>' in html


def test_panel_alone_is_filtered_too() -> None:
    answers = panels(renainf=renainf_body(*RECORDS))
    context = replace(CONTEXT, query=(("uf", "SP"),))
    html = render(panel_fragment("multas", PLATE, answers, context))
    assert html.count("fine--out") == 4
    assert "2 de 6 registros" in html


def test_every_fine_has_a_details_element_with_its_deadlines() -> None:
    html = render(panel_fragment("multas", PLATE, panels(renainf=renainf_body(*RECORDS)), CONTEXT))
    for number in range(1, 7):
        row = html.split(f'id="multa-{number}"')[1].split("</tr>")[0]
        assert f"Detalhes da multa {number}" in row
        assert '<ol class="deadlines"' in row
        assert "Texto da fonte" in row


def test_renavam_page_offers_no_negotiation() -> None:
    page = renavam_page(
        Renavam.parse("12345678910"), answered(renainf_body(*RECORDS)), UNASKED, CONTEXT
    )
    html = render(page)
    check_html(html)
    assert "negociacao" not in html
    assert 'action="/renavam/12345678910#multas"' in html


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("Polícia Rodoviária Federal", "PRF"),
        ("Prefeitura Municipal de São Paulo", "Pref. São Paulo"),
        ("Prefeitura do Recife", "Pref. Recife"),
        ("Detran SP", "Detran"),
        ("Departamento Estadual de Trânsito", "Detran"),
        ("DNIT", "DNIT"),
    ],
)
def test_usual_names_of_bodies_are_abbreviated(name: str, short: str) -> None:
    assert str(short_authority(Field(name, "known"))) == short
