"""A vehicle as text for a terminal, in the portal's own words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from dossie_veicular_client.answers import (
    DeclaredLine,
    DeclaredLines,
    Explained,
    ExplainedFine,
    ExplainedLookup,
    ExplainedPrice,
    IssuedDossier,
    LookupName,
    Mark,
    Moment,
    Report,
    SeenRow,
    Verification,
)
from dossie_veicular_client.money import reais
from dossie_veicular_client.spending import Quote

LOOKUP_WORDS: Final[dict[LookupName, str]] = {
    "decode": "dados do veículo",
    "renainf": "multas",
    "renajud": "restrições judiciais",
}
_ACTS: Final = {
    "transfer": "Transferir",
    "licence": "Licenciar",
    "drive": "Circular",
    "removal": "Recolhimento",
}
_MARKS: Final[dict[Mark, str]] = {"no": "✗", "careful": "!", "yes": "✓", "unknown": "?"}
_STATES: Final = {"valid": "válido", "expired": "vencido", "revoked": "revogado"}


def vehicle_text(document: Explained) -> str:
    verdict, vehicle = document["verdict"], document["vehicle"]
    lines = [document["plate"]]
    if vehicle and vehicle["name"]:
        lines.append(f"{vehicle['name']} · {vehicle['summary'] or ''}".rstrip(" ·"))
    lines += ["", verdict["headline"], *(f"  {line}" for line in verdict["notices"])]
    lines += [f"  {_MARKS[reason['mark']]} {reason['sentence']}" for reason in verdict["reasons"]]
    lines += [
        "",
        *(
            f"{_MARKS[act['mark']]} {_ACTS[act['act']]}: {act['answer']}"
            for act in document["acts"]
        ),
    ]
    parts: Sequence[LookupName] = ("decode", "renainf", "renajud")
    unverified = ", ".join(line["title"] for line in document["not_verified"])
    lines += ["", *_parts(document, parts), f"Não verificado: {unverified}.", ""]
    return "\n".join([*lines, *lookup_lines(document)])


def part_text(document: Explained, name: LookupName) -> str:
    return "\n".join(_parts(document, [name])).strip()


def _parts(document: Explained, names: Sequence[LookupName]) -> Iterator[str]:
    for name in names:
        lines = list(_PARTS[name](document))
        if lines:
            yield from (*lines, "")
        elif document["lookups"][name]["state"] != "unasked":
            reason = document["lookups"][name]["reason"] or "sem resposta legível"
            yield from (f"Sem {LOOKUP_WORDS[name]}: {reason}", "")


def _vehicle_lines(document: Explained) -> Iterator[str]:
    vehicle = document["vehicle"]
    if vehicle:
        for attribute in vehicle["attributes"]:
            value = "oculto" if attribute["hidden"] else attribute["value"] or "—"
            yield f"{attribute['label']}: {value}"
    for price in document["prices"] or ():
        yield _price_line(price)


def _price_line(price: ExplainedPrice) -> str:
    name = " ".join(filter(None, [price["description"], price["version"]]))
    change = price["change_12_months"]
    trend = "" if change is None else f", {change:+.1f} % em 12 meses".replace(".", ",")
    doubt = f". {price['doubt']}" if price["doubt"] else ""
    return f"FIPE {price['code'] or ''} {name}: {reais(price['price'])}{trend}{doubt}"


def _fine_lines(document: Explained) -> Iterator[str]:
    fines = document["fines"]
    if fines is None:
        return
    totals = fines["totals"]
    unknown = totals["without_amount"]
    beside = f", e {unknown} sem valor conhecido" if unknown else ""
    yield (
        f"Multas em aberto: {totals['open']}, {reais(totals['amount'])}{beside} "
        f"({reais(totals['enforceable_amount'])} já exigível). Pagas: {totals['paid']}."
    )
    yield from map(fine_line, fines["records"])
    if fines["whom_to_ask"]:
        yield fines["whom_to_ask"]


def fine_line(fine: ExplainedFine) -> str:
    day = _day(fine["committed_on"]) if fine["committed_on"] else "data desconhecida"
    what = fine["description"] or fine["code"] or "infração não informada"
    return (
        f"  {fine['number']}. {day} · {reais(fine['amount'])} · {fine['standing_words']} · {what}"
    )


def _order_lines(document: Explained) -> Iterator[str]:
    orders = document["restrictions"]
    if orders is None:
        return
    yield f"Restrições judiciais em vigor: {orders['in_force']}"
    for order in orders["records"]:
        court = f" · {order['court']}" if order["court"] else ""
        doubt = f" · {order['doubt']}" if order["doubt"] else ""
        yield f"  {order['number']}. {order['title']}{court}{doubt}"


_PARTS: Final = {"decode": _vehicle_lines, "renainf": _fine_lines, "renajud": _order_lines}


def lookup_lines(document: Explained) -> Iterator[str]:
    for name, lookup in document["lookups"].items():
        if lookup["state"] != "unasked":
            yield f"{LOOKUP_WORDS[name]}: {_lookup_words(lookup)}"


def _lookup_words(lookup: ExplainedLookup) -> str:
    if lookup["state"] == "unavailable":
        return f"indisponível ({lookup['reason'] or lookup['cause']})"
    age = _age(lookup["age_s"] or 0)
    return f"resposta de {age} atrás" + (", vencida" if lookup["state"] == "stale" else "")


def quote_text(priced: Quote) -> str:
    """Say what is stored and what the rest would cost."""
    lookups = priced.document["lookups"]
    stored = [
        f"{LOOKUP_WORDS[name]} (há {_age(lookups[name]['age_s'] or 0)})" for name in priced.stored
    ]
    parts = [f"Guardado: {', '.join(stored) or 'nada'}."]
    if priced.missing:
        missing = ", ".join(LOOKUP_WORDS[name] for name in priced.missing)
        price = "preço não informado" if priced.price is None else reais(priced.price)
        parts.append(f"Falta: {missing}, {price}.")
    return " ".join(parts)


def report_text(report: Report) -> str:
    """Return the texts of a report, whose members are what the source has sent."""
    members: Mapping[str, object] = report if isinstance(report, Mapping) else {}
    topics = members.get("topicos")
    named = topics.items() if isinstance(topics, Mapping) else ()
    texts = [f"{name}: {text}" for name, text in named if text]
    whole = [members.get("resumo"), *texts, members.get("laudoFinal")]
    return "\n\n".join(str(part) for part in whole if part)


_RESULTS: Final = {
    "unknown": "o portal não emitiu este arquivo",
    "foreign": "assinado por outra pessoa, e não por este portal",
    "altered": "não é o arquivo que foi emitido",
    "revoked": "é o arquivo emitido, mas foi revogado",
    "ended": "é o arquivo emitido, mas venceu",
    "superseded": "é o arquivo emitido, mas há um mais novo",
    "same": "é o arquivo emitido, sem mudança, e vale",
}
_SIGNATURES: Final = {
    "valid": "íntegra",
    "broken": "quebrada",
    "none": "o arquivo não tem",
}


def verification_text(verification: Verification) -> str:
    lines = [f"{verification['number'] or 'Arquivo'}: {_RESULTS[verification['result']]}"]
    if verification["superseded_by"]:
        lines.append(f"Mais novo: {verification['superseded_by']}")
    signature = verification["signature"]
    if signature is None:
        lines.append("Assinatura: não pôde ser conferida")
    else:
        signer = f", {signature['signer']}" if signature["signer"] else ""
        stamp = f", carimbo de {signature['timestamp']}" if signature["timestamp"] else ""
        lines.append(f"Assinatura: {_SIGNATURES[signature['state']]}{signer}{stamp}")
    for difference in verification["differences"]:
        where = f"página {difference['page']}: " if difference["page"] else ""
        lines.append(f"  {where}{difference['what']}")
    return "\n".join(lines)


def moment_text(moment: Moment) -> str:
    lines = [f"Dossiê {moment['number']} emitido"]
    if moment["supersedes"]:
        lines[0] += f", no lugar do {moment['supersedes']}"
    changes = moment["changes"] or []
    if changes:
        lines.append("Mudou:")
        lines += [f"  {change['what']}" for change in changes]
    elif moment["nothing_changed"]:
        lines.append("Nada mudou.")
    else:
        lines.append("Não havia resposta anterior para comparar.")
    spent = moment["spent"]
    lines.append("Gasto: não informado." if spent is None else f"Gasto: {reais(spent)}.")
    signature = moment["signature"]
    if signature and signature["state"] == "valid":
        stamp = f"carimbo de {signature['timestamp']}" if signature["timestamp"] else "sem carimbo"
        lines.append(f"PDF assinado por {signature['signer']}, {stamp}.")
    else:
        lines.append("PDF sem assinatura.")
    return "\n".join(lines)


def declared_text(declared: DeclaredLines) -> str:
    """Return a line of text for each line of the checklist. An open one never reads as regular."""
    lines = [_declared_line(one) for one in declared["lines"]]
    if not declared["readable"]:
        lines.append("O que foi declarado não pôde ser lido agora.")
    lines += [_seen_line(one) for one in declared["seen"]]
    return "\n".join([*lines, f"Não verificadas: {declared['open']} de {len(declared['lines'])}."])


def _declared_line(one: DeclaredLine) -> str:
    if one["by"] is None:
        warned = "; a análise escrita aponta algo" if one["warned_by_report"] else ""
        return f"{one['line']}: não verificado{warned}"
    words = "nada consta" if one["state"] == "nothing" else "consta"
    amount = "" if one["amount"] is None else f", {reais(one['amount'])}"
    what = f" ({one['what']})" if one["what"] else ""
    day = _day(one["on"]) if one["on"] else "dia não informado"
    by = "registro" if one["by"] == "record" else f"declarado por {one['who']}"
    source = f", {one['source']}" if one["source"] else ""
    later = "; antes se declarou outra coisa" if one["contradicted"] else ""
    return f"{one['line']}: {words}{amount}{what} · {by} de {day}{source}{later}"


def _seen_line(one: SeenRow) -> str:
    words = "confere" if one["state"] == "match" else "difere do registro"
    what = f" ({one['what']})" if one["what"] else ""
    return f"{one['row']}: {words}{what} · visto no carro por {one['who']} em {_day(one['on'])}"


def issued_text(dossier: IssuedDossier) -> str:
    lines = [
        f"Dossiê {dossier['number']}: {_STATES[dossier['state']]}",
        f"Placa: {dossier['plate'] or 'apagada'}",
        f"Emitido em {dossier['issued_at']}; termina em {dossier['ended_at']}",
    ]
    if dossier["issuer"]:
        lines.append(f"Emitido por {dossier['issuer']}")
    return "\n".join(lines)


def _day(text: str) -> str:
    return "/".join(reversed(text.split("-")))


def _age(seconds: int) -> str:
    for size, word in ((86400, "dia"), (3600, "h"), (60, "min")):
        if seconds >= size:
            count = seconds // size
            return f"{count} {word}{'s' if word == 'dia' and count > 1 else ''}"
    return f"{seconds} s"
