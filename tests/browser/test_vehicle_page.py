"""The vehicle page: the contents of its first screen, and its script's messages."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from tests.browser import conftest
from tests.browser.conftest import PageFactory
from tests.browser.controls import controls_of
from tests.browser.found import box_of, content_of
from tests.browser.waiting import wait_in
from tests.browser.widths import at_each_width
from tests.effort import long
from tests.fakes.processes import PortalProcess

if TYPE_CHECKING:
    from playwright.sync_api import Page

PHONE = {"width": 360, "height": 740}
DESK = {"width": 1440, "height": 900}
# In order: clean, blocked by a court, 45 fines, several court orders, six prices, no description.
PLATES = ("LMP0A01", "ABC1D23", "MUL0A45", "JUD0A04", "FIP0A06", "VAZ0A00")
OTHER_PLATES = ("CIR0A01", "PEN0A01", "LIC0A01", "TXT0A01", "FIP0A03")
LOWEST_FINDING_PX = 560
MOST_SHIFT = 0.1
BOXES = """() => {
  const bottom = (selector) => Math.max(...[...document.querySelectorAll(selector)]
    .map((one) => one.getBoundingClientRect().bottom));
  const dock = document.querySelector(".dock");
  const height = dock && dock.checkVisibility() ? dock.getBoundingClientRect().top : innerHeight;
  return {finding: bottom(".hero__finding"), acts: bottom(".act summary"), height,
          width: document.documentElement.scrollWidth};
}"""
# The words of the hero that stand above a height, without those for screen readers alone.
WORDS = """(limit) => {
  const words = [];
  const walker = document.createTreeWalker(document.querySelector(".hero"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode;
    const range = document.createRange();
    range.selectNodeContents(text);
    const box = range.getBoundingClientRect();
    const parent = text.parentElement;
    if (parent.closest("svg, .visually-hidden") || !parent.checkVisibility()) continue;
    if (box.height && box.top < limit) words.push(...text.data.split(/\\s+/));
  }
  return words.filter((word) => /[\\p{L}\\p{N}]/u.test(word));
}"""
# Also those after an input. There is none, but Chromium counts the emulation of a phone as one.
SHIFTS = """() => new Promise((resolve) => {
  const named = ({value, sources}) => [value, ...sources.map(({node}) => node?.className)];
  const told = (list) => list.getEntries().map(named);
  new PerformanceObserver((list) => resolve(told(list)))
    .observe({type: "layout-shift", buffered: true});
  setTimeout(() => resolve([]), 1000);
})"""
# The link is copied, or selected where the browser gives no clipboard.
COPIED_OR_SELECTED = """() =>
  document.querySelector("#copiado").innerText.includes("Copiado") ||
  document.activeElement.id === "link"
"""
IN_VIEW = """(selector) => [...document.querySelectorAll(selector)].some((link) => {
  const box = link.getBoundingClientRect();
  return link.checkVisibility() && box.top >= 0 && box.bottom <= innerHeight;
})"""


# A dock at the foot of the window covers what is below its top.
UNCOVERED = """(element) => {
  const box = element.getBoundingClientRect();
  const dock = document.querySelector(".dock").getBoundingClientRect();
  return box.height > 0 && box.top >= 0 && box.bottom <= Math.min(innerHeight, dock.top);
}"""


@pytest.fixture(scope="module")
def portal() -> Iterator[PortalProcess]:
    with PortalProcess(workers=1) as running:
        yield running


@pytest.fixture(scope="module")
def untouched_portal() -> Iterator[PortalProcess]:
    """Return a portal that no other test asks for a plate."""
    with PortalProcess(workers=1) as running:
        yield running


@pytest.mark.long  # the light scheme is looked at in the test of the three questions
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_dark_first_screen_holds_verdict_acts_and_documents(
    new_page: PageFactory, portal: PortalProcess, size: dict[str, int]
) -> None:
    page = new_page(viewport=size, color_scheme="dark")
    for plate in PLATES:
        page.goto(f"{portal.url}/placa/{plate}?completo=1")
        expect_verdict_acts_and_documents(page, plate, size)


def expect_verdict_acts_and_documents(page: "Page", plate: str, size: dict[str, int]) -> None:
    boxes = page.evaluate(BOXES)
    assert boxes["finding"] <= LOWEST_FINDING_PX, plate
    assert boxes["acts"] <= boxes["height"], plate
    assert boxes["width"] <= size["width"], plate
    for action in ("[form=enviar]", "a[href$='/negociacao']"):
        assert page.evaluate(IN_VIEW, action), (plate, action)


def test_dossier_is_sent_with_two_taps_on_a_phone(
    phone_page: "Page", portal: PortalProcess
) -> None:
    """The first tap issues the dossier. The second, without scrolling, copies or sends the link."""
    phone_page.goto(f"{portal.url}/placa/ABC1D23?completo=1")
    phone_page.tap(".dock__main")
    phone_page.wait_for_url("**/dossie/*-*-*")
    for action in ("[data-copy]", "a[href^='https://wa.me/']"):
        assert phone_page.evaluate(IN_VIEW, action), action
    link = phone_page.input_value("#link")
    assert quote(link) in (phone_page.get_attribute("a[href^='https://wa.me/']", "href") or "")
    phone_page.tap("[data-copy]")
    wait_in(phone_page, COPIED_OR_SELECTED)
    quoted = phone_page.inner_text(".issued-card__finding")
    phone_page.goto(link)
    assert quoted in phone_page.inner_text(".hero__finding")


def test_one_tap_tells_whether_to_buy_what_is_owed_and_whether_the_price_falls(
    phone_page: "Page", portal: PortalProcess
) -> None:
    phone_page.goto(portal.url)
    phone_page.fill("#placa", "ABC1D23")
    phone_page.get_by_role("button", name="Consultar").tap()  # 1
    phone_page.wait_for_selector("#resumo[data-panel=ready]")
    hero = phone_page.locator(".hero")
    for answer in (
        "Não pode ser transferido agora",
        "R$\u00a0325,39",
        "perdeu R$\u00a0525 por mês",
    ):
        assert hero.get_by_text(answer).evaluate(UNCOVERED), answer
    for section, answer in (
        ("Multas", "#multas .ledger-tiles :text('R$\u00a0325,39')"),
        ("Preço", "#fipe :text('Perdeu 6,6%')"),
    ):
        phone_page.evaluate("scrollTo(0, 0)")
        link = phone_page.locator(".section-bar").get_by_role("link", name=section)
        assert link.evaluate(UNCOVERED), section
        link.tap()  # 1
        wait_in(phone_page, UNCOVERED, phone_page.query_selector(answer))


@pytest.mark.parametrize("plate", ["MUL0A45", *long("ABC1D23")])
def test_every_control_does_what_the_accessibility_tree_says(
    new_page: PageFactory, portal: PortalProcess, plate: str
) -> None:
    for size in (DESK, PHONE):
        page = new_page(viewport=size)
        page.goto(f"{portal.url}/placa/{plate}?completo=1")
        controls = controls_of(page)
        assert {"button", "link", "DisclosureTriangle"} <= {one.role for one in controls}
        assert [one for one in controls if one.fault] == []
        page.evaluate("document.querySelector('#multas').scrollIntoView()")
        wait_in(page, 'document.querySelector(".section-bar [aria-current]")')
        current = page.locator(".section-bar [aria-current]")
        assert current.evaluate_all("(all) => all.map((one) => one.hash)") == ["#multas"]


@pytest.mark.long  # issuing makes a PDF, as in test_dossier_is_sent_with_two_taps_on_a_phone
def test_preview_is_one_quiet_link_away(page: "Page", portal: PortalProcess) -> None:
    page.goto(f"{portal.url}/placa/ABC1D23?completo=1")
    page.click("text=Ver o dossiê antes de enviar")
    assert "Prévia sem número" in page.inner_text("main")
    page.click("text=Enviar dossiê")
    page.wait_for_url("**/dossie/*-*-*")


@pytest.mark.parametrize(
    "plates", [PLATES[:3], *long((PLATES[3:],), (OTHER_PLATES,))], ids=lambda plates: plates[0]
)
@pytest.mark.parametrize(
    ("size", "limit_px", "most"), [(PHONE, 560, 55), (DESK, 620, 80)], ids=["phone", "desk"]
)
def test_first_screen_answers_three_questions_in_few_words(
    new_page: PageFactory,
    portal: PortalProcess,
    size: dict[str, int],
    limit_px: int,
    most: int,
    plates: tuple[str, ...],
) -> None:
    page = new_page(viewport=size)
    for plate in plates:
        page.goto(f"{portal.url}/placa/{plate}?completo=1")
        if plate in PLATES:
            expect_verdict_acts_and_documents(page, plate, size)
        words = page.evaluate(WORDS, limit_px)
        assert len(words) <= most, (plate, words)
        labels = page.locator(".hero__numbers dt").all_inner_texts()
        assert labels[0] == "Transfere?" and labels[2] == "Vale", plate
        assert labels[1] in ("Deve", "Multas"), plate
        price_px = page.evaluate("document.querySelector('#fipe').getBoundingClientRect().top")
        assert price_px <= 1000, plate
        assert box_of(page.locator(".acts"))["y"] < limit_px, plate
        trust = page.locator(".trust")
        said = re.search(r"Falta conferir (\d+) de (\d+)", trust.inner_text())
        assert said, (plate, trust.inner_text())
        left, lines = map(int, said.groups())
        assert lines == 15 and 0 < left < lines, plate  # a line that a record settles is a full dot
        assert trust.locator(".dots circle").count() == lines, plate
        assert trust.locator(".dots circle:not([stroke-dasharray])").count() == lines - left, plate


def test_pages_are_short_on_a_desk(new_page: PageFactory, portal: PortalProcess) -> None:
    page = new_page(viewport=DESK)
    height = "document.documentElement.scrollHeight"
    page.goto(f"{portal.url}/placa/ABC1D23?completo=1")
    assert page.evaluate(height) <= 4640  # the footer leads to one page more than it did


def test_title_and_log_carry_the_verdict(page: "Page", portal: PortalProcess) -> None:
    page.goto(f"{portal.url}/placa/ABC1D24")
    page.wait_for_selector("#resumo[data-panel=ready]")
    finding = page.inner_text(".hero__finding").split(":")[-1].strip()
    name = page.inner_text(".hero__name").split(":")[-1].strip()
    wait_in(page, "document.title.startsWith('ABC1D24 – ')")
    assert page.title() == f"ABC1D24 – {name} – Dossiê Veicular"
    log = content_of(page.locator("#andamento"))
    assert f"{name}: {finding}" in log
    assert "Multas: pronto" in log


def test_every_part_of_the_summary_arrives(page: "Page", portal: PortalProcess) -> None:
    """The page that the script assembles equals the page that the server renders."""
    page.goto(f"{portal.url}/placa/ABC1D25")
    page.wait_for_selector("#resumo[data-panel=ready]")
    page.wait_for_selector("[data-panel=waiting]", state="detached")
    headings = "[...document.querySelectorAll('main h2, main h3')].map((one) => one.textContent)"
    links = "[...document.querySelectorAll('.section-bar a')].map((one) => one.textContent)"
    assembled = page.evaluate(headings), page.evaluate(links)
    page.goto(f"{portal.url}/placa/ABC1D25?completo=1")
    assert assembled == (page.evaluate(headings), page.evaluate(links))
    assert page.locator(".skeleton").count() == 0


def test_total_outage_is_one_message_with_one_retry(page: "Page", portal: PortalProcess) -> None:
    page.goto(f"{portal.url}/placa/FOR0A02")
    page.wait_for_selector(".hero--nothing")
    assert page.locator("a:visible", has_text="Tentar de novo").count() == 1
    for hidden in (".section-bar", ".dock", "#multas", "#documentos"):
        assert page.locator(f"{hidden}:visible").count() == 0
    assert page.inner_text(".hero").count("não significa “nada consta”") == 1


def test_reason_of_an_act_opens_by_keyboard_on_a_phone(
    new_page: PageFactory, portal: PortalProcess
) -> None:
    page = new_page(viewport=PHONE)
    page.goto(f"{portal.url}/placa/ABC1D23?completo=1")
    reason = page.locator(".act p").first
    assert not reason.is_visible()
    page.focus(".act summary >> nth=0")
    page.keyboard.press("Enter")
    assert reason.is_visible()


def test_desk_shows_a_short_reason_of_each_act(
    new_page: PageFactory, portal: PortalProcess
) -> None:
    page = new_page(viewport=DESK)
    page.goto(f"{portal.url}/placa/JUD0A04?completo=1")
    reasons = page.locator(".act__brief")
    assert reasons.all_inner_texts() == ["Por ordem da Justiça"] * 4
    assert all(reason.is_visible() for reason in reasons.all())


def test_section_bar_stays_in_view(new_page: PageFactory, portal: PortalProcess) -> None:
    for size in (PHONE, DESK):
        page = new_page(viewport=size)
        page.goto(f"{portal.url}/placa/MUL0A45?completo=1#restricoes")
        assert (
            page.evaluate("document.querySelector('.section-bar').getBoundingClientRect().top") == 0
        )
        top = page.evaluate("document.querySelector('#restricoes').getBoundingClientRect().top")
        assert 40 <= top <= 120


def test_document_buttons_of_the_section_bar_have_one_line(
    page: "Page", portal: PortalProcess
) -> None:
    """A long list of sections once broke the buttons as "Nego-ciar" and "P-D-F"."""
    page.goto(f"{portal.url}/placa/ABC1D23?completo=1")
    buttons = page.locator(".section-bar__documents .button")
    for width in at_each_width(page, 1024, 1100, 1180, 1440, height=800):
        assert [box_of(button)["height"] < 44 for button in buttons.all()] == [True] * 2, width


def test_message_to_the_seller_is_copied_or_selected(
    new_page: PageFactory, portal: PortalProcess
) -> None:
    page = new_page(viewport=PHONE)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{portal.url}/placa/ABC1D23?completo=1")
    page.goto(f"{portal.url}/placa/ABC1D23/negociacao#combinar")
    page.locator("#combinar summary").first.click()
    page.locator("#combinar [data-copy]").click()
    wait_in(page, "document.querySelector('#combinar [data-copy]').innerText === 'Copiado'")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("Oi! Consultei a placa ABC1D23 em ")
    plain = new_page(java_script_enabled=False, viewport=PHONE)
    plain.goto(f"{portal.url}/placa/ABC1D23/negociacao")
    plain.locator("#combinar summary").first.click()
    assert plain.locator("#combinar [data-copy]").is_hidden()
    assert plain.locator("#combinar blockquote").inner_text() == copied


def test_ceiling_stays_in_view_while_one_types_on_a_phone(
    new_page: PageFactory, portal: PortalProcess
) -> None:
    page = new_page(viewport=PHONE)
    page.goto(f"{portal.url}/placa/LMP0A01?completo=1")
    page.goto(f"{portal.url}/placa/LMP0A01/negociacao")
    ceiling = page.locator("#conta .ledger-sum")
    before = ceiling.inner_text()
    cost = page.locator("[id^=custo-]").last
    cost.focus()
    page.keyboard.type("1000")
    wait_in(page, f"document.querySelector('#conta .ledger-sum').innerText !== {before!r}")
    field, bar = box_of(cost), box_of(ceiling)
    assert field["y"] >= 0 and field["y"] + field["height"] <= bar["y"]
    assert bar["y"] + bar["height"] <= PHONE["height"]
    shown, of_sheet = (
        " ".join(each.inner_text().split()) for each in (ceiling, page.locator(".sheet__ceiling"))
    )
    assert shown.endswith(of_sheet)
    page.set_viewport_size({"width": 1440, "height": 900})
    assert ceiling.is_hidden()


def test_stuck_bar_names_car_answer_and_section(page: "Page", portal: PortalProcess) -> None:
    page.goto(f"{portal.url}/placa/ABC1D23?completo=1")
    car = page.locator(".section-bar__car")
    assert not car.is_visible()
    page.locator("#multas").scroll_into_view_if_needed()
    page.evaluate("document.querySelector('#multas').scrollIntoView()")
    car.wait_for(state="visible")
    assert "ABC1D23" in car.inner_text()
    page.wait_for_selector(".section-bar [aria-current][href='#multas']")
    assert page.locator(".section-bar [aria-current]").count() == 1


def test_bar_marks_the_section_that_was_tapped_alone(
    phone_page: "Page", portal: PortalProcess
) -> None:
    """The end of the section before is in view too."""
    phone_page.goto(f"{portal.url}/placa/MUL0A45?completo=1")
    for section in ("fipe", "multas", "restricoes"):
        phone_page.locator(f".section-bar li a[href='#{section}']").tap()
        phone_page.wait_for_selector(f".section-bar li a[href='#{section}'][aria-current]")
        marked = phone_page.locator(".section-bar [aria-current]")
        assert [one.get_attribute("href") for one in marked.all()] == [f"#{section}"]


@pytest.mark.parametrize("size", [PHONE, *long(DESK)], ids=["phone", "desk"])
def test_answer_on_slow_3g_shifts_the_layout_little(
    new_page: PageFactory, portal: PortalProcess, size: dict[str, int]
) -> None:
    """LEN0A03 answers late, so that what comes would push what is being read."""
    shifts = shifts_on_slow_3g(new_page(viewport=size), f"{portal.url}/placa/LEN0A03")
    assert sum(shift[0] for shift in shifts) < MOST_SHIFT, shifts


@pytest.mark.over_5_s("slow 3G")
@pytest.mark.parametrize(
    ("plate", "visits"),
    [
        ("ABC1D23", 2),
        *long(*((plate, 5) for plate in ("ABC1D24", "LMP0A01", "MUL0A45", "JUD0A04", "VAZ0A00"))),
    ],
)
def test_visits_on_a_slow_phone_shift_little(
    new_page: PageFactory, untouched_portal: PortalProcess, plate: str, visits: int
) -> None:
    """The font comes after two seconds. A line that it makes shorter would move what is below."""
    address = f"{untouched_portal.url}/placa/{plate}"
    for visit in range(visits):
        shifts = shifts_on_slow_3g(new_page(**conftest.PHONE), address)
        assert sum(shift[0] for shift in shifts) < MOST_SHIFT, (visit, shifts)


def shifts_on_slow_3g(page: "Page", address: str) -> list[Any]:
    """Return the layout shifts until nothing more comes, each with what moved."""
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send(
        "Network.emulateNetworkConditions",
        {
            "offline": False,
            "latency": 400,
            "downloadThroughput": 50_000,
            "uploadThroughput": 50_000,
        },
    )
    page.goto(address, wait_until="commit")
    page.wait_for_selector("[data-panel=ready]")
    page.wait_for_selector("[data-panel=waiting]", state="detached")
    page.wait_for_load_state("networkidle")
    page.evaluate("document.fonts.ready.then(() => true)")
    shifts: list[Any] = page.evaluate(SHIFTS)
    return shifts
