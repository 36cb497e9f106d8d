"""The front page's field takes in a pasted chat, and no control makes an iPhone zoom."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.effort import long
from tests.fakes.processes import PortalProcess
from tests.quality.visits import SETTINGS, VISITS, Visit, open_page

if TYPE_CHECKING:
    from playwright.sync_api import Page

PLATES = [f"QTZ{n // 10}F{n % 10}1" for n in range(40)]
CHAT = "\n".join(f"[10:00, 27/11/2026] Zé do Pátio: {plate} ok?" for plate in PLATES)
PASTE = """([selector, text]) => {
  const data = new DataTransfer();
  data.setData("text", text);
  const options = { clipboardData: data, bubbles: true, cancelable: true };
  document.querySelector(selector).dispatchEvent(new ClipboardEvent("paste", options));
}"""
CONTROLS = "input:not([type=hidden], [type=checkbox], [type=radio]), select, textarea"
SMALL = """(controls) => [...document.querySelectorAll(controls)]
  .filter((one) => parseFloat(getComputedStyle(one).fontSize) < 16)
  .map((one) => one.id || one.name)"""
STILL = [
    visit
    for visit in VISITS
    if not (visit.waits or visit.follows or visit.batch in ("draft", "paused"))
]
# The pages with most fields; test_devices.py looks at twelve addresses.
FIELDS = ("declare many", "history", "notice", "operations")


@pytest.fixture(scope="module")
def portal() -> Iterator[PortalProcess]:
    with PortalProcess(SETTINGS, workers=1) as running:
        yield running


@pytest.mark.parametrize("text", [CHAT, *long(" ".join(PLATES))], ids=["chat", "list"])
def test_pasted_plates_are_counted_and_read(page: "Page", portal: PortalProcess, text: str) -> None:
    page.goto(portal.url)
    page.evaluate(PASTE, ["#placa", text])
    assert page.locator("label[for=placa]").inner_text() == "40 placas lidas"
    button = page.locator(".search-plate button").first
    assert button.inner_text().strip().replace("\u00a0", " ").startswith("Conferir 40 placas")
    assert "até R$ 34" in button.inner_text().replace("\u00a0", " ")  # 40 times 0.85
    page.locator("#placa").press("Enter")
    page.get_by_role("heading", name="Lote de 40 placas").wait_for()


def test_few_plates_are_compared_and_typing_begins_anew(
    page: "Page", portal: PortalProcess
) -> None:
    page.goto(portal.url)
    page.evaluate(PASTE, ["#placa", "ABC1D23 e LMP0A01"])
    button = page.locator(".search-plate button").first
    assert "Comparar 2 placas" in button.inner_text()
    page.locator("#placa").press("Backspace")
    assert page.input_value("#placa") == ""
    assert button.inner_text().strip() == "Consultar"
    page.locator("#placa").type("abc1d23")
    page.keyboard.press("Enter")
    page.wait_for_url("**/placa/ABC1D23")
    page.go_back()
    page.evaluate(PASTE, ["#placa", "LMP0A01"])
    assert page.locator("label[for=placa]").inner_text() == "Placa ou Renavam"


@pytest.mark.parametrize(
    "visit",
    [
        *(visit for visit in STILL if visit.name in FIELDS),
        *long(*(visit for visit in STILL if visit.name not in FIELDS)),
    ],
    ids=lambda visit: visit.name,
)
def test_no_control_is_smaller_than_16_px_under_a_finger(
    phone_page: "Page", portal: PortalProcess, visit: Visit
) -> None:
    open_page(phone_page, portal.url, visit)
    assert phone_page.evaluate(SMALL, CONTROLS) == []
