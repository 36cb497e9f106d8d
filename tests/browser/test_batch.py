"""Batches with and without JavaScript, and the script of the batch page."""

import csv
import io
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import openpyxl
import pytest

from tests.batch.servers import AUTH, finished, start
from tests.browser.conftest import PageFactory
from tests.browser.controls import controls_of
from tests.browser.found import box_of
from tests.browser.test_hostile_strings import sign_in
from tests.browser.waiting import wait_in
from tests.browser.widths import at_each_width
from tests.effort import long
from tests.fakes import FaultUpstream, faults, wait_until
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.fakes.processes import PortalProcess
from tests.pdf.rendering import can_render_pdf

if TYPE_CHECKING:
    from playwright.sync_api import Page

PLATES = [f"QTZ{number}F71" for number in range(10)]
MISTAKES = ("ABC12", "LMPOA01")
# Ten plates, two mistakes, and the first plate again.
TYPED = "\n".join([", ".join(PLATES[:5]), *PLATES[5:], *MISTAKES, PLATES[0].lower()])
PRICES = {
    "PORTAL_PRICE_DECODE": "0.85",
    "PORTAL_PRICE_RENAINF": "0.95",
    "PORTAL_PRICE_RENAJUD": "0.65",
    "PORTAL_BATCH_CONCURRENCY": "1",
}
LOOKUPS = 3 * len(PLATES)
# What is wider than its cell lies over the next.
OVERFULL_CELLS = """[...document.querySelectorAll(".vehicles td")]
  .filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.className)"""

LEFT_EDGES = """(row) => [...document.querySelectorAll(`.vehicles ${row}:first-child > *`)]
  .filter((cell) => cell.checkVisibility()).map((cell) => cell.offsetLeft)"""

Ended = Callable[[list[str]], str]


@pytest.fixture
def upstream() -> Iterator[FaultUpstream]:
    with FaultUpstream() as running:
        running.default(faults.slow_first_byte(0.2))
        yield running


@pytest.fixture
def portal(upstream: FaultUpstream) -> Iterator[PortalProcess]:
    with PortalProcess(managed(upstream.url) | PRICES, workers=1) as running:
        yield running


@pytest.fixture(scope="module")
def ended() -> Iterator[Ended]:
    """Return a function that makes a batch that has ended, for tests that change nothing.

    It returns the batch's address. PLATES[3] fails.
    """
    with (
        FaultUpstream() as source,
        PortalProcess(managed(source.url) | PRICES, workers=1) as running,
    ):
        source.script(f"/detran/v1/restrictions/renajud/{PLATES[3]}", faults.status(500))

        def made(plates: list[str]) -> str:
            body = {"plates": plates, "ask": ["decode", "renainf", "renajud"]}
            batch = str(running.post("/api/v1/batches", json=body, headers=AUTH).json()["id"])
            start(running, batch)
            assert finished(running, batch)["counts"]["failed"] == (PLATES[3] in plates)
            return f"{running.url}/lote/{batch}"

        yield made


@pytest.fixture(scope="module")
def five(ended: Ended) -> str:
    return ended(PLATES[:5])


def look_at(page: "Page", batch: str) -> None:
    address = batch.partition("/lote/")[0]
    page.goto(f"{address}/entrar")
    page.fill("input[name=token]", PORTAL_TOKEN)
    page.press("input[name=token]", "Enter")
    page.wait_for_url(f"{address}/")
    page.goto(batch)


def draft(page: "Page", portal: PortalProcess, text: str = TYPED) -> None:
    """Sign in, paste the plates, and check them."""
    sign_in(page, portal)
    page.goto(f"{portal.url}/lote")
    page.fill("#placas", text)
    page.get_by_role("button", name="Conferir, sem consultar").click()
    page.wait_for_url(re.compile(r"/lote/[0-9a-f]{24}"))


def refreshed(page: "Page", selector: str, *, has_script: bool) -> None:
    """Wait until the page shows an element; without a script, reload the page."""
    if has_script:
        page.locator(selector).first.wait_for()
        return
    for _ in range(240):
        if page.locator(selector).count():
            return
        page.wait_for_timeout(250)
        page.reload()
    raise AssertionError(f"{selector} did not appear")


def until_ended(page: "Page", plates: int) -> None:
    """Wait until the progress bar shows that ``plates`` plates have ended."""
    wait_in(page, "(ended) => document.querySelector('#lote progress')?.value >= ended", plates)


def downloaded(page: "Page", link: str, folder: Path) -> bytes:
    if page.locator("#lote-baixar").get_attribute("open") is None:
        page.locator("#lote-baixar summary").click()
    with page.expect_download() as started:
        page.get_by_role("link", name=link, exact=True).click()
    path = folder / str(started.value.suggested_filename)
    started.value.save_as(path)
    return path.read_bytes()


@pytest.mark.over_5_s("a batch from its list to its files")
@pytest.mark.parametrize("has_script", [True, *long(False)], ids=["script", "no script"])
def test_dealer_checks_runs_pauses_leaves_returns_and_downloads(
    new_page: PageFactory,
    portal: PortalProcess,
    upstream: FaultUpstream,
    tmp_path: Path,
    has_script: bool,
) -> None:
    page = new_page(java_script_enabled=has_script)
    draft(page, portal)
    main = page.locator("main")
    assert upstream.count() == 0
    assert "Linha 7: “ABC12” tem 5 dos 7 caracteres" in main.inner_text()
    assert "Quis dizer LMP0A01?" in main.inner_text()
    assert "Repetidas, contadas uma vez" in main.inner_text()
    assert "R$ 24,50" in main.inner_text().replace("\u00a0", " ")

    page.get_by_role("button", name="Consultar 10 placas por até R$ 24,50").click()
    refreshed(page, ".vehicles__finding b", has_script=has_script)
    page.get_by_role("button", name="Pausar").click()
    page.get_by_text("Pausado por você").wait_for()
    asked = upstream.count()
    assert 0 < asked < LOOKUPS
    page.context.close()

    page = new_page(java_script_enabled=has_script)
    sign_in(page, portal)
    assert upstream.count() < LOOKUPS  # after the pause, only the lookup in flight may have ended
    page.goto(f"{portal.url}/lote")
    page.get_by_role("link", name="Lote de 10 placas").click()
    upstream.default(faults.good())
    page.get_by_role("button", name="Continuar").click()
    refreshed(page, ".batch-done", has_script=has_script)
    assert "Custou R$ 24,50." in page.locator(".batch-done").inner_text().replace("\u00a0", " ")
    rows = list(csv.DictReader(io.StringIO(downloaded(page, "CSV", tmp_path).decode("utf-8-sig")),
                               delimiter=";"))  # fmt: skip
    assert [row["plate"] for row in rows] == PLATES
    assert {row["state"] for row in rows} == {"done"}
    book = openpyxl.load_workbook(io.BytesIO(downloaded(page, "XLSX", tmp_path)))
    assert [cell.value for cell in book.worksheets[0]["A"]][1:] == PLATES
    assert page.get_by_role("link", name="Dossiês em ZIP", exact=True).count() == 1
    assert upstream.count() == LOOKUPS  # nothing was paid twice


@pytest.mark.long  # the archive's content is in tests/web/json_api/test_batches.py
def test_archive_of_dossiers_is_downloaded(
    page: "Page", portal: PortalProcess, upstream: FaultUpstream, tmp_path: Path
) -> None:
    if not can_render_pdf():
        pytest.skip("WeasyPrint or a library of it is not installed")
    upstream.default(faults.good())
    draft(page, portal)
    page.locator(".price-card button").first.click()
    page.locator(".batch-done").wait_for()
    with zipfile.ZipFile(io.BytesIO(downloaded(page, "Dossiês em ZIP", tmp_path))) as archive:
        assert archive.testzip() is None
        pdfs = [name for name in archive.namelist() if name.endswith(".pdf")]
    assert pdfs == [f"dossie-{plate}.pdf" for plate in PLATES]


@pytest.mark.long
def test_label_is_the_button_of_the_file_and_names_it(page: "Page", portal: PortalProcess) -> None:
    sign_in(page, portal)
    page.goto(f"{portal.url}/lote")
    field = page.get_by_label("Enviar um arquivo CSV")
    assert field.evaluate("one => getComputedStyle(one).opacity") == "0"  # the browser's own words
    with page.expect_file_chooser() as chooser:
        page.get_by_text("Enviar um arquivo CSV").click()
    chooser.value.set_files({"name": "a.csv", "mimeType": "text/csv", "buffer": b"QTZ0F11"})
    assert page.get_by_label("a.csv").count() == 1
    page.get_by_role("button", name="Conferir, sem consultar").click()
    page.get_by_role("heading", name="Lote de 1 placa").wait_for()


@pytest.mark.long
def test_list_of_a_draft_is_corrected(page: "Page", portal: PortalProcess) -> None:
    draft(page, portal)
    page.get_by_role("link", name="Corrigir a lista").click()
    field = page.locator("#placas")
    typed = field.input_value().split()
    assert typed == [*MISTAKES, *PLATES]
    field.fill(" ".join(["LMP0A01", *PLATES]))
    page.get_by_role("button", name="Conferir, sem consultar").click()
    page.get_by_role("heading", name="Lote de 11 placas").wait_for()
    page.goto(f"{portal.url}/lote")
    assert page.locator(".batch-list li").count() == 1


@pytest.mark.parametrize("has_script", [True, *long(False)], ids=["script", "no script"])
def test_cancellation_is_confirmed(
    new_page: PageFactory, portal: PortalProcess, upstream: FaultUpstream, has_script: bool
) -> None:
    upstream.default(faults.slow_first_byte(0.8))
    page = new_page(java_script_enabled=has_script)
    draft(page, portal)
    page.locator(".price-card button").first.click()
    wait_until(lambda: upstream.count() > 0, "a call that costs something")
    confirmed = page.get_by_role("button", name="Sim, cancelar o lote")
    assert not confirmed.is_visible()
    page.get_by_text("Cancelar…").click()
    if has_script:
        until_ended(page, 2)  # the poll replaces the section; the new one is open
        assert page.evaluate("document.activeElement.textContent") == "Cancelar…"
    confirmed.click()
    # The script polls until the lookups in flight have ended.
    page.locator("#lote").get_by_text("Lote cancelado. Custou").wait_for()
    assert page.get_by_text("2 linhas ficaram de fora").is_visible()
    page.get_by_role("link", name="Não consultadas").click()
    page.wait_for_url("**so=pending**")
    assert "não consultada" in page.locator(".vehicles__finding").last.inner_text()


def test_failed_plates_are_asked_again_alone(
    page: "Page", portal: PortalProcess, upstream: FaultUpstream
) -> None:
    upstream.default(faults.good())
    upstream.script(f"/detran/v1/decode/{PLATES[2]}", faults.status(500))
    draft(page, portal, " ".join(PLATES[:4]))
    page.locator(".price-card button").first.click()
    page.get_by_text("1 placa falhou").wait_for()
    page.get_by_role("link", name="Falha 1").click()
    page.wait_for_url("**so=failed**")  # the filtered page has loaded
    page.locator(".vehicles tbody tr").nth(1).wait_for(state="detached")
    upstream.clear()
    upstream.forget_calls()
    page.wait_for_timeout(2100)  # the gateway caches a failure for two seconds
    page.get_by_role("button", name=f"Tentar {PLATES[2]}").click()
    page.locator(".batch-done").get_by_text("4 prontas").wait_for()
    assert [call.path for call in upstream.calls] == [f"/detran/v1/decode/{PLATES[2]}"]
    assert page.get_by_text("placa falhou").count() == 0


@pytest.mark.long
def test_polling_keeps_the_focus_and_announces_rarely(
    page: "Page", portal: PortalProcess, upstream: FaultUpstream
) -> None:
    upstream.default(faults.slow_first_byte(0.8))
    draft(page, portal)
    page.locator(".price-card button").first.click()
    page.locator("#lote progress").wait_for()
    page.evaluate("""() => {
      window.heard = [];
      const region = document.getElementById("andamento");
      new MutationObserver(() => heard.push(region.textContent)).observe(region,
        { childList: true, characterData: true, subtree: true });
    }""")
    assert page.locator("#andamento").get_attribute("role") == "status"
    first_row = page.locator(".vehicles tbody tr").first.element_handle()
    before = first_row.inner_text()
    link = page.locator(f"#veiculo-{PLATES[9]} th a")
    link.focus()
    until_ended(page, 2)
    assert link.evaluate("one => one === document.activeElement")
    # The script has changed the row in place.
    assert first_row.evaluate("one => one.isConnected") and first_row.inner_text() != before
    page.get_by_role("button", name="Pausar").focus()
    until_ended(page, 5)
    assert page.evaluate("document.activeElement.textContent") == "Pausar"
    upstream.default(faults.good())
    page.locator(".batch-done").wait_for()
    # The focused button is gone with its section. The script moves the focus to the heading.
    assert page.evaluate("document.activeElement.tagName") == "H1"
    heard = page.evaluate("heard")
    assert 2 <= len(heard) <= 6
    assert "prontas. Custou" in heard[-1]


@pytest.mark.long
def test_polling_survives_a_portal_that_does_not_answer(
    page: "Page", portal: PortalProcess
) -> None:
    draft(page, portal)
    page.locator(".price-card button").first.click()
    page.locator("#lote progress").wait_for()
    page.route("**/lote/*", lambda route: route.abort())
    page.wait_for_event("requestfailed")
    page.unroute("**/lote/*")
    page.locator(".batch-done").wait_for()


@pytest.mark.long
def test_results_are_sorted_filtered_and_searched(page: "Page", five: str) -> None:
    look_at(page, five)

    def shown() -> list[str]:
        return [
            str(row.get_attribute("id")).removeprefix("veiculo-")
            for row in page.locator(".vehicles tbody tr").all()
        ]

    assert shown() == [*PLATES[:3], PLATES[4], PLATES[3]]  # the worst first
    page.select_option("#lista-ordem", "lista")  # applies without a button
    page.wait_for_url("**ordem=lista**")
    page.locator(f"tr:last-child#veiculo-{PLATES[4]}").wait_for()
    assert shown() == PLATES[:5]
    page.fill("#lista-busca", "qtz-1f71")
    page.wait_for_url("**busca=qtz-1f71**")
    page.get_by_text("1 de 5 placas").wait_for()
    assert shown() == [PLATES[1]]
    page.fill("#lista-busca", "nada assim")
    page.get_by_role("link", name="Mostrar todas").click()
    page.locator(f"#veiculo-{PLATES[4]}").wait_for()
    assert len(shown()) == 5


@pytest.mark.long
def test_keys_move_tick_open_and_search(page: "Page", five: str) -> None:
    look_at(page, five)
    assert not page.locator(".ticked-bar").is_visible()
    for key in "jjx":
        page.keyboard.press(key)
    page.keyboard.press("k")
    page.keyboard.press("x")
    assert page.locator("[data-ticked]").inner_text() == "2 marcadas"
    page.keyboard.press("x")
    assert page.locator("[data-ticked]").inner_text() == "1 marcada"
    page.get_by_role("button", name="todas").click()
    assert page.locator("[data-ticked]").inner_text() == "5 marcadas"
    owed = page.locator("[data-ticked] + small").inner_text().replace("\u00a0", " ")
    assert re.fullmatch(r"devem R\$ [\d.]+(,\d\d)? · FIPE R\$ [\d.]+", owed), owed
    page.get_by_role("button", name="nenhuma").click()
    assert not page.locator(".ticked-bar").is_visible()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "lista-busca"
    page.keyboard.type("jx")  # letters in a field are letters
    assert page.input_value("#lista-busca") == "jx"
    page.fill("#lista-busca", "")
    page.locator("#veiculo-" + PLATES[0] + " .vehicles__tick input").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/placa/{PLATES[0]}?*")


def test_nine_plates_of_a_chat_lead_to_the_worst_in_three_taps(page: "Page") -> None:
    chat = "\n".join(
        f"[25/11/2026, 20:1{n % 10}] Zé: {plate} 🚗"
        for n, plate in enumerate(
            [
                "ABC1D23",
                "JUD0A04",
                "CIR0A01",
                "LIC0A01",
                "LMP0A01",
                "FIP0A03",
                "PEN0A01",
                "TRA0A01",
                "MUL0A45",
            ]
        )
    )
    with PortalProcess(workers=1) as running:
        page.goto(running.url)
        page.fill("#placa", chat)
        page.get_by_role("button", name="Conferir 9 placas").click()  # 1
        page.wait_for_url("**/lote/*")
        page.get_by_role("button", name="Consultar 9 placas").click()  # 2
        page.locator(".batch-done").wait_for()
        worst = page.locator(".vehicles tbody tr").first
        assert "Não pode circular" in worst.inner_text()
        assert "4 ordens · recolhimento" in worst.inner_text()
        assert page.evaluate(OVERFULL_CELLS) == []
        worst.locator("th a").click()  # 3
        page.wait_for_url("**/placa/JUD0A04?*")


@pytest.mark.long
def test_list_says_in_the_accessibility_tree_what_it_shows(page: "Page", five: str) -> None:
    look_at(page, five)
    tree = page.locator(".vehicles").aria_snapshot()
    assert f'checkbox "Marcar {PLATES[0]}"' in tree
    assert "Transferir: não; Licenciar:" in tree
    assert [one for one in controls_of(page) if one.fault] == []
    filters = page.locator(".list-filters [aria-current]")
    rows = page.locator(".vehicles tbody tr")
    assert filters.count() == 1
    assert filters.locator(".number").inner_text() == str(rows.count())
    assert f'link "{PLATES[0]}"' in tree
    # Each link and button of the list has a name, and each link another address.
    for role in ("link", "button"):
        for one in page.locator("#lote").get_by_role(role).all():
            assert one.inner_text().strip() or one.get_attribute("aria-label")
    chosen = page.locator(".list-filters [aria-current]").all_inner_texts()
    assert [text.split()[0] for text in chosen] == ["Todas"]


@pytest.mark.long
def test_start_of_forty_plates_is_in_sight(page: "Page", portal: PortalProcess) -> None:
    draft(page, portal, " ".join(f"QTZ{n // 10}F{n % 10}1" for n in range(40)))
    start_button = page.locator(".price-card button").first
    for width in at_each_width(page, 320, 768, 1440):
        assert box_of(start_button)["y"] + box_of(start_button)["height"] <= 740, width


@pytest.mark.long
def test_table_of_forty_rows_fits(page: "Page", ended: Ended) -> None:
    plates = [f"QTZ{n // 10}G{n % 10}1" for n in range(39)]
    look_at(page, ended([*plates, "79831854647"]))
    for width in at_each_width(page, 320, 360, 768, 1024, 1200, 1440):
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        heights = page.evaluate(
            "[...document.querySelectorAll('.vehicles tbody tr')].map(one => one.offsetHeight)"
        )
        assert len(heights) == 40
        # On a phone, the line of the sheet takes 28 px.
        assert max(heights) <= (80 if width == 1440 else 220), width
        verdict = box_of(page.locator(".vehicles__finding > span").first)
        assert verdict["height"] <= 48, width  # at most two lines
        renavam = page.locator("#veiculo-79831854647")
        number = box_of(renavam.locator("th .number"))
        car = box_of(renavam.locator(".vehicles__car"))
        assert number["x"] + number["width"] <= car["x"], width
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 700, "height": 740})
    heads, cells = (page.evaluate(LEFT_EDGES, row) for row in ("thead tr", "tbody tr"))
    assert heads == cells and len(cells) == 9  # no ticks on paper
