"""The structure tree of a dossier's PDF, from which screen readers read it (PDF/UA-1)."""

import re
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from typing import Any

import pytest
from pypdf import PdfReader
from pypdf.generic import ArrayObject, ContentStream, DictionaryObject, IndirectObject, NullObject

from tests.pdf.entries import dictionary, entry
from tests.pdf.specimens import SPECIMENS, every_specimen, pdf_of

PLATE, QR, CHART, BAR, TIMELINE = (
    "Desenho da placa no padrão Mercosul",
    "Código QR com o endereço de verificação deste dossiê",
    "Preço FIPE",
    "Multas por situação: ",
    "Linha do tempo dos registros",
)
FIGURES = {
    "clean car": [PLATE, QR, CHART],
    "one fine": [PLATE, QR, CHART, BAR, TIMELINE],
    "45 fines": [PLATE, QR, CHART, BAR, TIMELINE],
    "300 fines": [PLATE, QR, CHART, BAR, TIMELINE],
    "everything unavailable": [PLATE, QR],
    "court orders": [PLATE, QR, CHART, BAR, TIMELINE],
}
pytestmark = pytest.mark.over_5_s("WeasyPrint lays out 300 fines")


@cache
def read(name: str) -> PdfReader:
    return PdfReader(BytesIO(pdf_of(name)))


def below(element: DictionaryObject, kind: str) -> Iterator[DictionaryObject]:
    """Yield the elements of a kind in reading order."""
    for child in kids(element):
        if child.get("/S") == kind:
            yield child
        yield from below(child, kind)


def kids(element: DictionaryObject) -> list[DictionaryObject]:
    children = element["/K"]
    assert isinstance(children, ArrayObject)
    found = (child.get_object() for child in children)
    return [child for child in found if isinstance(child, DictionaryObject) and "/S" in child]


def tree_of(pdf: PdfReader) -> DictionaryObject:
    return dictionary(pdf.trailer, "/Root", "/StructTreeRoot")


@every_specimen
def test_each_figure_has_an_alternative_text(name: str) -> None:
    """A reader would meet 15 nameless pictures beside words that say the same."""
    figures = list(below(tree_of(read(name)), "/Figure"))
    texts = [str(one.get("/Alt", "")) for one in figures]
    is_sheet = not SPECIMENS[name].is_dossier
    expected = [PLATE] if is_sheet else FIGURES[name.removeprefix("signed, ")]
    assert len(texts) == len(expected), texts
    for text, start in zip(texts, expected, strict=True):
        assert text.startswith(start), texts


@every_specimen
def test_content_is_in_the_tree_or_an_artifact(name: str) -> None:
    """Icons and page numbers are artifacts. Nothing is drawn that is neither."""
    pdf = read(name)
    numbers: dict[Any, set[int]] = {page.indirect_reference: set() for page in pdf.pages}
    note_content(tree_of(pdf), numbers)
    parents = entry(tree_of(pdf), "/ParentTree", "/Nums")
    assert isinstance(parents, ArrayObject)
    for index, page in enumerate(pdf.pages):
        drawn, artifacts, bare = marks_of(pdf, page)
        assert drawn == numbers[page.indirect_reference]
        assert artifacts
        assert not bare
        known = parents[2 * index + 1].get_object()
        assert isinstance(known, ArrayObject)
        named = {at for at, one in enumerate(known) if not isinstance(one, NullObject)}
        assert named == drawn


def note_content(element: DictionaryObject, numbers: dict[Any, set[int]]) -> None:
    children = element["/K"]
    assert isinstance(children, ArrayObject)
    for child in children:
        if isinstance(child, int):
            page = element.raw_get("/Pg")
            assert isinstance(page, IndirectObject)
            numbers[page].add(int(child))
    for child in kids(element):
        note_content(child, numbers)


def marks_of(pdf: PdfReader, page: Any) -> tuple[set[int], int, list[bytes]]:
    """Return the identifiers of marked content, the number of artifacts, and unmarked drawing."""
    drawn: set[int] = set()
    artifacts = 0
    bare: list[bytes] = []
    depth = 0
    for operands, operator in ContentStream(page.get_contents(), pdf).operations:
        if operator in (b"BDC", b"BMC"):
            depth += 1
            artifacts += operands[0] == "/Artifact"
            if operator == b"BDC" and "/MCID" in operands[1]:
                drawn.add(int(operands[1]["/MCID"]))
        elif operator == b"EMC":
            depth -= 1
        elif operator in (b"Tj", b"TJ", b"f", b"f*", b"S", b"B", b"Do") and not depth:
            bare.append(operator)
    return drawn, artifacts, bare


@every_specimen
def test_each_cell_of_a_table_has_a_header(name: str) -> None:
    tables = list(below(tree_of(read(name)), "/Table"))
    for table in tables:
        headers = list(below(table, "/TH"))
        scopes = {str(entry(one, "/A", "/Scope")) for one in headers}
        assert scopes and scopes <= {"/Column", "/Row"}
        assert {str(entry(one, "/A", "/Scope")) for one in below_heads(table)} <= {"/Column"}
        ids = {str(one["/ID"]) for one in headers}
        for cell in below(table, "/TD"):
            heads = {str(one) for one in headers_of(cell)}
            assert heads and heads <= ids, cell
    assert bool(tables) == (name.removeprefix("signed, ") != "everything unavailable")


def headers_of(cell: DictionaryObject) -> ArrayObject:
    heads = entry(cell, "/A", "/Headers")
    assert isinstance(heads, ArrayObject)
    return heads


def below_heads(table: DictionaryObject) -> Iterator[DictionaryObject]:
    for head in below(table, "/THead"):
        yield from below(head, "/TH")


def test_a_fine_heads_its_own_cells_alone() -> None:
    """The first cell of a row would be headed by all fines of the sheet."""
    tables = below(tree_of(read("court orders")), "/Table")
    fines = [group for table in tables for group in below(table, "/TBody") if spans(group)]
    assert len(fines) > 1
    for group in fines:
        (header,) = below(group, "/TH")
        for cell in below(group, "/TD"):
            assert [str(one) for one in headers_of(cell)] == [str(header["/ID"])]


def test_cells_beside_a_header_of_several_rows_have_their_own_columns() -> None:
    """A reader would hear of the second row of an item "Linha: nada consta"."""
    law, *_ = below(tree_of(read("sheet, clean car")), "/Table")
    _, line, state, source, sale = [str(one["/ID"]) for one in below_heads(law)]
    sizes = []
    for group in list(below(law, "/TBody"))[1:]:
        (item,) = below(group, "/TH")
        rows = [list(below(row, "/TD")) for row in below(group, "/TR")]
        sizes.append(len(rows))
        for cells in rows:
            heads = [[str(one) for one in headers_of(cell)] for cell in cells]
            assert heads == [[str(item["/ID"]), head] for head in (line, state, source, sale)]
    assert sizes == [1, 3, 2, 1, 2]


def spans(group: DictionaryObject) -> bool:
    return any("/ColSpan" in dictionary(one, "/A") for one in below(group, "/TH"))


def test_decoration_in_html_is_hidden_or_named() -> None:
    """The PDF takes a picture without a title for decoration; the page says the same."""
    for specimen in SPECIMENS.values():
        for picture in re.findall(r"<svg.*?</svg>", specimen.html(), re.DOTALL):
            tag = picture[: picture.index(">")]
            assert ('aria-hidden="true"' in tag) != ("<title" in picture), tag
