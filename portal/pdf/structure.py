"""Corrects the structure tree that WeasyPrint writes, from which screen readers read a PDF."""

from collections.abc import Iterator, Set
from typing import Any, Final

_SCOPES: Final = {"/THead": "/Column", "/TBody": "/Row", "/Table": "/Row"}


def correct(pdf: Any) -> None:
    """Correct the structure tree of a ``pydyf.PDF``. PDF/UA-1 requires all of it.

    - A figure without an alternative text is decoration and becomes an artifact. WeasyPrint ignores
      ``aria-hidden``, so each icon would be a nameless picture beside the word that names it.
    - What the tree does not contain, as the page number in the margin, becomes an artifact.
    - A header cell says what it heads. WeasyPrint drops ``scope``.
    - A header cell that spans columns heads the cells of its row group. WeasyPrint takes it for the
      head of its column, in all row groups.
    """
    elements: dict[bytes, Any] = {one.reference: one for one in pdf.objects if _is_element(one)}
    for element in elements.values():
        if _is_decoration(element):
            elements[element["P"]]["K"].remove(element.reference)
        elif element["S"] == "/TH":
            _set_scope(elements, element)
    root = _object(pdf, pdf.catalog["StructTreeRoot"])
    outside = elements.keys() - set(_below(elements, root))
    _make_artifacts(pdf, root, outside)
    for reference in outside:
        elements[reference].clear()


def _is_element(one: Any) -> bool:
    return isinstance(one, dict) and one.get("Type") == "/StructElem"


def _is_decoration(element: Any) -> bool:
    return element["S"] == "/Figure" and not (element.get("Alt") and element["Alt"].string)


def _below(elements: dict[bytes, Any], parent: Any) -> Iterator[bytes]:
    for child in parent["K"]:
        if child in elements:
            yield child
            yield from _below(elements, elements[child])


def _make_artifacts(pdf: Any, root: Any, outside: Set[bytes]) -> None:
    """Mark the content of these elements as artifacts, and remove them from the parent tree.

    In the parent tree, the index of a page's element is the identifier of its content.
    """
    parents_of = _object(pdf, root["ParentTree"])["Nums"]
    pages = (_object(pdf, reference) for reference in pdf.page_references)
    for page, parents in zip(pages, parents_of[1::2], strict=False):
        contents = _object(pdf, page["Contents"]).stream
        for at, operator in enumerate(contents):
            if operator != b"BDC" or "MCID" not in contents[at - 1]:
                continue
            if parents[contents[at - 1]["MCID"]] in outside:
                contents[at - 2] = "/Artifact"
                contents[at - 1].clear()
        parents[:] = ["null" if one in outside else one for one in parents]


def _set_scope(elements: dict[bytes, Any], header: Any) -> None:
    group = elements[elements[header["P"]]["P"]]
    header["A"]["Scope"] = _SCOPES[group["S"]]
    if group["S"] == "/TBody" and "ColSpan" in header["A"]:
        for cell in _cells(elements, group):
            cell["A"]["Headers"][:] = [header["ID"]]


def _cells(elements: dict[bytes, Any], group: Any) -> Iterator[Any]:
    for row in group["K"]:
        for cell in elements[row]["K"]:
            if elements[cell]["S"] == "/TD":
                yield elements[cell]


def _object(pdf: Any, reference: bytes) -> Any:
    return pdf.objects[int(reference.split()[0])]
