"""Tests of the glossary links."""

import re
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.law import GLOSSARY, term
from portal.presentation import panel_fragment
from portal.presentation.glossary_links import MENTIONS, glossed
from tests.factories import fine, renainf_body
from tests.presentation.rendering import CONTEXT, PLATE, panels, render
from tests.web.html_checker import HTML, check_html


def plain(html: str) -> str:
    return re.sub(r'<a class="term" href="/glossario#[a-z-]+">(.*?)</a>', r"\1", html)


def test_mentions_are_glossary_terms() -> None:
    assert set(MENTIONS) <= {entry.slug for entry in GLOSSARY}
    assert all(term(slug) for slug in MENTIONS)


def test_only_first_mention_is_linked() -> None:
    assert glossed("<p>A autuação e outra autuação.</p><p>Autuação</p>") == (
        '<p>A <a class="term" href="/glossario#autuacao">autuação</a> e outra autuação.</p>'
        "<p>Autuação</p>"
    )


@pytest.mark.parametrize(
    "html",
    [
        '<a href="/x">Preço FIPE</a>',
        "<button>FIPE</button>",
        "<h3>Preço <b>FIPE</b></h3>",
        "<svg><title>FIPE</title><text>FIPE</text></svg>",
        "<code>FIPE</code>",
        '<img alt="FIPE">',
        "<!-- FIPE -->",
        "<p>FIPES, fipe, subFIPE, FIPE-X, TRANSFERENCIA, PENALIDADE</p>",
        "<summary>Prazos e <span>penalidade</span></summary>",
    ],
)
def test_excluded_elements_and_words_get_no_link(html: str) -> None:
    assert glossed(html) == html


def test_linking_resumes_after_excluded_element() -> None:
    assert 'href="/glossario#fipe"' in glossed("<h3>FIPE</h3><p>FIPE</p>")


@given(st.lists(st.text(max_size=30) | st.sampled_from(["FIPE", "autuação", " "]), max_size=6))
def test_glossed_changes_nothing_but_links(texts: list[str]) -> None:
    html = "".join(f'<p title="{escape(text)}">{escape(text)}</p>' for text in texts)
    assert plain(glossed(html)) == html


def test_panel_links_each_term_once() -> None:
    html = render(panel_fragment("multas", PLATE, panels(), CONTEXT))
    page = check_html(f"<!doctype html><html lang='pt-BR'><title>x</title><h1>x</h1>{html}</html>")
    links = [a.get("href") for a in page.iter(f"{HTML}a") if a.get("class") == "term"]
    assert len(links) == len(set(links))
    assert {"/glossario#autuacao", "/glossario#exigivel", "/glossario#sne"} <= set(links)


def test_hostile_source_text_stays_escaped() -> None:
    body = renainf_body(fine(codigoInfracao="", descricao='FIPE"><script>x</script> autuação'))
    html = render(panel_fragment("multas", PLATE, panels(renainf=body), CONTEXT))
    assert "<script>x" not in html
