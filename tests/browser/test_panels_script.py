"""Tests of panels.js: failed panels keep their warnings and the keyboard focus."""

import re
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from tests.effort import long
from tests.fakes.processes import PortalProcess

if TYPE_CHECKING:
    from playwright.sync_api import Page

# A new plate for each test, because the page of a plate with stored answers loads no panels.
PLATES = (f"ABC{number % 10}D{number:02}" for number in count(31))
MULTAS = "**/painel/multas"
STALE = "resposta guardada de 1º de novembro"
# The fines panel; with NOTICES it has a stored answer and a failed lookup, as in an outage.
PANEL = """<!doctype html><section class="panel" id="multas" data-panel="{state}"{gap}
 data-panel-url="/placa/ABC1D23/painel/multas"><div class="panel__head"><h2>Multas</h2></div>
 {notices}<p>Conteúdo {number}</p></section>"""
NOTICES = """<div class="notice"><p class="notice__title">{stale}</p></div>
 <div class="notice"><p>indisponível <a href="#" data-panel-retry="multas">Tentar de novo</a></p>
 </div>"""


@pytest.fixture(scope="module")
def portal() -> Iterator[PortalProcess]:
    with PortalProcess(workers=1) as running:
        yield running


def answer_with(page: "Page", number: int, *, state: str = "ready", notices: bool = True) -> None:
    """Set the response to all further requests for the fines panel."""
    body = PANEL.format(
        state=state,
        number=number,
        gap=" data-panel-gap" if notices else "",
        notices=NOTICES.format(stale=STALE) if notices else "",
    )
    page.unroute(MULTAS)
    page.route(MULTAS, lambda route: route.fulfill(body=body, content_type="text/html"))


def shown(page: "Page") -> str:
    return str(page.inner_text("#multas"))


def announced(page: "Page") -> str:
    return str(page.text_content("#andamento"))


def retry_by_keyboard(page: "Page", control: str) -> None:
    page.focus(control)
    page.keyboard.press("Enter")


@pytest.fixture
def unavailable(page: "Page", portal: PortalProcess) -> Any:
    """A vehicle page whose fines panel has an old answer, a notice and a retry link."""
    answer_with(page, 1)
    page.goto(f"{portal.url}/placa/{next(PLATES)}")
    page.wait_for_selector("#multas >> text=Conteúdo 1")
    page.wait_for_selector("#resumo:not([aria-busy])")
    return page


def test_failed_retry_keeps_warnings(unavailable: Any) -> None:
    page = unavailable
    page.unroute(MULTAS)
    page.route(MULTAS, lambda route: route.abort())
    for control in ("#multas [data-panel-retry]", "#multas [data-panel-failure] button"):
        retry_by_keyboard(page, control)
        page.wait_for_selector("#multas [data-panel-failure]")
        assert STALE in shown(page) and "indisponível" in shown(page)
        assert page.locator("#multas [data-panel-failure]").count() == 1
        assert page.locator("#multas .progress").count() == 0
        assert "Multas: não carregou" in announced(page)
    assert page.evaluate("document.querySelector('#multas').contains(document.activeElement)")


def test_successful_retry_replaces_panel_and_keeps_focus(
    unavailable: Any,
) -> None:
    page = unavailable
    answer_with(page, 2, notices=False)
    retry_by_keyboard(page, "#multas [data-panel-retry]")
    page.wait_for_selector("#multas >> text=Conteúdo 2")
    assert STALE not in shown(page)
    assert "Multas: pronto" in announced(page)
    assert page.evaluate("document.activeElement.matches('#multas h2')")


@pytest.mark.parametrize(
    ("state", "outcome"),
    [
        ("ready", "continua indisponível em parte"),
        *long(("unavailable", "continua indisponível")),
    ],
)
def test_unavailable_panel_is_not_announced_as_ready(
    unavailable: Any, state: str, outcome: str
) -> None:
    page = unavailable
    assert announced(page) != "Multas: pronto"
    answer_with(page, 2, state=state)
    retry_by_keyboard(page, "#multas [data-panel-retry]")
    page.wait_for_selector("#multas >> text=Conteúdo 2")
    assert f"Multas: {outcome}" in announced(page)


def test_loading_panel_does_not_take_focus(page: "Page", portal: PortalProcess) -> None:
    page.goto(f"{portal.url}/placa/{next(PLATES)}", wait_until="commit")
    page.focus(".brand")
    page.wait_for_selector("#multas[data-panel=ready]")
    assert page.evaluate("document.activeElement.matches('.brand')")


@pytest.mark.parametrize(
    ("value", "seconds"), [("90", 90), *long(("", 30), ("0", 30), ("breve", 30))]
)
def test_panel_timeout_follows_server_setting(
    own_page: "Page", portal: PortalProcess, value: str, seconds: int
) -> None:
    """The time-out is ``data-panel-seconds``, or 30 s without a valid value."""
    page = own_page

    def set_panel_seconds(route: Any) -> None:
        html = re.sub(r' data-panel-seconds="[^"]*"', "", route.fetch().text())
        tag = f'<html data-panel-seconds="{value}" ' if value else "<html "
        route.fulfill(body=html.replace("<html ", tag, 1), content_type="text/html")

    page.add_init_script(
        """window.waited = [];
        const timeout = AbortSignal.timeout.bind(AbortSignal);
        AbortSignal.timeout = (ms) => (window.waited.push(ms), timeout(ms));"""
    )
    plate = next(PLATES)
    page.route(f"**/placa/{plate}", set_panel_seconds)
    answer_with(page, 1)
    page.goto(f"{portal.url}/placa/{plate}")
    page.wait_for_selector("#multas >> text=Conteúdo 1")
    assert set(page.evaluate("window.waited")) == {seconds * 1000}
