"""The API reference: language tabs, copy buttons, and the table of contents."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import PHONE, PageFactory
from tests.browser.found import box_of
from tests.browser.waiting import wait_in
from tests.fakes.processes import PortalProcess

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.long

WIDE = {"width": 1440, "height": 900}
SHOWN = """() => [...document.querySelectorAll(".example")].map(
  (example) => [...example.querySelectorAll("pre")]
    .filter((pre) => pre.checkVisibility())
    .map((pre) => pre.firstElementChild.dataset.language ?? "answer").join()
)"""


@pytest.fixture(scope="module")
def portal() -> Iterator[PortalProcess]:
    with PortalProcess(workers=1) as server:
        yield server


def choose(page: "Page", example: int, language: str) -> None:
    page.locator(".example__tabs").nth(example).get_by_label(language, exact=True).check()


def test_tabs_work_without_javascript(new_page: PageFactory, portal: PortalProcess) -> None:
    page = new_page(java_script_enabled=False, viewport=WIDE)
    page.goto(f"{portal.url}/api")
    python = page.locator(".example").nth(1).locator(".example__code--python")
    curl = page.locator(".example").nth(1).locator(".example__code--curl")
    assert (curl.is_visible(), python.is_visible()) == (True, False)
    choose(page, 1, "Python")
    assert (curl.is_visible(), python.is_visible()) == (False, True)
    assert page.locator("[data-copy]").first.is_hidden()


def test_every_example_shows_one_language(new_page: PageFactory, portal: PortalProcess) -> None:
    page = new_page(viewport=WIDE)
    page.goto(f"{portal.url}/api")
    shown = page.evaluate(SHOWN)
    assert set(shown) == {"curl", "answer"}
    choose(page, 2, "JavaScript")
    chosen = page.evaluate(SHOWN)
    assert len(chosen) == len(shown)
    # An example without a JavaScript version keeps its own language.
    assert set(chosen) == {"javascript", "curl", "answer"}
    page.reload()
    assert page.evaluate(SHOWN) == chosen


def test_choice_of_a_language_does_not_move_the_example(
    new_page: PageFactory, portal: PortalProcess
) -> None:
    page = new_page(viewport=WIDE)
    page.goto(f"{portal.url}/api#renajud")
    tabs = page.locator("section[aria-labelledby='renajud'] .example__tabs")
    before = box_of(tabs)["y"]
    tabs.get_by_label("Python").check()
    assert abs(box_of(tabs)["y"] - before) < 2


def test_copy_takes_what_is_shown(new_page: PageFactory, portal: PortalProcess) -> None:
    page = new_page(viewport=WIDE)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{portal.url}/api")
    choose(page, 1, "Python")
    page.locator("[data-copy]").nth(1).click()
    wait_in(page, "document.getElementById('copiado').textContent === 'Copiado.'")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.locator(".example").nth(1).locator("pre:visible").text_content()
    assert copied.startswith("import requests")


def test_contents_follow_the_page_and_stay_in_view(
    new_page: PageFactory, portal: PortalProcess
) -> None:
    page = new_page(viewport=WIDE)
    page.goto(f"{portal.url}/api")
    for anchor in ("veiculo", "erros"):
        page.locator(f"#{anchor}").evaluate("(it) => it.scrollIntoView()")
        current = page.locator(f".reference__nav [aria-current][href='#{anchor}']")
        current.wait_for()
        box = box_of(current)
        assert 0 <= box["y"] < WIDE["height"]


def test_contents_are_folded_on_a_phone(new_page: PageFactory, portal: PortalProcess) -> None:
    page = new_page(**PHONE)
    page.goto(f"{portal.url}/api")
    assert page.locator(".reference__nav").is_hidden()
    link = page.locator(".reference__contents a[href='#limites']")
    assert link.is_hidden()
    page.get_by_text("Conteúdo", exact=True).click()
    link.click()
    assert page.url.endswith("#limites")
    for width in (320, 360, 768, 1440):
        page.set_viewport_size({"width": width, "height": 740})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width
