"""Tests of the glossary links."""

import pytest

from portal.presentation.filters import term_link
from portal.presentation.vehicle.panel_frame import PanelName
from tests.presentation.pages import panel_fragment
from tests.presentation.rendering import CONTEXT, PLATE, panels, render
from tests.web.html_checker import HTML, parse


def test_link_text_is_the_name_of_the_entry() -> None:
    assert term_link("fipe") == '<a class="term" href="/glossario#fipe">FIPE</a>'


def test_link_text_is_escaped() -> None:
    assert term_link("fipe", "<b>") == '<a class="term" href="/glossario#fipe">&lt;b&gt;</a>'


def test_unknown_slug_is_rejected() -> None:
    with pytest.raises(ValueError, match="no entry 'fipes'"):
        term_link("fipes")


@pytest.mark.parametrize(
    ("name", "slugs"),
    [
        ("multas", {"autuacao", "exigivel", "sne"}),
        ("restricoes", {"transferencia", "circulacao", "penhora"}),
    ],
)
def test_panel_links_each_term_once(name: PanelName, slugs: set[str]) -> None:
    html = render(panel_fragment(name, PLATE, panels(), CONTEXT))
    page = parse(f"<!doctype html><html lang='pt-BR'>{html}</html>")
    links = [a.get("href") for a in page.iter(f"{HTML}a") if a.get("class") == "term"]
    assert len(links) == len(set(links))
    assert {f"/glossario#{slug}" for slug in slugs} <= set(links)
