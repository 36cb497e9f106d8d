"""Walks the table of records: every page, paper and export says of a record what the table says.

A face that shows a fact that the table leaves open, such as the whole headline or an icon, shows
what the other faces show.
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from html import unescape
from typing import Any

import pytest

from portal import formats
from portal.batch.model import Item
from portal.dossier.answers import UNCONFIRMED, Panel, Panels
from portal.dossier.row import row_of_dossier
from portal.presentation.exports.batches import results_table
from portal.presentation.exports.explained import explained
from portal.presentation.exports.tables import Table, csv_lines
from portal.presentation.exports.vehicle_tables import TableName, vehicle_table
from portal.presentation.issued.pages import IssuedDossierPage
from portal.presentation.issued.summary import issued_summary
from portal.presentation.site.search_page import SearchPage
from portal.vehicle.operation_name import LOOKUPS, LookupName
from tests.effort import covering
from tests.factories import decode_body, renainf_body, renajud_body, report_body
from tests.presentation.batch_views import batch_page
from tests.presentation.pages import (
    comparison_page,
    dossier_page,
    negotiation_page,
    recent_lookup,
    vehicle_page,
)
from tests.presentation.records_table import (
    CALLED_OFF,
    DOUBTED,
    NOTHING,
    NOTICE,
    OPEN,
    PAY_FIRST,
    PAY_ONE,
    ROWS,
    UNKNOWN,
    Row,
)
from tests.presentation.rendering import CONTEXT, DOWN, NOW, PLATE, UNASKED, answered, render
from tests.presentation.specimens import BATCH_PRICES, NO_LIMIT, batch_in, stored_dossier

# The icon and the tone of each level and mark, and the word of the level.
LEVELS = {
    "clear": ("check", "ok", "Nada encontrado nos registros"),
    "caution": ("alert", "warn", "Atenção"),
    "blocked": ("cross", "danger", "Impedimento"),
    "incomplete": ("question", "unknown", "Incompleto"),
}
MARKS = {"no": "danger", "careful": "warn", "yes": "plain", "unknown": "unknown"}
# Lists have shorter words than the headline for what they may not hide.
LIST_WORDS = {
    NOTHING: "Nada encontrado",
    PAY_FIRST: "Só após pagar as multas",
    PAY_ONE: "Só após pagar as multas",
    CALLED_OFF: "Multa cancelada, a confirmar",
    OPEN: "Multa em aberto a confirmar",
    NOTICE: "Multa em aberto a confirmar",
    DOUBTED: "Restrição judicial a confirmar",
}
IDENTIFICATION = "Identificação do veículo em dúvida"
CONDITION = "Situação do veículo a confirmar"
ADVERSE = "A fonte aponta "
NONE = "nenhuma nos registros"
MOST_WITH_ICONS = 10  # fines on paper; a longer list is plain
MOST_REASONS = 3  # on page and paper
SHORTER = {"no prazo de pagamento ou recurso": "no prazo"}
_TAG = re.compile(r"<[^>]*>")
_DRAWN = re.compile(r'<(?:path|circle)[^>]*? (?:d|r)="([^"]+)"')


def text_in(html: str) -> str:
    return " ".join(unescape(_TAG.sub(" ", html)).replace("\u00a0", " ").split())


def squeezed(text: str) -> str:
    """Return a text without the blanks that tags leave before punctuation."""
    return re.sub(r" ([,.;:])", r"\1", " ".join(text.replace("\u00a0", " ").split()))


def part(html: str, begin: str, end: str) -> str:
    """Return what is between the first ``begin`` and the next ``end``; "" if there is none."""
    _, found, rest = html.partition(begin)
    return rest.partition(end)[0] if found else ""


def words(html: str, begin: str, end: str) -> str:
    return squeezed(text_in(part(html, begin, end).partition(">")[2]))


@dataclass(frozen=True)
class Faces:
    page: str
    paper: str
    comparison: str
    negotiation: str
    issued: str
    recent: str
    batch: str
    batch_cells: dict[str, str]
    document: dict[str, Any]
    tables: dict[TableName, list[dict[str, str]]]


def panel(row: Row, lookup: LookupName, body: bytes) -> Panel:
    match row.gaps.get(lookup):
        case "down":
            return DOWN
        case "unconfirmed":
            return Panel(
                "unavailable",
                fetched_at=NOW,
                reason=UNCONFIRMED.format("SEM DADOS PARA O FILTRO"),
                cause="unconfirmed",
            )
        case "stale":
            return answered(body, "stale")
        case _:
            return answered(body)


def answers_of(row: Row) -> Panels:
    answers = Panels(
        panel(row, "decode", decode_body(str(PLATE), **row.vehicle)),
        panel(row, "renainf", renainf_body(*row.fines)),
        panel(row, "renajud", renajud_body(*row.orders)),
    )
    if row.report is None:
        return replace(answers, report=UNASKED)
    return replace(answers, report=answered(report_body(**{"summary": "Texto.", **row.report})))


def faces_of(row: Row) -> Faces:
    answers = answers_of(row)
    report = answers.report
    paper = dossier_page(PLATE, answers, report, CONTEXT, address="https://portal.example")
    contents = CONTEXT.dossier(PLATE, answers)
    item = Item(PLATE, "done")
    in_batch = row_of_dossier(CONTEXT.dossier(item.subject, answers))
    batch = replace(batch_in("done"), ask=LOOKUPS)
    names: tuple[TableName, ...] = ("fines", "restrictions", "prices")
    return Faces(
        page=render(vehicle_page(PLATE, answers, report, CONTEXT)),
        paper=render(paper),
        comparison=render(comparison_page([PLATE], [answers], CONTEXT, follow=False)),
        negotiation=render(negotiation_page(PLATE, answers, CONTEXT, {})),
        issued=render(IssuedDossierPage(stored_dossier(), issued_summary(paper, None), "/d/k")),
        recent=render(SearchPage(recent=(recent_lookup(PLATE, answers, NOW, CONTEXT),))),
        batch=render(batch_page(batch, [(item, in_batch)], BATCH_PRICES, NO_LIMIT, NOW)),
        batch_cells=cells(results_table([in_batch]))[0],
        document=explained(contents, NOW),
        tables={name: cells(vehicle_table(name, contents)) for name in names},
    )


def cells(table: Table | None) -> list[dict[str, str]]:
    """Return the rows of a table as a program reads its CSV file."""
    if table is None:
        return []
    return list(csv.DictReader(csv_lines(table, "rfc4180")))


# --- What each face shows ---


def figures(html: str, name: str) -> dict[str, str]:
    """Return the figures of a list: its terms and their texts."""
    listed = part(html, f'<dl class="{name}', "</dl>")
    return {
        text_in(entry.partition("</dt>")[0]): squeezed(text_in(entry.partition("</dt>")[2]))
        for entry in listed.split("<dt>")[1:]
    }


def numbers(html: str) -> dict[str, str]:
    """Return the figures of a page's first screen, by the labels of the other faces."""
    told = figures(html, "hero__numbers")
    labels = {
        "Deve": "Multas em aberto",
        "Multas": "Multas em aberto",
        "Vale": "Preço FIPE",
        "Transfere?": "Restrições judiciais",
    }
    found = {name: told[label] for label, name in labels.items() if label in told}
    # The first screen has few words, and says in its own what the other faces say of orders.
    for own, others in (
        ("Sem ordem nos registros|nenhuma ordem", NONE),
        (r"\bordem \(", "1 em vigor ("),
    ):
        found["Restrições judiciais"] = re.sub(own, others, found.get("Restrições judiciais", ""))
    return found


def tone_of_transfer(html: str) -> str:
    found = re.search(r'<li class="act tone-(\w+)">(?:(?!</li>).)*?Transferir', html, re.DOTALL)
    return found[1] if found else ""


def fines_on_page(html: str) -> dict[int, tuple[str, str, frozenset[str]]]:
    """Return the word, the amount and the drawn icon of each fine, by number."""
    shown = {}
    for line in re.split('<tr class="fine(?: [^"]*)?" id="multa-', html)[1:]:
        state = part(line, '<td class="ledger__state', "</td>")
        shown[int(line.partition('"')[0])] = (
            text_in(state.partition(">")[2]),
            words(line, '<td class="ledger__amount"', "</td>"),
            frozenset(_DRAWN.findall(state)),
        )
    return shown


def fines_on_paper(html: str) -> dict[int, tuple[str, str, frozenset[str]]]:
    shown = {}
    for line in html.split('<tr class="fine__head"')[1:]:
        head = line.partition("</tr>")[0]
        state, amount = (
            part(head, f'<td class="{name}', "</td>") for name in ("fine__word", "number")
        )
        number = re.search(r">(\d+)\.", head)
        assert number is not None
        shown[int(number[1])] = (
            text_in(f"<{state}".partition("\n")[0]),  # the annex has a date below it
            squeezed(text_in(f"<{amount}".partition("\n")[0])),
            frozenset(_DRAWN.findall(state)),
        )
    return shown


def cell_of(html: str, label: str) -> str:
    return text_in(part(html, f'data-label="{label}"', "</td>").partition(">")[2])


# --- The walk ---


def same(face: str, what: str, got: object, wanted: object) -> Iterator[str]:
    if got != wanted:
        yield f"{face}, {what}: {got!r} instead of {wanted!r}"


def has(face: str, what: str, got: str, wanted: str) -> Iterator[str]:
    if wanted.casefold() not in got.casefold():
        yield f"{face}, {what}: {wanted!r} is not in {got[:300]!r}"


def differences(row: Row, shown: Faces) -> Iterator[str]:
    """Yield a line for each face that shows something else than the row or another face."""
    yield from verdict_differences(row, shown)
    yield from figure_differences(row, shown)
    yield from fine_differences(row, shown)
    yield from order_differences(row, shown)
    yield from price_differences(row, shown)
    yield from ceiling_differences(row, shown)
    yield from text_differences(row, shown)


def verdict_differences(row: Row, shown: Faces) -> Iterator[str]:
    verdict = shown.document["verdict"]
    headline = squeezed(verdict["headline"])
    icon, tone, word = LEVELS[row.level]
    finding, _, caveat = headline.partition("; ")
    yield from same("JSON", "level", verdict["level"], row.level)
    yield from has("JSON", "headline", headline, row.finding)
    # An issued dossier quotes the paper.
    for face, html, said in (
        ("page", shown.page, finding),
        ("issued", shown.issued, f"“{headline}”"),
    ):
        hero = part(html, '<h2 class="hero__finding"', "</h2>").partition(">")[2]
        yield from same(face, "finding", squeezed(text_in(hero)), f"{word}: {said}")
        yield from has(face, "icon", hero, f"icon--{icon}")
        yield from has(face, "tone", html, f'class="hero tone-{tone}')
        yield from has(face, "caveat", squeezed(text_in(html)), caveat)
    stamp = words(shown.paper, '<p class="verdict__sentence"', "</p>")
    yield from same("paper", "verdict", stamp, f"{word}: {headline}")
    stamp = words(shown.negotiation, '<p class="verdict__sentence"', "</p>")
    yield from same("negotiation", "verdict", stamp, f"{word}: {headline}")
    for face, html in (("comparison", shown.comparison), ("batch page", shown.batch)):
        cell = part(html, '<td class="vehicles__finding"', "</td>")
        yield from has(face, "icon", cell, f"icon--{icon}")
        yield from has(face, "tone", cell, f"tone-{tone}")
        if row.level != "incomplete":
            yield from has(face, "words", squeezed(text_in(cell)), in_list(row, finding))
    yield from same("batch CSV", "verdict", shown.batch_cells["verdict"], row.level)
    yield from same("batch CSV", "headline", squeezed(shown.batch_cells["headline"]), headline)
    line = part(shown.recent, '<span class="lookup-row__verdict', "</span></span>")
    yield from has("list", "icon", line, f"icon--{icon}")
    yield from has("list", "tone", line, f"tone-{tone}")
    if row.level != "incomplete":
        yield from has("list", "words", squeezed(text_in(line)), in_list(row, finding))


def in_list(row: Row, finding: str) -> str:
    """Return the shorter words of a list for a finding."""
    if row.level == "blocked":
        acts = ("circular", "licenciado")
        heaviest = next((act for act in acts if act in finding), "")
        short = {"circular": "Não pode circular", "licenciado": "Não pode ser licenciado"}
        own = finding.removesuffix(" agora").replace("pode ser transferido", "transfere")
        return short.get(heaviest, own)
    if "descreve" in finding or "Já foi autuado" in finding:
        return IDENTIFICATION
    if "paga com desconto" in finding:
        return "Pode faltar parte de multa paga"
    if "dados do veículo" in finding:
        return ADVERSE if "trazem" in finding else CONDITION
    return LIST_WORDS[finding]


def figure_differences(row: Row, shown: Faces) -> Iterator[str]:
    """Compare the answer to "may it be transferred?" and the figures beside the verdict."""
    transfer = {each["act"]: each["mark"] for each in shown.document["acts"]}["transfer"]
    yield from same("JSON", "transfer", transfer, row.transfer)
    for face, html in (("page", shown.page), ("paper", shown.paper), ("issued", shown.issued)):
        yield from same(face, "transfer", tone_of_transfer(html), MARKS[row.transfer])
    for face, html in (("comparison", shown.comparison), ("batch page", shown.batch)):
        cell = part(html, '<td class="vehicles__acts"', "</td>").partition("Licenciar")[0]
        yield from has(face, "transfer", cell, f"tone-{MARKS[row.transfer]}")
    owed = "indisponíveis" if row.owed is None else row.owed or NONE
    orders = in_words(row) or NONE
    orders = "indisponíveis" if row.in_force is None else orders
    wanted = {"Multas em aberto": owed, "Restrições judiciais": orders, "Preço FIPE": row.price}
    for face, told in (
        ("page", numbers(shown.page)),
        ("paper", figures(shown.paper, "figures")),
        ("issued", figures(shown.issued, "issued-figures")),
    ):
        for label, text in wanted.items():
            yield from has(face, label, told.get(label, ""), text)


def in_words(row: Row) -> str:
    """Return the numbers of orders in force and in doubt, or "" for none."""
    certain = (row.in_force or 0) - row.in_doubt
    words = ((certain, "em vigor"), (row.in_doubt, "de situação incerta"))
    return " e ".join(f"{number} {text}" for number, text in words if number)


def fine_differences(row: Row, shown: Faces) -> Iterator[str]:
    fines, lines = shown.document["fines"], shown.tables["fines"]
    page, paper = fines_on_page(shown.page), fines_on_paper(shown.paper)
    if fines is None:
        yield from same("table", "fines", row.owed, None)
        yield from same("batch CSV", "open fines", shown.batch_cells["fines_open"], "")
        for face, html in (("comparison", shown.comparison), ("batch page", shown.batch)):
            yield from same(face, "fines", cell_of(html, "Deve"), "sem resposta")
        return
    for face, records in (("JSON", fines["records"]), ("fines.csv", lines)):
        told = tuple(record["standing_words"] for record in records)
        yield from same(face, "standings", told, row.standings)
    for number, word in enumerate(row.standings, start=1):
        on_page, amount, icon = page[number]
        yield from same("page", f"fine {number}", on_page, SHORTER.get(word, word))
        yield from same("paper", f"fine {number}", paper[number][:2], (word, amount))
        if len(row.standings) <= MOST_WITH_ICONS:
            yield from same("paper", f"icon of fine {number}", paper[number][2], icon)
    ended = (word == "paga" or word.endswith("segundo a fonte") for word in row.standings)
    count = len(row.standings) - sum(ended)
    known = [Decimal(r["amount"]) for r in lines if r["open"] == "true" and r["amount"]]
    total = formats.brl(sum(known, Decimal(0))).replace("\u00a0", " ") if known else ""
    yield from same("JSON", "open", fines["totals"]["open"], count)
    yield from same("fines.csv", "open", sum(r["open"] == "true" for r in lines), count)
    yield from same("fines.csv", "sum", total, (row.owed or "").replace("não informado", ""))
    yield from same("batch CSV", "open fines", shown.batch_cells["fines_open"], str(count))
    amount = fines["totals"]["amount"]
    sent = "" if amount is None else str(amount)
    yield from same("batch CSV", "sum", shown.batch_cells["fines_amount"], sent)
    many = "multa" if count == 1 else "multas"
    wanted = str(row.owed) if count else "nenhuma multa"
    for face, html in (("comparison", shown.comparison), ("batch page", shown.batch)):
        yield from has(face, "fines", squeezed(cell_of(html, "Deve")), wanted)
        finding = words(html, '<td class="vehicles__finding"', "</td>")
        yield from has(face, "fines", finding, f"{count} {many}" if count else "")


def order_differences(row: Row, shown: Faces) -> Iterator[str]:
    orders, lines = shown.document["restrictions"], shown.tables["restrictions"]
    lists = [
        (face, words(html, '<td class="vehicles__finding"', "</td>"))
        for face, html in (("comparison", shown.comparison), ("batch page", shown.batch))
    ]
    if orders is None:
        yield from same("table", "orders", row.in_force, None)
        yield from same("batch CSV", "orders", shown.batch_cells["restrictions"], "")
        for face, text in lists:
            yield from has(
                face, "orders", text.partition("sem resposta")[2], "restrições judiciais"
            )
        return
    in_force = [line for line in lines if line["in_force"] == "true"]
    yield from same("JSON", "orders", orders["in_force"], row.in_force)
    yield from same("restrictions.csv", "orders", len(in_force), row.in_force)
    yield from same("batch CSV", "orders", shown.batch_cells["restrictions"], str(row.in_force))
    registered = "ordem" if row.in_force == 1 else "ordens"
    for face, text in lists:
        if row.in_force:
            yield from has(face, "orders", text, f"{row.in_force} {registered}")
        else:
            told = text.partition("resposta")[0]
            named = "judicia" in told or re.search(r"\d orde(m|ns)\b", told) is not None
            yield from same(face, "orders", named, False)
    forbids = row.transfer == "no"
    in_json = any(record["transfer"]["mark"] == "no" for record in orders["records"])
    in_csv = any(line["transfer_mark"] == "no" for line in lines)
    yield from same("JSON", "an order forbids the transfer", in_json, forbids)
    yield from same("restrictions.csv", "an order forbids the transfer", in_csv, forbids)


def price_differences(row: Row, shown: Faces) -> Iterator[str]:
    prices = shown.document["prices"] or []
    yield from same("JSON", "confidence", tuple(p["confidence"] for p in prices), row.confidence)
    entries = {(line["number"], line["confidence"]): None for line in shown.tables["prices"]}
    in_csv = tuple(confidence for _, confidence in entries)
    yield from same("prices.csv", "confidence", in_csv, row.confidence)
    is_priced = row.price.startswith("R$")
    stated = row.price.split(" a ") if is_priced else ["", ""]
    for column, wanted in (("fipe_low", stated[0]), ("fipe_high", stated[-1])):
        sent = shown.batch_cells[column]
        told = formats.brl(Decimal(sent)).replace("\u00a0", " ").removesuffix(",00") if sent else ""
        yield from same("batch CSV", column, told, wanted)
    own = [p["price"] for p in prices if p["confidence"] in ("likeliest", "tied")]
    yield from same("JSON", "a price", any(price is not None for price in own), is_priced)
    in_list = text_in(part(shown.recent, '<span class="lookup-row__note"', "</li>"))
    in_batch = cell_of(shown.batch, "FIPE")
    yield from same("list", "a price", "R$" in in_list, is_priced)
    for face, text in (("list", in_list), ("batch page", in_batch)):
        yield from has(face, "price", text, row.price if is_priced else "")
    if not is_priced:
        yield from same("batch page", "price", "R$" in in_batch, False)
    note = row.price if row.price == "oculto pela fonte" else row.with_price
    yield from same("batch CSV", "fipe_note", shown.batch_cells["fipe_note"], note)
    faces = (
        ("page", numbers(shown.page)["Preço FIPE"]),
        ("paper", figures(shown.paper, "figures")["Preço FIPE"]),
        ("issued", figures(shown.issued, "issued-figures")["Preço FIPE"]),
        ("comparison", cell_of(shown.comparison, "FIPE")),
        ("list", in_list),
        ("batch page", in_batch),
    )
    for face, text in faces:
        yield from has(face, "price", text, row.with_price)
    is_doubted = bool(row.with_price or row.doubt)
    for face, listed in (("JSON", prices), ("prices.csv", shown.tables["prices"])):
        likely = [each for each in listed if each["confidence"] in ("likeliest", "tied")]
        yield from same(face, "a doubt", any(each["doubt"] for each in likely), is_doubted)
    if row.doubt:
        for face, text in (
            ("JSON", squeezed(prices[0]["doubt"])),
            ("prices.csv", squeezed(shown.tables["prices"][0]["doubt"])),
            ("page", squeezed(text_in(shown.page))),
            ("paper", squeezed(text_in(shown.paper))),
            ("negotiation", squeezed(text_in(shown.negotiation))),
        ):
            yield from has(face, "doubt", text, row.doubt)


def ceiling_differences(row: Row, shown: Faces) -> Iterator[str]:
    """Compare what a buyer is told to pay at most."""
    foot = shown.negotiation.partition("<tfoot>")[2]
    ceiling = words(foot, '<td class="number sheet__ceiling', "</td>")
    if row.ceiling.startswith("R$") or row.ceiling == UNKNOWN:
        yield from same("negotiation", "ceiling", ceiling, row.ceiling)
    else:
        yield from same("negotiation", "ceiling", ceiling, "sem teto")
        reason = words(shown.negotiation.partition(">Sem teto</h2>")[2], "<p", "</p>")
        yield from has("negotiation", "reason", reason, row.ceiling)
        yield from has("negotiation", "title", text_in(shown.negotiation), "Sem teto")
        yield from same("negotiation", "suggestion", "Teto sugerido" in shown.negotiation, False)


def text_differences(row: Row, shown: Faces) -> Iterator[str]:
    """Look for the reasons, for further texts, and for texts better than the records."""
    texts = {
        name: squeezed(text_in(getattr(shown, name)))
        for name in ("page", "paper", "comparison", "negotiation", "issued", "recent", "batch")
    }
    reasons = [squeezed(each["sentence"]) for each in shown.document["verdict"]["reasons"]]
    for face in ("page", "paper"):
        for text in (*reasons[:MOST_REASONS], *row.also):
            yield from has(face, "text", texts[face], text)
    for face, text in texts.items():
        for wrong in row.never:
            yield from same(face, "shows", wrong if wrong in text else "", "")


def judgements(row: Row) -> Iterator[object]:
    """Yield what the faces draw of a row, which the law has judged and the phrasebook worded."""
    is_priced, has_ceiling = row.price.startswith("R$"), row.ceiling.startswith("R$")
    orders = (row.in_force and min(row.in_force, 2), row.in_doubt > 0)
    owed = "a sum" if row.owed and row.owed.startswith("R$") else row.owed
    price = ("a price" if is_priced else row.price, row.confidence, row.with_price)
    ceiling = "a ceiling" if has_ceiling else row.ceiling
    yield "whole", row.level, row.finding, row.transfer, orders, owed, price, ceiling
    for word in row.standings:
        yield "standing", word
    for gap in row.gaps.items():
        yield "gap", gap
    for text in (row.doubt, *row.also, *row.never):
        yield "text", text


@pytest.mark.parametrize("row", covering(ROWS, judgements), ids=lambda row: row.case)
def test_every_face_says_what_the_table_says(row: Row) -> None:
    assert "\n".join(differences(row, faces_of(row))) == ""


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.case)
def test_records_are_judged_as_the_table_says(row: Row) -> None:
    """The judgement that all faces draw, of every row, without a face."""
    contents = CONTEXT.dossier(PLATE, answers_of(row))
    document = explained(contents, NOW)
    verdict, fines, orders = (document[name] for name in ("verdict", "fines", "restrictions"))
    assert verdict["level"] == row.level
    assert row.finding in squeezed(verdict["headline"])
    assert next(each["mark"] for each in document["acts"] if each["act"] == "transfer") == (
        row.transfer
    )
    assert (None if orders is None else orders["in_force"]) == row.in_force
    assert (fines is None) == (row.owed is None)
    if fines is not None:
        assert tuple(one["standing_words"] for one in fines["records"]) == row.standings
    assert tuple(one["confidence"] for one in document["prices"] or ()) == row.confidence
    ceiling = negotiation_page(PLATE, answers_of(row), CONTEXT, {}).ceiling
    assert (ceiling is not None) == (row.ceiling.startswith("R$"))


def test_table_has_each_case_once() -> None:
    cases = [row.case for row in ROWS]
    assert len(cases) >= 120
    assert len(set(cases)) == len(cases)
