"""The fines panel in Chromium: height, keyboard, address, filters, selection and links."""

import re
import unicodedata
from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest
from pypdf import PdfReader

from tests.browser.conftest import PageFactory
from tests.browser.found import box_of, viewport_of
from tests.browser.test_hostile_strings import sign_in
from tests.browser.widths import at_each_width
from tests.effort import long
from tests.factories import fine, renainf_body
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import managed
from tests.fakes.processes import PortalProcess

if TYPE_CHECKING:
    from playwright.sync_api import Page, Request

pytestmark = pytest.mark.long

MANY = "/placa/MUL0A45?completo=1"
FEW = "/placa/ABC1D23?completo=1"
# The greatest height of a panel of 45 fines on a desktop screen, with one open fine.
MOST_PIXELS = 2600
SUMMARY = ".ledger__more > details > summary"
# Pairs of visible text boxes in the panel that overlap by more than a pixel.
OVERLAPS = """() => {
  const boxes = [];
  const walk = document.createTreeWalker(document.querySelector("#multas"), NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode, parent = text.parentElement;
    if (!text.data.trim() || !parent.checkVisibility({ contentVisibilityAuto: true })) continue;
    if (parent.closest(".visually-hidden, thead, select, .ledger-sum")) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    for (const box of range.getClientRects()) boxes.push([box, text.data.trim()]);
  }
  const found = [];
  boxes.sort((one, other) => one[0].top - other[0].top);
  boxes.forEach(([one, first], index) => {
    for (const [other, second] of boxes.slice(index + 1)) {
      if (other.top > one.bottom - 2) break;
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (across > 1 && down > 4) found.push([first, second]);
    }
  });
  return found;
}"""


@pytest.fixture(scope="module")
def portal() -> Iterator[PortalProcess]:
    with PortalProcess(workers=1) as running:
        yield running


def visible(page: "Page") -> Any:
    return page.locator("#multas .fine:visible")


def open_many(page: "Page", portal: PortalProcess, choices: str = "") -> None:
    page.goto(f"{portal.url}{MANY}{choices}")
    unfold(page)


def unfold(page: "Page") -> None:
    """Open the list of many fines, which is folded unless the address has a choice."""
    fold = page.locator(".ledger-fold")
    if fold.count() and fold.get_attribute("open") is None:
        fold.locator("> summary").click()


def settled(page: "Page") -> None:
    """Wait until the panel shows the choice; it is busy from the choice on."""
    page.wait_for_selector("#multas:not([aria-busy])")


def query(page: "Page") -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def printed_text(page: "Page") -> str:
    """The text of the printed page."""
    paper = PdfReader(BytesIO(page.pdf(prefer_css_page_size=True)))
    return re.sub(r"\s+", " ", " ".join(sheet.extract_text() for sheet in paper.pages))


def open_second(page: "Page") -> None:
    page.locator(SUMMARY).nth(1).focus()
    page.keyboard.press("Enter")


@pytest.mark.parametrize("scheme", ["light", *long("dark")])
@pytest.mark.parametrize("path", [MANY, *long(FEW)])
def test_no_texts_overlap_in_the_panel(
    new_page: PageFactory, portal: PortalProcess, path: str, scheme: str
) -> None:
    page = new_page(color_scheme=scheme)
    page.goto(portal.url + path)
    unfold(page)
    open_second(page)
    assert page.locator(".fine details[open]").count() == 1
    for width in at_each_width(page, 320, 360, 768, 1440):
        assert page.evaluate(OVERLAPS) == [], width
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_many_fines_fit_a_desk(new_page: PageFactory, portal: PortalProcess) -> None:
    page = new_page(viewport={"width": 1440, "height": 900})
    open_many(page, portal)
    assert visible(page).count() == 45
    # A paid fine for speeding has the most values to show.
    for number in (0, 1, 4):
        page.locator(SUMMARY).nth(number).click()
        assert box_of(page.locator("#multas"))["height"] <= MOST_PIXELS
        page.locator(SUMMARY).nth(number).click()
    assert page.locator(".ledger tbody .ledger__body").first.is_visible()
    size = "parseFloat(getComputedStyle(document.querySelector('.ledger')).fontSize)"
    assert page.evaluate(size) == 14
    page.goto(portal.url + FEW)
    assert page.evaluate(size) == 16


def test_widths_between_phone_and_desk_omit_the_body(page: "Page", portal: PortalProcess) -> None:
    open_many(page, portal)
    for width in at_each_width(page, 641, 900, 1100):
        assert not page.locator(".ledger__body >> nth=1").is_visible(), width


def test_opened_fine_says_gravity_and_authority_once(page: "Page", portal: PortalProcess) -> None:
    widths = (390, 1024, 1440)
    open_many(page, portal)
    first = page.locator("#multa-1")
    first.locator(SUMMARY).click()
    for width in at_each_width(page, *widths):
        words = first.inner_text()
        for once in ("grave", "Pref. São Paulo"):
            assert words.count(once) == 1, width
        assert "Gravidade" not in words and "Órgão autuador" not in words, width
    first.get_by_text("Outros dados do registro").click()
    for width in at_each_width(page, *widths):
        wanted = "Órgão autuador\nPrefeitura Municipal de São Paulo (SP)"
        assert wanted in first.inner_text(), width
    # What its line does not say stays: these points do not count.
    page.goto(portal.url + FEW)
    page.locator(f"#multa-2 {SUMMARY}").click()
    for width in at_each_width(page, *widths):
        words = page.locator("#multa-2").inner_text()
        assert "média, 4 pontos, não contados" in words, width


def test_details_of_every_fine_open_by_keyboard(page: "Page", portal: PortalProcess) -> None:
    page.goto(portal.url + FEW)
    for number in (1, 2, 3):
        summary = page.locator(f"#multa-{number} {SUMMARY}")
        summary.focus()
        assert summary.evaluate("node => node === document.activeElement")
        page.keyboard.press("Space")
        picture = page.locator(f"#multa-{number} .deadlines")
        assert picture.is_visible()
        assert "Infração" in picture.inner_text()


def test_filter_works_without_javascript(
    page_without_javascript: "Page", portal: PortalProcess
) -> None:
    page = page_without_javascript
    open_many(page, portal, "&versao=1")
    everything = visible(page).count()
    page.click("label[for=situacao-paga]")
    page.fill(".ledger-form input[name=busca]", "velocidade")
    with page.expect_navigation():
        page.click("#multas button:has-text('Aplicar')")
    assert query(page)["versao"] == ["1"]
    assert query(page)["situacao"] == ["paga"]
    count = visible(page).count()
    assert 0 < count < everything
    assert f"{count} de {everything} registros" in page.inner_text(".ledger-shown")
    hidden = page.locator("#multas .fine--out").first.get_attribute("id")
    page.goto(f"{page.url.split('#')[0]}#{hidden}")
    assert page.locator(f"#{hidden}").is_visible()
    assert page.locator(f"#{hidden} .deadlines").is_visible()
    page.emulate_media(media="print")
    assert visible(page).count() == everything
    printed = unicodedata.normalize("NFKC", printed_text(page))
    assert "7 multas e 1 autuação, 5 em aberto" in printed


@pytest.mark.long  # the server's page, which tests/presentation/test_fine_ledger.py reads
def test_selection_is_summed_without_javascript(
    page_without_javascript: "Page", portal: PortalProcess
) -> None:
    page = page_without_javascript
    open_many(page, portal)
    page.locator("input[name=marcada]").nth(0).check()
    page.locator("input[name=marcada]").nth(3).check()
    page.click("button:has-text('Somar marcadas')")
    line = page.inner_text(".ledger-sum")
    assert "2 multas: R$\u00a0" in line and "Negociar" in line
    assert len(query(page)["marcada"]) == 2
    assert page.locator("input[name=marcada]:checked").count() == 2


def test_script_filters_at_once_and_keeps_the_address(
    own_page: "Page", portal: PortalProcess
) -> None:
    """A browser keeps at most fifty addresses, so that a page of other tests could have no more."""
    page = own_page
    purposes: list[str | None] = []

    def note(sent: "Request") -> None:
        if "busca=" in sent.url:
            purposes.append(sent.headers.get("x-purpose"))

    page.on("request", note)
    open_many(page, portal, "&versao=1")
    before = page.evaluate("history.length")
    page.fill(".ledger-form input[name=busca]", "velocidade")
    page.click("label[for=situacao-aberto]")
    settled(page)
    count = visible(page).count()
    assert 0 < count < 45
    assert f"{count} de 45 registros" in page.inner_text(".ledger-shown")
    assert query(page) == {
        "completo": ["1"],
        "versao": ["1"],
        "busca": ["velocidade"],
        "situacao": ["aberto"],
    }
    assert page.evaluate("history.length") == before
    assert set(purposes) == {"preview"}  # which asks no source
    words, sums = page.inner_text(".ledger-shown"), page.locator(".ledger__yearsum:visible")
    shown = [visible(page).nth(n).get_attribute("id") for n in range(count)]
    by_script = sums.all_inner_texts()
    # After a reload the server shows the same fines and sums.
    page.reload()
    assert page.inner_text(".ledger-shown") == words
    assert [visible(page).nth(n).get_attribute("id") for n in range(count)] == shown
    assert page.locator(".ledger__yearsum:visible").all_inner_texts() == by_script
    page.fill(".ledger-form input[name=busca]", "")
    page.click("label[for=situacao-]")
    settled(page)
    assert visible(page).count() == 45
    assert set(query(page)) == {"completo", "versao"}


@pytest.mark.long  # test_choice_keeps_focus_caret_and_opened_details orders them too
@pytest.mark.parametrize("order", ["gravidade", "valor", "data"])
def test_script_orders_as_the_server_does(page: "Page", portal: PortalProcess, order: str) -> None:
    ids = "[...document.querySelectorAll('#multas .fine')].map(row => row.id)"
    open_many(page, portal)
    page.select_option("select[name=ordem]", "gravidade" if order == "valor" else "valor")
    page.select_option("select[name=ordem]", order)
    settled(page)
    by_script = page.evaluate(ids)
    open_many(page, portal, f"&ordem={order}")
    assert page.evaluate(ids) == by_script
    assert page.locator(".ledger__year:visible").count() == (5 if order == "data" else 0)


def test_script_sums_the_selection(page: "Page", portal: PortalProcess) -> None:
    open_many(page, portal)
    line = page.locator(".ledger-sum")
    assert not line.is_visible()
    for number in (0, 1, 2):
        page.locator("input[name=marcada]").nth(number).check()
    settled(page)
    text = line.inner_text()
    assert "Negociar" in text
    numbers = ",".join(query(page)["marcada"])
    assert numbers.count(",") == 2
    address = page.get_attribute(".ledger-sum__negotiate", "href")
    assert address is not None and address.replace("%2C", ",").endswith(f"?multas={numbers}")
    page.reload()
    assert page.locator(".ledger-sum").inner_text() == text
    box, height = box_of(line), viewport_of(page)["height"]
    assert box["y"] + box["height"] <= height + 1


def test_all_shown_fines_are_ticked_and_unticked(page: "Page", portal: PortalProcess) -> None:
    open_many(page, portal)
    page.click("label[for=situacao-exigivel]")
    settled(page)
    boxes = page.locator("input[name=marcada]:visible")
    boxes.first.check()
    settled(page)
    page.get_by_role("button", name="todas").click()
    settled(page)
    count = boxes.count()
    assert f"{count} multas: R$" in page.inner_text(".ledger-sum")
    assert 1 < count == len(query(page)["marcada"]) < 45
    page.get_by_role("button", name="nenhuma").click()
    settled(page)
    assert "marcada" not in query(page)
    assert not page.locator(".ledger-sum").is_visible()


def test_link_opens_a_fine_that_a_filter_hides(page: "Page", portal: PortalProcess) -> None:
    page.goto(f"{portal.url}{MANY}&situacao=paga#multa-1")
    assert page.locator("#multa-1 .deadlines").is_visible()
    assert not page.locator("#multa-5").is_visible()
    page.evaluate("location.hash = 'multa-5'")
    page.wait_for_selector("#multa-5 .deadlines", state="visible")
    assert page.locator("#multa-5").is_visible()


def test_link_opens_a_fine_of_a_panel_that_arrives_later(
    page: "Page", portal: PortalProcess
) -> None:
    """MUL0045 is the old spelling of MUL0A45. Its lookups are stored separately."""
    page.goto(f"{portal.url}/placa/MUL0045#multa-7")
    page.wait_for_selector("#multas[data-panel=ready]")
    page.wait_for_selector("#multa-7 .deadlines", state="visible")


def test_panel_that_arrives_later_is_filtered(page: "Page", portal: PortalProcess) -> None:
    page.goto(f"{portal.url}/placa/ABC1323?uf=SP")
    page.wait_for_selector("#multas[data-panel=ready]")
    address = page.get_attribute("#multas", "data-panel-url")
    assert address == "/placa/ABC1323/painel/multas?uf=SP"


def test_choice_keeps_focus_caret_and_opened_details(page: "Page", portal: PortalProcess) -> None:
    open_many(page, portal)
    opened = page.locator("#multa-5 .ledger__more > details")
    opened.locator("> summary").click()
    search = page.locator(".ledger-form input[name=busca]")
    search.press_sequentially("de ")
    settled(page)
    search.press_sequentially("v")
    settled(page)
    assert search.input_value() == "de v"  # the server trims the text, and the field stays
    assert search.evaluate("one => one === document.activeElement && one.selectionStart") == 4
    assert opened.evaluate("one => one.open")
    search.fill("")
    page.select_option("select[name=ordem]", "valor")
    settled(page)
    assert opened.evaluate("one => one.open")
    box = page.locator("#multa-5 input[name=marcada]")
    box.focus()
    page.keyboard.press("Space")
    settled(page)
    assert box.evaluate("one => one === document.activeElement && one.checked")
    assert "1 multa: R$" in page.inner_text(".ledger-sum")


def test_last_choice_counts(page: "Page", portal: PortalProcess) -> None:
    """The response to an earlier choice never replaces that to a later one."""
    open_many(page, portal)
    page.evaluate("""() => {
      const send = window.fetch;
      let sent = 0;
      window.fetch = async (...given) => {
        const isFirst = !sent++;
        if (isFirst) await new Promise((resolve) => setTimeout(resolve, 500));
        return send(...given);
      };
    }""")
    page.click("label[for=situacao-paga]")
    page.click("label[for=situacao-aberto]")
    settled(page)
    page.wait_for_timeout(700)
    assert query(page)["situacao"] == ["aberto"]
    assert page.locator("#multas .fine--paid:visible").count() == 0
    assert visible(page).count() > 0


def test_choice_that_fails_offers_the_form_and_keeps_the_fines(
    page: "Page", portal: PortalProcess
) -> None:
    open_many(page, portal)
    assert not page.locator(".ledger-apply:visible").count()
    page.route("**/placa/MUL0A45?*", lambda route: route.abort())
    page.click("label[for=situacao-paga]")
    settled(page)
    assert visible(page).count() == 45
    page.unroute("**/placa/MUL0A45?*")
    with page.expect_navigation():
        page.get_by_role("button", name="Aplicar").click()
    assert query(page)["situacao"] == ["paga"]
    assert 0 < visible(page).count() < 45


# make test reads the header of such requests (test_script_filters_at_once_and_keeps_the_address),
# which asks no source (tests/web/pages/test_spend_guard.py).
def test_choice_causes_no_lookup(page: "Page") -> None:
    """Not even if the stored answers are no longer fresh."""
    fresh = {f"PORTAL_FRESH_{name}": "1" for name in ("DECODE", "RENAINF", "RENAJUD")}
    with FaultUpstream() as upstream:
        records = [fine(localInfracao="RUA " + 5 * letter) for letter in "ABCDE"]
        upstream.script(
            "/detran/v1/restrictions/renainf/", faults.answer("five", renainf_body(*records))
        )
        with PortalProcess(managed(upstream.url) | fresh, workers=1) as server:
            sign_in(page, server)
            for path in ("/placa/ABC1D23?completo=1", "/renavam/12345678910"):
                page.goto(server.url + path)
                page.wait_for_selector("#multas[data-panel=ready]")
                asked = upstream.count()
                assert asked > 0
                page.wait_for_timeout(1200)
                page.fill(".ledger-form input[name=busca]", "ccccc")
                settled(page)
                assert visible(page).count() == 1
                assert upstream.count() == asked
