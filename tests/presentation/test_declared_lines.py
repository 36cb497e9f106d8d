"""Each line in each state reads the same on page, paper, sheet, in JSON and in lists."""

import json
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from io import BytesIO
from typing import Any
from xml.etree.ElementTree import Element

import pytest
from pypdf import PdfReader

from portal.batch.model import Item
from portal.dossier.answers import Panels
from portal.dossier.dossier import Dossier
from portal.dossier.records_by_line import LINE_OF_SUBJECT
from portal.dossier.row import row_of, row_of_dossier, stored_row
from portal.law.checklist import LINE_OF, LINES
from portal.law.declared import Declaration, SettledLine
from portal.phrasebook.checklist import something, title
from portal.phrasebook.declared import contradicted_words, line_source, line_words
from portal.presentation.exports.declared import declared_object
from portal.presentation.exports.explained import explained
from portal.presentation.paper.dossier import dossier_page
from portal.presentation.vehicle.negotiation import negotiation_page
from portal.presentation.vehicle.page import vehicle_page
from portal.presentation.vehicle.sheet import Sheet, SheetPage
from portal.vehicle.operation_name import LookupName
from tests.effort import covering
from tests.faces.corpus import FINES
from tests.factories import decoded, fine, renainf_body, renajud_body, restriction
from tests.pdf.rendering import can_render_pdf, render_pdf
from tests.presentation.rendering import CONTEXT, DOWN, NOW, PLATE, UNASKED, answered, render
from tests.presentation.test_findings_on_every_face import REPORTED, answers_of
from tests.web.html_checker import HTML, check_html, text_of

CLEAN = Panels(
    answered(json.dumps({"status": "DONE", "result": decoded(str(PLATE))}).encode()),
    answered(renainf_body()),
    answered(renajud_body()),
)
RECORDED: dict[str, Panels] = {
    "justica": replace(CLEAN, orders=answered(renajud_body(restriction()))),
    "multas": replace(CLEAN, fines=answered(renainf_body(fine()))),
    **{
        key: replace(
            CLEAN,
            vehicle=answered(
                json.dumps({"status": "DONE", "result": decoded(str(PLATE)) | more}).encode()
            ),
        )
        for key, more in {
            "roubo-e-furto": {"tipoVeiculo": "VEICULO ROUB/FURT"},
            "gravame": {"combustivel": "GASOLINA AL. FIDUC."},
            "leilao": {"leilao": "SIM"},
            "sinistro": {"tipoVeiculo": "SUCATA"},
        }.items()
    },
}
SETTLED: dict[str, LookupName] = {"justica": "renajud", "multas": "renainf"}


def unavailable(key: str) -> Panels:
    """Answers that say nothing of a line."""
    return CLEAN.with_answers({SETTLED[key]: DOWN}) if key in SETTLED else CLEAN


def warned(key: str) -> Panels:
    subject = LINE_OF[key].subject
    return answers_of({"report": REPORTED[subject]})


def told(key: str, state: Any) -> Declaration:
    is_something = state == "something"
    amount = Decimal("1200.00") if is_something and LINE_OF[key].is_debt else None
    what = "anotado no pátio" if is_something else ""
    return Declaration(key, state, "loja-1", CONTEXT.today, amount, what, "fonte X")


def states() -> Iterator[tuple[str, str, Panels, tuple[Declaration, ...]]]:
    for line in LINES:
        key = line.key
        yield key, "open", unavailable(key), ()
        yield key, "declared", unavailable(key), (told(key, "nothing"),)
        yield key, "declared", unavailable(key), (told(key, "something"),)
        if key in RECORDED:
            yield key, "recorded", RECORDED[key], ()
            yield key, "contradicted", RECORDED[key], (told(key, "nothing"),)
        # What the report says of courts or fines stands beside the line of the other registers,
        # and what it says of debts beside that of taxes.
        if LINE_OF_SUBJECT.get(line.subject) == key:
            yield key, "warned", warned(key), ()
    for key in SETTLED:
        yield key, "recorded", CLEAN, ()
        yield key, "contradicted", CLEAN, (told(key, "something"),)


CASES = list(states())


def made(answers: Panels, declarations: tuple[Declaration, ...] | None) -> Dossier:
    return replace(CONTEXT.dossier(PLATE, answers), declarations=declarations)


def tree_of(page: Any) -> Element:
    return check_html(render(page))


def by_id(tree: Element, name: str) -> str:
    (found,) = [one for one in tree.iter() if one.get("id") == name]
    return text_of(found)


def sheet_of(dossier: Dossier) -> SheetPage:
    return SheetPage(Sheet(dossier, NOW, "loja-1"), None, "https://portal.example")


def row_on_sheet(tree: Element, one: SettledLine) -> str:
    rows = [text_of(row) for row in tree.iter(f"{HTML}tr")]
    (found,) = [text for text in rows if title(one.line) in text]
    return found


def spaced(text: str) -> str:
    return " ".join(text.replace("\u00a0", " ").split())


def test_at_least_sixty_states_are_tried() -> None:
    assert len(CASES) >= 60
    assert {case[1] for case in CASES} == {
        *("open", "declared", "recorded", "contradicted", "warned"),
    }


@pytest.mark.parametrize(
    ("key", "settlement", "answers", "declarations"),
    CASES,
    ids=[f"{key}-{how}-{''.join(d.state for d in ds)}" for key, how, _, ds in CASES],
)
def test_line_reads_the_same_on_every_face(
    key: str, settlement: str, answers: Panels, declarations: tuple[Declaration, ...]
) -> None:
    dossier = made(answers, declarations)
    (one,) = [each for each in dossier.lines if each.key == key]
    assert one.settlement == settlement
    words, source = spaced(line_words(one)), spaced(line_source(one))
    on_page = spaced(line_source(one, dossier.today))
    page = tree_of(
        vehicle_page(dossier, CONTEXT.of_page, may_refresh=True, left_today=None, may_write=True)
    )
    paper = tree_of(dossier_page(dossier, NOW, address="https://portal.example"))
    sheet = tree_of(sheet_of(dossier))
    on_sheet = spaced(row_on_sheet(sheet, one))
    assert words in on_sheet and source in on_sheet
    # A line of the records is on the page and on paper only if there is something to do.
    is_listed = any(line.key == key for line in dossier.checklist.lines)
    shown = [spaced(by_id(tree, f"verificar-{key}")) for tree in (page, paper) if is_listed]
    for text, by in zip(shown, (on_page, source), strict=False):
        if one.is_open:
            assert "nada consta" not in text.replace("Conferi: nada consta", "")
        else:
            assert words in text and by in text
        if one.is_contradicted:
            assert spaced(contradicted_words(one)) in text
        if one.is_warned:
            assert "A análise escrita aponta" in text
    if one.is_open:
        assert "não verificado" in on_sheet and "nada consta" not in on_sheet
    if one.is_warned:
        assert "a análise escrita aponta" in on_sheet
        # The clause of the contract does not keep a warning from the buyer.
        clause = f"{title(one.line)}: não verificado, a análise escrita aponta"
        assert (clause in spaced(text_of(sheet))) == bool(one.line.law)
    if one.is_contradicted:
        assert spaced(contradicted_words(one)) in on_sheet
    # JSON.
    document = explained(dossier, NOW)
    assert document["declared"] == declared_object(dossier)
    (line,) = [each for each in document["declared"]["lines"] if each["line"] == key]
    assert (line["state"], line["by"]) == (one.state, one.by)
    assert (line["contradicted"], line["warned_by_report"]) == (
        settlement == "contradicted",
        settlement == "warned",
    )
    assert line["who"] == ("loja-1" if one.by == "declared" else None)
    # Lists: the row of stored answers, and the row that a batch stored without declarations.
    direct = row_of_dossier(dossier)
    item = Item(PLATE, "done", result=stored_row(made(answers, ()), {}))
    reported = made(answers, ())
    kept = row_of(
        item,
        lambda: reported,
        lambda: reported if answers.report.body else None,
        NOW,
        declarations,
    )
    for row in (direct, kept):
        assert row.open_lines == document["declared"]["open"] == dossier.open_lines
        assert bool(row.blocks_entry) == bool(dossier.stock_obstacles)
        if settlement == "declared" and one.state == "something":
            assert row.declared and something(LINE_OF[key]) in row.declared
            assert row.verdict in ("caution", "incomplete")
    assert direct.blocks_entry == kept.blocks_entry
    codes = {each["code"] for each in document["verdict"]["reasons"]}
    is_found = settlement == "declared" and one.state == "something"
    assert (f"declared_{key.replace('-', '_')}" in codes) == is_found


@pytest.mark.parametrize("answers", [CLEAN, Panels(UNASKED, UNASKED, UNASKED)])
def test_sheet_names_every_item_of_the_law(answers: Panels) -> None:
    dossier = made(answers, ())
    text = spaced(text_of(tree_of(sheet_of(dossier))))
    for item, words in Sheet.texts.items.items():
        assert f"II, {item}) {words}" in text
    assert Sheet.texts.taxes in text
    for line in LINES:
        assert title(line) in text
    for kept in ("Res. Contran 1.026/2026", "art. 284, § 3º", "chave da NF-e", "ATPV-e"):
        assert kept in text
    assert f"{dossier.open_lines} linhas não verificadas de 15" in text
    # The clause is said not to discharge the duty while an item is open.
    assert Sheet.texts.clause.unfinished in text


def test_sheet_without_open_lines_says_so() -> None:
    told_all = tuple(told(line.key, "nothing") for line in LINES if line.key not in SETTLED)
    text = spaced(text_of(tree_of(sheet_of(made(CLEAN, told_all)))))
    assert "Todas as linhas têm registro ou declaração" in text
    assert "não verificado" not in text.partition("Recibo de quem compra")[0].replace(
        "O item não verificado não está informado.", ""
    )
    assert Sheet.texts.clause.unfinished not in text


def test_declared_and_recorded_never_look_alike() -> None:
    dossier = made(CLEAN, (told("gravame", "nothing"),))
    tree = tree_of(sheet_of(dossier))
    kinds = {row.get("class"): text_of(row) for row in tree.iter(f"{HTML}tr") if row.get("class")}
    assert "declarado por loja-1" in kinds["law__row--declared"]
    assert "registro de" in kinds["law__row--recorded"]


def test_declared_debts_are_proposed_costs() -> None:
    dossier = made(CLEAN, (told("debitos", "something"), told("divida-ativa", "something")))
    sheet = negotiation_page(dossier, NOW, {})
    assert [(each.amount, each.told_by) for each in sheet.costs] == [
        (Decimal("1200.00"), "declared"),
        (Decimal("1200.00"), "declared"),
    ]
    assert sheet.ceiling is not None
    text = spaced(text_of(tree_of(sheet)))
    assert "declarado por loja-1" in text
    # The visitor's own amount takes the place of what was declared of taxes.
    own = negotiation_page(dossier, NOW, {"ipva": "0"})
    assert own.costs == []


def whole_cases() -> Iterator[tuple[str, Panels, tuple[Declaration, ...]]]:
    """Each settlement, of all lines that can have it at once."""
    down = replace(CLEAN, fines=DOWN, orders=DOWN)
    free = [line.key for line in LINES]
    stolen = RECORDED["roubo-e-furto"].vehicle
    all_at_once = replace(warned("gravame"), vehicle=stolen, fines=RECORDED["multas"].fines)
    denied, found = told("roubo-e-furto", "nothing"), told("debitos", "something")
    yield "warned", all_at_once, (denied, found, told("leilao", "nothing"))
    yield "open", down, ()
    yield "declared", down, tuple(told(key, "nothing") for key in free)
    yield "declared", down, tuple(told(key, "something") for key in free)
    yield "recorded", CLEAN, ()
    owed = replace(RECORDED["justica"], fines=RECORDED["multas"].fines)
    yield "recorded", owed, ()
    yield "contradicted", owed, tuple(told(key, "nothing") for key in SETTLED)
    for key in ("roubo-e-furto", "gravame", "leilao", "sinistro"):
        yield "contradicted", RECORDED[key], (told(key, "nothing"),)
    for key in ("roubo-e-furto", "gravame", "debitos"):
        yield "warned", warned(key), ()


def tried(case: tuple[str, Panels, tuple[Declaration, ...]]) -> Iterator[tuple[object, object]]:
    """Yield what is looked for in the two PDFs."""
    _, answers, declarations = case
    lines = made(answers, declarations).lines
    yield from ((one.settlement, one.state) for one in lines)
    yield "a declaration", bool(declarations)
    yield "a denial", any("nada consta" in line_words(one) for one in lines)


@pytest.mark.over_5_s("WeasyPrint lays out two documents")
@pytest.mark.parametrize(("settlement", "answers", "declarations"), covering(whole_cases(), tried))
def test_pdfs_say_of_each_line_what_the_page_says(
    settlement: str, answers: Panels, declarations: tuple[Declaration, ...]
) -> None:
    if not can_render_pdf():
        pytest.skip("WeasyPrint or a library of it is not installed")
    dossier = made(answers, declarations)
    assert settlement in {one.settlement for one in dossier.lines}
    file = replace(sheet_of(dossier), is_file=True)
    sheet = words_of(render_pdf(render(file)))
    paper = words_of(render_pdf(render(dossier_page(dossier, NOW, address="https://x.example"))))
    listed = {line.key for line in dossier.checklist.lines}
    for one in dossier.lines:
        for text in (sheet, paper) if one.key in listed else (sheet,):
            said = [line_words(one), line_source(one), contradicted_words(one)]
            if one.is_open and text is paper:
                said = [title(one.line)]
            assert all(packed(each) in text for each in said), (one.key, said)
        if one.is_warned:
            assert packed("a análise escrita aponta") in sheet
    if not declarations:
        assert packed("declarado por") not in sheet
    if not any("nada consta" in line_words(one) + contradicted_words(one) for one in dossier.lines):
        assert packed("nada consta") not in sheet


def words_of(pdf: bytes) -> str:
    return packed(" ".join(page.extract_text() for page in PdfReader(BytesIO(pdf)).pages))


def packed(text: str) -> str:
    """Leave out spaces, which the lines and columns of a PDF set otherwise."""
    return "".join(text.split())


def test_unread_declarations_are_said() -> None:
    dossier = made(CLEAN, None)
    page = vehicle_page(dossier, CONTEXT.of_page, may_refresh=True, left_today=None, may_write=True)
    assert "não puderam ser lidas" in text_of(tree_of(page))
    assert "esta folha está incompleta" in text_of(tree_of(sheet_of(dossier)))
    assert row_of_dossier(dossier).open_lines is None
    assert row_of_dossier(dossier).verdict == "caution"


def test_notice_is_not_counted_as_a_fine_on_the_sheet() -> None:
    """A notice restricts nothing: the stock entry names the enforceable fines, and their sum."""
    young, due = FINES["notice"], FINES["enforceable"]
    dossier = CONTEXT.dossier(PLATE, replace(CLEAN, fines=answered(renainf_body(young, due))))
    assert dossier.totals is not None
    assert (dossier.totals.open_notices, dossier.totals.enforceable_count) == (1, 1)
    page = SheetPage(Sheet(dossier, NOW, "loja"), None, "https://x.example")
    text = text_of(check_html(render(page)))
    assert "1 multa e 1 autuação em aberto, R$ 1.010,57" in text
    stops = text[text.index("Impede ou pode impedir") :]
    assert stops.startswith("Impede ou pode impedir a entrada: multas exigíveis – 1 exigível, R$")
    assert "R$ 130,16, registro de" in stops
