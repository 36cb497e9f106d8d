"""The rows that one ticks at the vehicle: by thumb, by keyboard, offline, without a script."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import PageFactory
from tests.browser.found import box_of
from tests.browser.waiting import wait_in
from tests.fakes.processes import PortalProcess

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

PRESSED = '[data-row="{}"] .mark--{}[aria-pressed="true"]'


@pytest.fixture(scope="module")
def portal() -> Iterator[PortalProcess]:
    with PortalProcess(workers=1) as running:
        yield running


def test_divergence_is_noted_with_one_tap_and_stands_on_the_paper(
    phone_page: "Page", portal: PortalProcess
) -> None:
    phone_page.goto(f"{portal.url}/placa/ABC1D23?completo=1")
    mark = phone_page.locator('[data-row="cambio"] .mark--differs')
    box = box_of(mark)
    assert box["width"] >= 44 and box["height"] >= 44
    mark.tap()
    phone_page.wait_for_selector("#veiculo .notice:has-text('1 divergência')")
    phone_page.fill('[data-row="cambio"] [name="what"]', "manual")
    phone_page.locator('[data-row="cambio"] .car-row__what button').tap()
    phone_page.wait_for_selector("[data-row=cambio]:has-text('no carro: manual')")
    phone_page.goto(f"{portal.url}/placa/ABC1D23/dossie")
    assert "manual no carro" in phone_page.locator("#visto-no-carro").inner_text()


def test_mark_waits_offline_and_is_sent_once(own_page: "Page", portal: PortalProcess) -> None:
    page = own_page
    sent: list[str] = []
    page.on(
        "request",
        lambda request: sent.append(request.url) if request.method == "POST" else None,
    )
    page.goto(f"{portal.url}/placa/LMP0A01?completo=1")
    page.context.set_offline(True)
    page.locator('[data-row="placa"] .mark--match').click()
    page.wait_for_selector(PRESSED.format("placa", "match"))
    page.wait_for_selector("[data-car-waiting]:has-text('Sem conexão')")
    sent.clear()
    page.context.set_offline(False)
    page.wait_for_selector("#veiculo h2:has-text('1 de')")
    assert len(sent) == 1
    assert page.evaluate("localStorage.length") == 0
    page.reload()
    page.wait_for_selector(PRESSED.format("placa", "match"))


def test_rows_are_marked_by_keyboard(page: "Page", portal: PortalProcess) -> None:
    page.goto(f"{portal.url}/placa/FIP0A03?completo=1")
    mark = page.locator('[data-row="modelo"] .mark--match')
    mark.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(PRESSED.format("modelo", "match"))
    assert page.evaluate("document.activeElement.className").startswith("mark mark--match")
    assert mark.get_attribute("aria-pressed") == "true"
    assert mark.inner_text().strip() == "confere"
    page.keyboard.press("Enter")  # a second press takes the mark back
    page.wait_for_selector('[data-row="modelo"] .mark--match[aria-pressed="false"]')


def test_mark_made_while_the_page_is_renewed_is_sent_too(
    page: "Page", portal: PortalProcess
) -> None:
    """The answer of the renewal does not know the second mark yet."""
    page.goto(f"{portal.url}/placa/CIR0A01?completo=1")
    held: list[Route] = []
    page.route("**/painel/**", lambda route: held.append(route), times=1)
    mark = page.locator('[data-row="modelo"] .mark--match')
    mark.focus()
    with page.expect_request("**/painel/**"):
        page.keyboard.press("Enter")
    page.keyboard.press("Enter")  # takes the mark back
    held[0].continue_()
    wait_in(page, "!localStorage.length")
    page.wait_for_selector("[data-car-waiting]:has-text('Guardado.')")
    assert mark.get_attribute("aria-pressed") == "false"
    assert mark.evaluate("one => one === document.activeElement")
    page.reload()
    assert mark.get_attribute("aria-pressed") == "false"


def test_forms_need_no_script(new_page: PageFactory, portal: PortalProcess) -> None:
    page = new_page(java_script_enabled=False)
    page.goto(f"{portal.url}/placa/MUL0A45?completo=1")
    page.locator('[data-row="placa"] .mark--differs').click()
    assert page.url.endswith("/placa/MUL0A45#carro-placa")
    page.fill('[data-row="placa"] [name="what"]', "MUL0A46")
    page.locator('[data-row="placa"] .car-row__what button').click()
    assert "no carro: MUL0A46" in page.locator("#carro-placa").inner_text()


def test_marks_are_heard_with_their_row_and_their_state(
    page: "Page", portal: PortalProcess
) -> None:
    """Eight pairs of equal buttons: the group names the row, and a status says what was kept."""
    page.goto(f"{portal.url}/placa/LMP0A01?completo=1")
    rows = page.locator(".car-row").all()
    groups = [row.get_by_role("group") for row in rows]
    names = [group.get_attribute("aria-label") for group in groups]
    assert len(rows) >= 6 and all(names) and len(set(names)) == len(names)
    for group in groups:
        for name in ("confere", "não confere"):
            button = group.get_by_role("button", name=name, exact=True)
            assert button.get_attribute("aria-pressed") == "false"
    groups[0].get_by_role("button", name="confere", exact=True).press("Enter")
    page.get_by_role("status").filter(has_text="Guardado.").wait_for()
    groups[0].get_by_role("button", name="confere", exact=True, pressed=True).wait_for()
    row = page.locator('[data-row="motor"]')
    row.get_by_role("button", name="não confere").press("Enter")
    row.get_by_role("textbox", name="O que há no carro?").wait_for()
