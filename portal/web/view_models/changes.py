"""What has changed since the answer before: one sentence a change, each leading to its record."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Final, Literal

from portal.law import assess, court_name
from portal.vehicle import (
    Field,
    Fine,
    FineChange,
    PriceChange,
    Restriction,
    RestrictionChange,
    changed_facts,
    changed_fines,
    changed_prices,
    changed_restrictions,
    read_decode,
    read_fines,
    read_restrictions,
)
from portal.web import filters
from portal.web.panels import Panel
from portal.web.view_models.facts import FACT_LABELS, fact_fields
from portal.web.view_models.fines import MOST_ROWS
from portal.web.view_models.panel import LOOKUP_WORDS, Lookup, Panels, Reading, is_readable
from portal.web.view_models.restrictions import MOST_CARDS, title_of
from portal.web.view_models.tones import Tone

# Longer lists are read by nobody; the panels hold every record as it is now.
MOST_LINES: Final = 12


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """One change in a sentence; ``anchor`` is "" where its record is no longer on the page."""

    text: str
    anchor: str
    tone: Tone
    icon: Literal["check", "alert", "question", "refresh"]


@dataclass(frozen=True, slots=True)
class Changes:
    """What one lookup tells otherwise than before, and the moments (aware) of both answers."""

    what: str
    before: datetime
    after: datetime
    lines: tuple[ChangeLine, ...]
    omitted: int


def changes_of(panels: Panels, reading: Reading) -> tuple[Changes, ...]:
    """The changes of each lookup that has some; nothing is said of an answer that cannot be
    read, or that replaced none."""
    told = (_changes(lookup, panels.of(lookup), reading) for lookup in LOOKUP_WORDS)
    return tuple(changes for changes in told if changes is not None)


def _changes(lookup: Lookup, panel: Panel, reading: Reading) -> Changes | None:
    replaced = panel.replaced
    if replaced is None or panel.body is None or panel.fetched_at is None:
        return None
    if not (is_readable(panel, lookup) and is_readable(Panel("stale", replaced.body), lookup)):
        return None
    lines = tuple(_LINES[lookup](replaced.body, panel.body, reading))
    if not lines:
        return None
    return Changes(
        what=LOOKUP_WORDS[lookup],
        before=replaced.fetched_at,
        after=panel.fetched_at,
        lines=lines[:MOST_LINES],
        omitted=max(len(lines) - MOST_LINES, 0),
    )


def _vehicle_lines(before: bytes, after: bytes, reading: Reading) -> Iterator[ChangeLine]:
    old, new = read_decode(before, reading.marker), read_decode(after, reading.marker)
    for price in changed_prices(old, new):
        yield ChangeLine(_price_text(price), "veiculo", "unknown", "refresh")
    past, present = fact_fields(old), fact_fields(new)
    for fact in changed_facts(old, new):
        was, now = past[fact.name], present[fact.name]
        if was != now:  # not merely another spelling of the same
            text = f"{FACT_LABELS[fact.name]}: de {_shown(was)} para {_shown(now)}."
            yield ChangeLine(text, "veiculo", "warn", "alert")


def _price_text(change: PriceChange) -> str:
    name = str(change.entry.version or change.entry.model) or "versão sem nome"
    if change.before is None:
        return f"Preço FIPE de {name}: agora há, {filters.brl(change.after)}."
    if change.after is None:
        return f"Preço FIPE de {name}: não consta mais; era {filters.brl(change.before)}."
    share = ""
    if abs(percent := (change.after / change.before - 1) * 100) < Decimal(10_000):
        share = f" ({filters.change(percent)})"
    was, now = filters.brl(change.before), filters.brl(change.after)
    return f"Preço FIPE de {name}: de {was} para {now}{share}."


def _shown(field: Field) -> str:
    if field:
        return f"“{field}”"
    return "oculto pela fonte" if field.is_hidden else filters.MISSING


def _fine_lines(before: bytes, after: bytes, reading: Reading) -> Iterator[ChangeLine]:
    old, new = read_fines(before, reading.marker), read_fines(after, reading.marker)
    for change in changed_fines(old, new):
        anchor = f"multa-{change.position + 1}" if 0 <= change.position < MOST_ROWS else ""
        tone, icon = _FINE_LOOKS.get(change.events[0], ("warn", "alert"))
        yield ChangeLine(_fine_text(change, reading.today), anchor, tone, icon)


def _fine_text(change: FineChange, today: date) -> str:
    law = assess(change.fine, today)
    money = "" if law.amount.value is None else f", {filters.brl(law.amount.value)}"
    when = f" de {filters.short_date(law.committed_on)}" if law.committed_on else ""
    what = law.description or "descrição não informada"
    happened = [_fine_event(event, change, today) for event in change.events]
    said = "; ".join(dict.fromkeys(happened))
    return f"{said[0].upper()}{said[1:]}: multa{when}, {what}{money}.{_caveat(change.events[0])}"


def _fine_event(event: str, change: FineChange, today: date) -> str:
    now = change.fine
    match event:
        case "new":
            return "nova"
        case "gone":
            return "deixou de constar"
        case "paid":
            return "paga" + (f" em {filters.short_date(now.paid_on)}" if now.paid_on else "")
        case "unpaid":
            return "voltou a constar sem pagamento"
        case "notified":
            return f"notificação da autuação em {filters.short_date(now.notified_on)}"
        case "penalty":
            return f"penalidade em {filters.short_date(now.penalty_on)}"
        case "amount":
            was, value = _value(change.before, today), _value(change.after, today)
            if was != value:
                return f"valor mudou de {filters.brl(was)} para {filters.brl(value)}"
    return "dados do registro corrigidos"


def _value(fine: Fine | None, today: date) -> Decimal | None:
    return None if fine is None else assess(fine, today).amount.value


def _caveat(event: str) -> str:
    if event != "gone":
        return ""
    return " Pode ter sido paga ou cancelada, ou a fonte pode não a ter enviado: confirme."


def _restriction_lines(before: bytes, after: bytes, reading: Reading) -> Iterator[ChangeLine]:
    old = read_restrictions(before, reading.marker)
    new = read_restrictions(after, reading.marker)
    for change in changed_restrictions(old, new):
        anchor = f"restricao-{change.position + 1}" if 0 <= change.position < MOST_CARDS else ""
        tone, icon = _RESTRICTION_LOOKS.get(change.event, ("warn", "alert"))
        yield ChangeLine(_restriction_text(change), anchor, tone, icon)


def _restriction_text(change: RestrictionChange) -> str:
    named = _named(change.restriction)
    match change.event:
        case "new":
            return f"Nova: {named}."
        case "gone":
            return (
                f"Deixou de constar: {named}. Pode ter sido retirada, ou a fonte pode não a ter "
                "enviado: confirme com o juízo."
            )
        case "lifted":
            before = change.before or change.restriction
            return f"A fonte diz que já não restringe: {_named(before)}."
        case "in force":
            return f"Voltou a vigorar: {named}."
        case "kind":
            before = change.before or change.restriction
            return f"Mudou o tipo: antes {_named(before)}; agora {named}."
        case "altered":
            return f"Dados do registro corrigidos: {named}."


def _named(record: Restriction) -> str:
    title = title_of(record)
    details: Sequence[str] = (
        court_name(str(record.court), str(record.case)),
        f"incluída em {filters.short_date(record.included_at.date())}"
        if record.included_at
        else "",
    )
    where = ", ".join(detail for detail in details if detail)
    return f"{title[0].lower()}{title[1:]}" + (f" ({where})" if where else "")


_Look = tuple[Tone, Literal["check", "alert", "question", "refresh"]]
_FINE_LOOKS: Final[Mapping[str, _Look]] = {
    "paid": ("ok", "check"),
    "gone": ("unknown", "question"),
    "altered": ("unknown", "refresh"),
}
_RESTRICTION_LOOKS: Final[Mapping[str, _Look]] = {
    "new": ("danger", "alert"),
    "in force": ("danger", "alert"),
    "lifted": ("ok", "check"),
    "gone": ("unknown", "question"),
    "altered": ("unknown", "refresh"),
}
_LINES: Final = {
    "decode": _vehicle_lines,
    "renainf": _fine_lines,
    "renajud": _restriction_lines,
}
