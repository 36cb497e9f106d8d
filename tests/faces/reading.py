"""Reads from each face the facts that other faces show as well.

A fact that a face does not show is absent, so that the faces are compared only where they overlap.
A count, a sum or a price that a face shows as unavailable is None. The words of a fact are compared
without the punctuation that joins them.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.faces.plain_text import Node

Facts = dict[str, Any]

LEVEL_ICONS = {
    "clear": "check",
    "caution": "alert",
    "blocked": "cross",
    "incomplete": "question",
    "limited": "question",
}
_MONEY = re.compile(r"R\$\s?([\d.]+(?:,\d\d)?)")
_FINES = re.compile(r"([\d.]+) (?:multas?|autuaç(?:ão|ões))")
_UNKNOWN = re.compile(r"indispon|não consultad|não pedid|Sem resposta", re.I)


def read(face: str, value: Any) -> Facts:
    """Return the facts of a face: of the tree of an HTML face, or of the decoded value."""
    reader = _READERS.get(face)
    found = {} if reader is None or value is None else reader(value)
    if found.get("headline") in NO_VERDICT:
        del found["headline"], found["icon"]
    return found


def narrowed(facts: Facts) -> Facts:
    """Rename the facts of a verdict on some lookups only, which differs from that on all."""
    return {f"asked {name}" if name in _VERDICT else name: fact for name, fact in facts.items()}


_VERDICT = {"icon", "level", "headline", "short"}
# What a page says in place of a verdict, while nothing is known or not all was asked.
NO_VERDICT = {
    "ainda não consultado",
    "consultando",
    "a fonte de dados não respondeu",
    "a fonte não conhece esta placa",
    "a fonte não aceitou esta placa",
}


# Words


def words(text: str) -> str:
    """Return a sentence without punctuation and case."""
    return " ".join(re.sub(r"[.;:,]", " ", text).lower().split())


def _sum(text: str) -> str | None:
    """Return the first amount in a text, with cents, or None."""
    found = _MONEY.search(text)
    if not found:
        return None
    return found[1] if "," in found[1] else f"{found[1]},00"


def _brl(value: float | str | None) -> str | None:
    if value in (None, ""):
        return None
    return f"{float(value):,.2f}".translate(str.maketrans(",.", ".,"))


def _prices(text: str) -> list[str] | None:
    return [found.partition(",")[0] for found in _MONEY.findall(text)] or None


# HTML


def _verdict(place: Node | None) -> Facts:
    """The icon and the words of a verdict; the name of the icon's level is not shown."""
    if place is None:
        return {}
    hidden = place.first("span", class_="visually-hidden")
    text = place.text.removeprefix(hidden.text if hidden else "")
    return {"icon": next(iter(place.icons), ""), "headline": words(text)}


def _figures(place: Node) -> Facts:
    """The key figures of a list of labels and values."""
    facts: Facts = {}
    for label, value in _labelled(place):
        facts |= _figure(label, value)
    return facts


def _labelled(place: Node) -> Iterator[tuple[str, str]]:
    for group in place.all("div"):
        label, value = group.first("dt"), group.first("dd")
        if label and value:
            yield label.text, value.text


def _figure(label: str, text: str) -> Facts:
    is_known = not _UNKNOWN.search(text)
    # What a late payment may leave unpaid is no open fine.
    text = text.partition("pode faltar")[0]
    match label:
        case "Multas em aberto":
            counted = text.partition(" sem valor")[0].rpartition(", ")[0] or text
            counted = counted if " sem valor" in text else text
            count = sum(int(each.replace(".", "")) for each in _FINES.findall(counted))
            return {"open": count if is_known else None, "amount": _sum(text)}
        case "Deve" | "Multas":
            return {"amount": _sum(text.partition("já exigível")[0])}
        case "Transfere?" | "Restrições judiciais":
            numbers = re.findall(r"(\d+) (?:em vigor|de situação incerta|registradas?)", text)
            is_one = bool(re.search(r"\bordem \(", text))  # the only one, with its court
            return {"orders": sum(map(int, numbers)) + is_one if is_known else None}
        case "Vale" | "Preço FIPE":
            text = re.split(r"\(|perdeu|subiu", text)[0]  # what it lost a month is no price
            return {"price": _prices(text) if is_known else None}
    return {}


def _of_page(tree: Node) -> Facts:
    facts = _verdict(tree.first(id="resumo-titulo"))
    for place in tree.all("dl", class_="hero__numbers"):
        facts |= _figures(place)
    return facts | _of_fines_panel(tree) | _of_vehicle_panel(tree)


def _of_vehicle_panel(tree: Node) -> Facts:
    found: Facts = {}
    for row in tree.all("tr", class_="price-version"):
        badge = _cell(row, "price-version__match").first("b")
        number = next(
            name.rpartition("--")[2] for name in row.attributes["class"].split() if "--" in name
        )
        price = _sum(_cell(row, "price-version__price").text)
        found[number] = _candidate(price, badge.text if badge else "")
    return {"candidates": found} if found else {}


_BADGES = {"empate": "tied", "mais provável": "likeliest"}


def _candidate(price: str | None, badge: str) -> Facts:
    """A price of the table; without a badge it is the only one, or merely possible."""
    return {"price": price, **({"confidence": _BADGES[badge]} if badge else {})}


def _of_fines_panel(tree: Node) -> Facts:
    facts: Facts = {}
    for place in tree.all("dl", class_="ledger-tiles"):
        for label, value in _labelled(place):
            facts |= _tile(label, value)
    rows = {
        int(row.attributes["id"].removeprefix("multa-")): row
        for row in tree.all("tr", class_="fine")
    }
    if rows:
        facts["fines"] = {
            number: {
                "word": _cell(row, "ledger__state").text,
                "icon": _cell(row, "ledger__state").icons[0],
                "tone": _tone(_cell(row, "ledger__state")),
                "amount": _sum(_cell(row, "ledger__amount").text),
            }
            for number, row in rows.items()
        }
    return facts


def _cell(row: Node, name: str) -> Node:
    found = row.first(class_=name)
    assert found, f"no {name}"
    return found


def _tone(node: Node) -> str:
    names = " ".join(each.attributes.get("class", "") for each in node.walk()).split()
    return next((name for name in names if name.startswith("tone-")), "")


def _tile(label: str, text: str) -> Facts:
    text = re.sub(r"[^;]*, à parte: R\$\s[\d.,]+", "", text)  # what is called off
    match label:
        case "Em aberto, valor cheio":
            return {
                "open": sum(int(n.replace(".", "")) for n in _FINES.findall(_counted(text))),
                "amount": _sum(text),
            }
        case "Em regra já exigíveis":
            counted = _FINES.findall(text.partition("talvez")[0])
            uncertain = "situação incerta" in text.partition("talvez")[0]
            count = 0 if uncertain else sum(int(each.replace(".", "")) for each in counted)
            return {"enforceable": count, "enforceable_amount": _sum(text)}
        case "Pagas":
            found = re.match(r"[\d.]+", text)
            return {"paid": int(found[0]) if found else 0}
    return {}


def _counted(text: str) -> str:
    """A text without what it says of the fines that have no amount."""
    return re.sub(r"[\d.]+( multas?)? sem valor.*", "", text)


def _of_paper(tree: Node) -> Facts:
    facts = _verdict(tree.first(class_="verdict__sentence"))
    for place in tree.all("dl", class_="figures"):
        facts |= _figures(place)
    for place in tree.all("dl", class_="money"):
        for label, value in _labelled(place):
            facts |= _tile(label, value)
    for table in tree.all("table", class_="versions"):
        rows = [row for row in table.all("tr") if len(row.children) > 1 and row.first("b")]
        rows = [row for row in rows if "versions__facts" not in row.attributes.get("class", "")]
        facts["candidates"] = {
            str(number): _candidate(
                _sum(row.all("td")[-1].text),
                row.all("td")[0].text.rpartition(", ")[2]
                if row.all("td")[0].text.endswith(tuple(_BADGES))
                else "",
            )
            for number, row in enumerate(rows, 1)
        }
    fines: dict[int, Facts] = {}
    for row in tree.all("tr", class_="fine__head"):
        number = int(re.match(r"\d+", row.text)[0])  # type: ignore[index]
        word = _cell(row, "fine__word")
        fines[number] = {
            "word": word.text.partition("\n")[0],
            "amount": _sum(_cell(row, "number").text.partition("\n")[0]),
        }
        if word.icons:
            fines[number] |= {"icon": word.icons[0], "tone": _tone(word)}
    if fines:
        facts["fines"] = fines
    timeline = tree.first("svg", class_="paper-timeline")
    if timeline:
        texts = [each.text for each in timeline.all("text")]
        counted = [int(n.replace(".", "")) for text in texts for n in _FINES.findall(text)]
        if counted:  # a timeline of few fines names each of them
            facts["on timeline"] = sum(counted)
    return facts


def _of_issued(tree: Node) -> Facts:
    facts = _verdict(tree.first(id="resumo-titulo"))
    if "headline" in facts:
        facts["headline"] = facts["headline"].strip("“”")
    for place in tree.all("dl", class_="issued-figures"):
        facts |= _figures(place)
    return facts


def _of_negotiation(tree: Node) -> Facts:
    facts = _verdict(tree.first(class_="verdict__sentence"))
    fines: dict[int, Facts] = {}
    for label in tree.all("label"):
        box = label.first("input", type="checkbox", name="multas")
        if box:
            fines[int(box.attributes["value"])] = {"amount": _sum(label.text)}
    if fines:
        facts["fines"] = fines
    return facts


def _of_row(row: Node) -> Facts:
    """A vehicle in a list, whose words are shorter than the headline."""
    verdict = row.first(class_="lookup-row__verdict")
    if verdict is None:
        return {}
    facts: Facts = {"icon": next(iter(verdict.icons), ""), "short": words(verdict.text)}
    note = row.first(class_="lookup-row__note")
    if note and "FIPE" in note.text:
        facts["price"] = _prices(note.text)
    return facts


def _of_list(row: Node) -> Facts:
    """A vehicle in the list of a batch, the history or a comparison."""
    finding = row.first(class_="vehicles__finding")
    words_of_verdict = finding.first("b") if finding else None
    if finding is None or words_of_verdict is None or words_of_verdict.text == "Consultando…":
        return {}
    short = words(words_of_verdict.text)
    facts: Facts = {"icon": next(iter(finding.icons), ""), "short": short}
    if found := re.search(r"([\d.]+) orde(?:m|ns)\b", finding.text):
        facts["orders"] = int(found[1].replace(".", ""))
    debt, price = _cell(row, "vehicles__debt").text, _cell(row, "vehicles__price").text
    if debt == "nenhuma multa":
        facts["open"] = 0
    elif not _UNKNOWN.search(debt) and debt != "sem resposta":
        facts |= {"open": int(_FINES.findall(finding.text)[0].replace(".", ""))}
        facts["amount"] = _sum(debt)
    if "R$" in price:
        facts["price"] = _prices(price)
    return facts


# Data


def _of_json(document: Mapping[str, Any]) -> Facts:
    verdict = document["verdict"]
    facts: Facts = {
        "icon": LEVEL_ICONS[verdict["level"]],
        "level": verdict["level"],
        "headline": words(verdict["headline"]),
        "open": None,
        "orders": None,
        "price": None,
    }
    if fines := document["fines"]:
        totals = fines["totals"]
        facts |= {
            "open": totals["open"],
            "amount": _brl(totals["amount"]) if totals["amount"] else None,
            "enforceable": totals["enforceable"],
            "enforceable_amount": _brl(totals["enforceable_amount"] or None),
            "fines": {each["number"]: _of_fine(each) for each in fines["records"]},
            "on timeline": len(fines["records"]),
        }
        if totals["paid"]:
            facts["paid"] = totals["paid"]
    if document["restrictions"]:
        facts["orders"] = document["restrictions"]["in_force"]
    if document["prices"] is not None:
        facts |= _of_prices_table(document["prices"])
        del facts["price"]
    return facts


def _of_fine(record: Mapping[str, Any]) -> Facts:
    amount = record["amount"]
    if isinstance(amount, str):
        amount = amount.replace(".", "").replace(",", ".")
    return {"word": record["standing_words"], "amount": _brl(amount)}


def _of_fines_table(rows: list[Mapping[str, Any]]) -> Facts:
    return {"fines": {int(row["number"]): _of_fine(row) for row in rows}}


def _of_prices_table(rows: list[Mapping[str, Any]]) -> Facts:
    def amount(row: Mapping[str, Any]) -> str | None:
        price = row["price"]
        return _brl(price.replace(",", ".") if isinstance(price, str) else price)

    return {
        "candidates": {
            str(row["number"]): {"price": amount(row), "confidence": row["confidence"]}
            for row in rows
        }
    }


def _of_batch(row: Mapping[str, Any]) -> Facts:
    def number(name: str) -> int | None:
        return None if row[name] in (None, "", "None") else int(float(row[name]))

    def money(name: str) -> str | None:
        value = row[name]
        if value in (None, "", "None"):
            return None
        return _brl(str(value).replace(",", ".")) if float(str(value).replace(",", ".")) else None

    low, high = money("fipe_low"), money("fipe_high")
    price = [each.partition(",")[0] for each in dict.fromkeys((low, high)) if each] or None
    facts: Facts = {
        "level": row["verdict"],
        "icon": LEVEL_ICONS[row["verdict"]],
        "headline": words(row["headline"]),
        "open": number("fines_open"),
        "enforceable": number("fines_enforceable"),
        "amount": money("fines_amount"),
        "orders": number("restrictions"),
        "price": price,
    }
    return facts


_READERS: Mapping[str, Callable[[Any], Facts]] = {
    "page": _of_page,
    "panel resumo": _of_page,
    "panel multas": _of_fines_panel,
    "panel veiculo": _of_vehicle_panel,
    "paper": _of_paper,
    "issued paper": _of_paper,
    "issued": _of_issued,
    "negotiation": _of_negotiation,
    "comparison": _of_list,
    "recent": _of_row,
    "history": _of_list,
    "batch page": _of_list,
    "batch csv": _of_batch,
    "batch jsonl": _of_batch,
    "batch xlsx": _of_batch,
    "json": _of_json,
    "csv fines": _of_fines_table,
    "jsonl fines": _of_fines_table,
    "csv prices": _of_prices_table,
    "jsonl prices": _of_prices_table,
}
