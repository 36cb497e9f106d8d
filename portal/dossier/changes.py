"""Changes since the previous answers, as sentences with links to the changed records."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from typing import Final, Literal

from portal import formats
from portal.data_files import read_csv
from portal.dossier.answers import Panel, Panels, is_readable
from portal.dossier.attributes import attribute_fields
from portal.dossier.lookups import LOOKUP_WORDS
from portal.dossier.status_style import Tone
from portal.law.assessment import AssessedFine
from portal.law.orders import AssessedOrder
from portal.vehicle.changes import (
    FineChange,
    PriceChange,
    RestrictionChange,
    RestrictionEvent,
    changed_facts,
    changed_fines,
    changed_prices,
    changed_restrictions,
)
from portal.vehicle.decode import ATTRIBUTE_LABELS, read_decode
from portal.vehicle.field import Field
from portal.vehicle.fines import read_fines
from portal.vehicle.judicial import Restriction, read_restrictions
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.wording import counted, listed

# The largest numbers of fines and of court orders that a page lists. A longer list would be hard
# to read.
MOST_FINES: Final = 300
MOST_ORDERS: Final = 200
MOST_LINES: Final = 12


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """A sentence about the change of a record.

    ``anchor`` is the HTML id to link to, or "" if the page does not show the record.
    """

    text: str
    anchor: str
    tone: Tone
    icon: Literal["check", "alert", "question", "refresh"]


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes between two answers to a lookup, fetched at ``before`` and ``after``."""

    what: str
    before: datetime
    after: datetime
    lines: tuple[ChangeLine, ...]
    omitted: int


@dataclass(frozen=True, slots=True)
class _OrderChange:
    """A line of ``order_changes.csv``. The sentence names the order, and as it was before."""

    event: RestrictionEvent
    sentence: str
    tone: Tone
    icon: Literal["check", "alert", "question", "refresh"]


_OF_ORDERS: Final = {
    each.event: each for each in read_csv(__package__, "order_changes.csv", _OrderChange)
}


def changes_of(panels: Panels, today: date, marker: str) -> tuple[Changes, ...]:
    """Return the changes of each lookup whose records have changed."""
    by_lookup = (_changes(lookup, panels.of(lookup), today, marker) for lookup in LOOKUPS)
    return tuple(changes for changes in by_lookup if changes is not None)


def what_changed(before: Panels, after: Panels, today: date, marker: str) -> str:
    """Describe the changes between two sets of answers.

    Returns, for example, ``2 mudanças em multas`` (2 changes in fines) or ``nada mudou`` (nothing
    has changed). Only lookups with a readable answer in both sets are compared. Two answers with
    the same fetch time are skipped, because they are the same answer. Returns "" if no lookup is
    compared.
    """
    counts = {
        LOOKUP_WORDS[lookup]: sum(1 for _ in _LINES[lookup](old.result, new.result, today, marker))
        for lookup in LOOKUPS
        if is_readable((old := before.of(lookup)).result, lookup)
        and is_readable((new := after.of(lookup)).result, lookup)
        and old.fetched_at != new.fetched_at
    }
    if not counts:
        return ""
    changed = [
        f"{counted(count, 'mudança', 'mudanças')} em {what}"
        for what, count in counts.items()
        if count
    ]
    return listed(changed) or "nada mudou"


def _changes(lookup: LookupName, panel: Panel, today: date, marker: str) -> Changes | None:
    replaced = panel.replaced
    if replaced is None or panel.fetched_at is None:
        return None
    if not (is_readable(panel.result, lookup) and is_readable(replaced.result, lookup)):
        return None
    lines = tuple(_LINES[lookup](replaced.result, panel.result, today, marker))
    if not lines:
        return None
    return Changes(
        what=LOOKUP_WORDS[lookup],
        before=replaced.fetched_at,
        after=panel.fetched_at,
        lines=tuple(write() for write in lines[:MOST_LINES]),
        omitted=max(len(lines) - MOST_LINES, 0),
    )


def _vehicle_lines(before: object, after: object, _today: date, marker: str) -> "_Lines":
    old, new = read_decode(before, marker), read_decode(after, marker)
    for price in changed_prices(old, new):
        yield partial(_price_line, price)
    past, present = attribute_fields(old), attribute_fields(new)
    for fact in changed_facts(old, new):
        was, now = past[fact.name], present[fact.name]
        if was != now:  # a new spelling of the same value is no change
            text = f"{ATTRIBUTE_LABELS[fact.name]}: de {_shown(was)} para {_shown(now)}."
            yield partial(ChangeLine, text, "veiculo", "warn", "alert")


def _price_line(change: PriceChange) -> ChangeLine:
    return ChangeLine(_price_text(change), "veiculo", "unknown", "refresh")


def _price_text(change: PriceChange) -> str:
    name = str(change.entry.version or change.entry.model) or "versão sem nome"
    if change.before is None:
        return f"Preço FIPE de {name}: agora há, {formats.price(change.after)}."
    if change.after is None:
        return f"Preço FIPE de {name}: não consta mais; era {formats.price(change.before)}."
    share = ""
    if abs(percent := (change.after / change.before - 1) * 100) < Decimal(10_000):
        share = f" ({formats.change(percent)})"
    is_whole = all(each == each.to_integral_value() for each in (change.before, change.after))
    form = formats.price if is_whole else formats.brl
    was, now = form(change.before), form(change.after)
    return f"Preço FIPE de {name}: de {was} para {now}{share}."


def _shown(field: Field) -> str:
    return f"“{field}”" if field else formats.field_text(field)


def _fine_lines(before: object, after: object, today: date, marker: str) -> "_Lines":
    old, new = read_fines(before, marker), read_fines(after, marker)
    for change in changed_fines(old, new):
        yield partial(_fine_line, change, today)


def _fine_line(change: FineChange, today: date) -> ChangeLine:
    anchor = f"multa-{change.position + 1}" if 0 <= change.position < MOST_FINES else ""
    text, (tone, icon) = _describe_fine(change, today)
    return ChangeLine(text, anchor, tone, icon)


def _describe_fine(change: FineChange, today: date) -> "tuple[str, _Look]":
    """Return a sentence about the change of a fine, and the sentence's style."""
    law = AssessedFine(change.fine, today)
    money = "" if law.amount.value is None else f", {formats.brl(law.amount.value)}"
    when = f" de {formats.short_date(change.fine.committed_on)}" if change.fine.committed_on else ""
    what = law.description or "descrição não informada"
    was = None if change.before is None else AssessedFine(change.before, today)
    events = [_fine_event(event, change, was, law) for event in change.events]
    clauses = [text for text in (*_standing_events(was, law, change), *events) if text]
    text = "; ".join(dict.fromkeys(clauses)) or "dados do registro corrigidos"
    sentence = f"{text[0].upper()}{text[1:]}: multa{when}, {what}{money}."
    look: _Look = _fine_look(change, was, law) if clauses else ("unknown", "refresh")
    return sentence + _caveat(change.events[0]), look


def _standing_events(
    was: AssessedFine | None, law: AssessedFine, change: FineChange
) -> Iterator[str]:
    if was is None or change.after is None or was.standing == law.standing:
        return
    if law.is_paid:
        paid_on = change.after.paid_on
        yield "paga" + (f" em {formats.short_date(paid_on)}" if paid_on else "")
    elif was.is_paid:
        yield "voltou a constar sem pagamento"
    elif "penalty" not in change.events:
        yield f"passou a constar {_standing_clause(law)}"


def _standing_clause(fine: AssessedFine) -> str:
    """Return the payment state as a phrase, such as ``como paga`` ("as paid")."""
    is_plain = fine.status.word == fine.standing.word
    return fine.standing.clause if is_plain else f"como {fine.status.word}"


def _fine_event(event: str, change: FineChange, was: AssessedFine | None, law: AssessedFine) -> str:
    """Return the clause about an event, or "" for an event that needs no clause.

    For example, ``_standing_events`` already describes the event "payment".
    """
    now = change.fine
    match event:
        case "new":
            return "nova"
        case "gone":
            return "deixou de constar"
        case "notified":
            return f"notificação da autuação em {formats.short_date(now.notified_on)}"
        case "penalty":
            return f"penalidade em {formats.short_date(now.penalty_on)}"
        case "kind" if now.kind and was is not None and was.standing == law.standing:
            return f"a fonte agora registra “{now.kind}”"
        case "amount":
            before, value = was.amount.value if was else None, law.amount.value
            if before != value:
                return f"valor mudou de {formats.brl(before)} para {formats.brl(value)}"
    return ""


def _fine_look(change: FineChange, was: AssessedFine | None, law: AssessedFine) -> "_Look":
    if change.events[0] == "gone":
        return "unknown", "question"
    if was is not None and law.is_paid and not was.is_paid:
        return "ok", "check"
    return "warn", "alert"


def _caveat(event: str) -> str:
    if event != "gone":
        return ""
    return " Pode ter sido paga ou cancelada, ou a fonte pode não a ter enviado: confirme."


def _restriction_lines(before: object, after: object, today: date, marker: str) -> "_Lines":
    old = read_restrictions(before, marker)
    new = read_restrictions(after, marker)
    for change in changed_restrictions(old, new):
        yield partial(_restriction_line, change, today)


def _restriction_line(change: RestrictionChange, today: date) -> ChangeLine:
    anchor = f"restricao-{change.position + 1}" if 0 <= change.position < MOST_ORDERS else ""
    label, before = (
        _label(each, today) for each in (change.restriction, change.before or change.restriction)
    )
    of_event = _OF_ORDERS[change.event]
    text = of_event.sentence.format(label=label, before=before)
    return ChangeLine(text, anchor, of_event.tone, of_event.icon)


def _label(record: Restriction, today: date) -> str:
    order = AssessedOrder(record, today)
    when = record.included_at
    details = (order.court, f"incluída em {formats.short_date(when.date())}" if when else "")
    where = ", ".join(detail for detail in details if detail)
    return f"{order.title[0].lower()}{order.title[1:]}" + (f" ({where})" if where else "")


# One function for each change, which describes it. A page calls the first MOST_LINES.
_Lines = Iterator[Callable[[], ChangeLine]]
_Look = tuple[Tone, Literal["check", "alert", "question", "refresh"]]
_LINES: Final = {
    "decode": _vehicle_lines,
    "renainf": _fine_lines,
    "renajud": _restriction_lines,
}
