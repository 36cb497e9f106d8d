"""Corrects the structure tree that WeasyPrint writes, from which screen readers read a PDF."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Set
from typing import Any, Final

_SCOPES: Final = {"/THead": "/Column", "/TBody": "/Row", "/TFoot": "/Row", "/Table": "/Row"}


def correct(pdf: Any) -> None:
    """Correct the structure tree of a ``pydyf.PDF``. PDF/UA-1 requires all of it.

    - A figure without an alternative text is decoration and becomes an artifact. WeasyPrint ignores
      ``aria-hidden``, so each icon would be a nameless picture beside the word that names it.
    - What the tree does not contain, as the page number in the margin, becomes an artifact.
    - A header cell says what it heads. WeasyPrint drops ``scope``.
    - A cell names the header cells of its columns and of its row. One that spans columns heads its
      row group. WeasyPrint takes it, and one that spans rows, for the head of its column in all row
      groups, and counts the columns wrongly beside a cell that spans rows.
    """
    elements: dict[bytes, Any] = {one.reference: one for one in pdf.objects if _is_element(one)}
    for element in elements.values():
        if _is_decoration(element):
            elements[element["P"]]["K"].remove(element.reference)
        elif element["S"] == "/TH":
            element["A"]["Scope"] = _SCOPES[_group_of(elements, element)["S"]]
        elif element["S"] == "/Table":
            _set_headers(elements, element)
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


def _group_of(elements: dict[bytes, Any], cell: Any) -> Any:
    return elements[elements[cell["P"]]["P"]]


def _set_headers(elements: dict[bytes, Any], table: Any) -> None:
    columns: defaultdict[int, list[Any]] = defaultdict(list)
    groups = [one for one in _children(elements, table) if one["S"] in _SCOPES]
    for group in groups or [table]:
        in_head, of_group = group["S"] == "/THead", list[Any]()
        taken: Counter[int] = Counter()  # rows that a cell above still spans, by column
        of_rows: Counter[Any] = Counter()  # rows that a header cell still heads
        for row in _children(elements, group):
            if row["S"] != "/TR":
                continue
            at = 0
            for cell in _children(elements, row):
                while taken[at]:
                    at += 1
                spanned = range(at, at + cell["A"].get("ColSpan", 1))
                rows = cell["A"].get("RowSpan", 1)
                taken.update(dict.fromkeys(spanned, rows))
                at = spanned.stop
                if cell["S"] == "/TH" and in_head:
                    for column in spanned:
                        columns[column].append(cell["ID"])
                elif cell["S"] == "/TH" and len(spanned) > 1:
                    of_group.append(cell["ID"])
                elif cell["S"] == "/TH":
                    of_rows[cell["ID"]] = rows
                elif "Headers" in cell["A"]:
                    heads = [*of_group, *of_rows, *(id_ for n in spanned for id_ in columns[n])]
                    cell["A"]["Headers"][:] = dict.fromkeys(heads)
            taken -= Counter(list(taken))
            of_rows -= Counter(list(of_rows))


def _children(elements: dict[bytes, Any], parent: Any) -> Iterator[Any]:
    return (elements[reference] for reference in parent["K"] if reference in elements)


def _object(pdf: Any, reference: bytes) -> Any:
    return pdf.objects[int(reference.split()[0])]
