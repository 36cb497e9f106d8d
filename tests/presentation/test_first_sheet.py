"""What the first sheet has room for, and that the estimate is at least as high as the sheet."""

import re

import pytest

from portal.presentation.paper.first_sheet import LEAST_PLOT, MOST_PLOT, Texts, first_sheet
from tests.effort import long
from tests.presentation import dossiers
from tests.web.pages.test_pdf import lines_of, pdf_of

FIGURES = [("Preço FIPE", "R$ 89.325", "a mais provável"), ("Multas", "R$ 325,39", "2 multas")]
FACTS = [("Marca", "AUDI")] * 14
POINTS_A_MM = 72 / 25.4


def texts(reasons: int, law: int = 900) -> Texts:
    """Texts with so many reasons of the verdict, and so many letters on the acts' law."""
    return Texts(
        headline="Não pode ser transferido agora",
        lines=["x" * 100] * reasons,
        acts=[("Não", "Por ordem da Justiça")] * 4,
        figures=FIGURES,
        facts=FACTS,
        coverage=["IPVA e multas ambientais"] * 15,
        paragraphs=["x" * law, "x" * 200],
    )


def test_longer_texts_leave_less_to_the_chart() -> None:
    sheets = [first_sheet(texts(lines), has_chart=True) for lines in range(40)]
    for has_facts in (True, False):
        plots = [each.plot for each in sheets if each.has_chart and each.has_facts is has_facts]
        assert plots == sorted(plots, reverse=True) and len(set(plots)) > 3
        assert LEAST_PLOT <= plots[-1] < plots[0] <= MOST_PLOT


def test_the_chart_comes_before_the_facts_and_the_texts_before_the_chart() -> None:
    found = [
        (sheet.has_chart, sheet.has_facts)
        for lines in range(40)
        for sheet in [first_sheet(texts(lines), has_chart=True)]
    ]
    order = list(dict.fromkeys(found))
    assert order[0] == (True, True) and order[1] == (True, False) and order[-1] == (False, False)
    assert (True, True) not in found[found.index((True, False)) :]
    assert not first_sheet(texts(0), has_chart=False).has_chart


@pytest.mark.over_5_s("WeasyPrint lays out a dossier of each kind")
@pytest.mark.parametrize(
    "name", ["ABC1D23", *long("LMP0A01", "MUL0A45", "JUD0A04", "FIP0A06", "CIR0A01", "stale")]
)
def test_chart_takes_what_is_left_of_the_first_sheet(name: str) -> None:
    """At most 25 mm stay free above the sheet's foot, and nothing goes over to another sheet."""
    html = dossiers.stale() if name == "stale" else dossiers.of_sandbox(name)
    first = pdf_of(html).pages[0]
    assert "Este dossiê é autêntico?" in first.extract_text()
    foot = float(first.mediabox.height) - 8 * POINTS_A_MM
    lowest = max(top for top, _, text in lines_of(first) if "portal.example/verificar" in text)
    assert 0 <= foot - lowest <= 27 * POINTS_A_MM
    assert 'class="glance__chart"' in html


def test_acts_have_one_sentence_and_their_law_is_below_the_chart() -> None:
    html = dossiers.usual()
    acts, _, rest = html[html.index('<ul class="acts"') :].partition("</ul>")
    assert not re.search(r"art\.|arts\.", acts)
    briefs = re.findall(r'class="act__brief">([^<]*)<', acts)
    assert len(briefs) == 4 and all(len(each.split()) <= 14 for each in briefs)
    assert rest.index("glance__chart") < rest.index("impede a mudança de propriedade")
