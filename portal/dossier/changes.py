"""Changes since the previous answers, as sentences with links to the changed records."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from typing import Final, Literal

from portal import formats
from portal.data_files import read_csv
from portal.dossier.answers import Panel, Panels, decoded_of, is_readable
from portal.dossier.attributes import attribute_fields
from portal.dossier.lookups import LOOKUP_WORDS
from portal.dossier.status_style import Tone
from portal.law.assessment import AssessedFine
from portal.law.orders import AssessedOrder
from portal.phrasebook import fines, orders
from portal.phrasebook.findings import included_on
from portal.phrasebook.standings import WORDS
from portal.vehicle.changes import Change, changed_fines, changed_prices, changed_restrictions
from portal.vehicle.decode import ATTRIBUTE_LABELS, Decoded, FipeEntry
from portal.vehicle.field import Field
from portal.vehicle.fines import Fine, read_fines
from portal.vehicle.judicial import Restriction, read_restrictions
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.wording import counted, listed

# The largest numbers of fines and of court orders that a page lists. A longer list would be hard
# to read.
MOST_FINES: Final = 300
MOST_ORDERS: Final = 200
MOST_LINES: Final = 12
_ABSURD: Final = 10_000  # per cent
_GONE: Final = " Pode ter sido paga ou cancelada, ou a fonte pode não a ter enviado: confirme."


_Icon = Literal["check", "alert", "question", "refresh"]


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """A sentence about the change of a record.

    ``anchor`` is the HTML id to link to, or "" if the page does not show the record.
    """

    text: str
    anchor: str
    tone: Tone
    icon: _Icon


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

    event: str
    sentence: str
    tone: Tone
    icon: _Icon


_OF_ORDERS: Final = {
    row.event: row for row in read_csv(__package__, "order_changes.csv", _OrderChange)
}


def changes_of(panels: Panels, today: date, marker: str) -> tuple[Changes, ...]:
    """Return the changes of each lookup whose records have changed."""
    changes = []
    for lookup in LOOKUPS:
        after = panels.of(lookup)
        before = after.replaced
        lines = _changed(lookup, before, after, today, marker) if before else None
        if before and before.fetched_at and after.fetched_at and lines:
            listed = tuple(write() for write in lines[:MOST_LINES])
            omitted = max(len(lines) - MOST_LINES, 0)
            what = LOOKUP_WORDS[lookup]
            changes.append(Changes(what, before.fetched_at, after.fetched_at, listed, omitted))
    return tuple(changes)


def what_changed(before: Panels, after: Panels, today: date, marker: str) -> str:
    """Describe the changes between two sets of answers.

    Returns, for example, ``2 mudanças em multas`` (2 changes in fines) or ``nada mudou`` (nothing
    has changed). Only lookups with a readable answer in both sets are compared. Two answers with
    the same fetch time are skipped, because they are the same answer. Returns "" if no lookup is
    compared.
    """
    counts = {
        LOOKUP_WORDS[lookup]: len(lines)
        for lookup in LOOKUPS
        if (lines := _changed(lookup, before.of(lookup), after.of(lookup), today, marker))
        is not None
    }
    if not counts:
        return ""
    changed = [
        f"{counted(count, 'mudança', 'mudanças')} em {what}"
        for what, count in counts.items()
        if count
    ]
    return listed(changed) or "nada mudou"


def _changed(
    lookup: LookupName, before: Panel, after: Panel, today: date, marker: str
) -> "list[Callable[[], ChangeLine]] | None":
    """Return a function for each change, which describes it, or None without two answers."""
    results = before.result, after.result
    if before.fetched_at == after.fetched_at or not all(is_readable(r, lookup) for r in results):
        return None
    return list(_LINES[lookup](before, after, today, marker))


def _vehicle_lines(before: Panel, after: Panel, _today: date, marker: str) -> "_Lines":
    """Yield the changes of a vehicle's data. What a source could not read has not changed."""
    old, new = decoded_of(before, marker), decoded_of(after, marker)
    for price in changed_prices(old, new):
        if not (_is_unread(price.before, old) or _is_unread(price.after, new)):
            yield partial(_price_line, price)
    past, present = attribute_fields(old), attribute_fields(new)
    for name, label in ATTRIBUTE_LABELS.items():
        was, now = past[name], present[name]
        if was != now and "unread" not in (was.state, now.state):
            text = f"{label}: de {_shown(was)} para {_shown(now)}."
            yield partial(ChangeLine, text, "veiculo", "warn", "alert")


def _is_unread(entry: FipeEntry | None, decoded: Decoded) -> bool:
    """Return whether a price is missing that the source has, or may have."""
    if entry is None:
        return bool(decoded.unread)
    return entry.current is None and (bool(decoded.unread) or entry.has_unread_price)


def _price_line(change: Change[FipeEntry]) -> ChangeLine:
    return ChangeLine(_price_text(change), "veiculo", "unknown", "refresh")


def _price_text(change: Change[FipeEntry]) -> str:
    entry = change.record
    name = f"Preço FIPE de {entry.version or entry.model or 'versão sem nome'}"
    before, after = (panel.current if panel else None for panel in (change.before, change.after))
    if before is None:
        return f"{name}: agora há, {formats.price(after)}."
    if after is None:
        return f"{name}: não consta mais; era {formats.price(before)}."
    percent = (after / before - 1) * 100
    share = f" ({formats.change(percent)})" if abs(percent) < _ABSURD else ""
    is_whole = all(amount == amount.to_integral_value() for amount in (before, after))
    form = formats.price if is_whole else formats.brl
    return f"{name}: de {form(before)} para {form(after)}{share}."


def _shown(field: Field) -> str:
    return f"“{field}”" if field else formats.field_text(field)


def _fine_lines(before: Panel, after: Panel, today: date, marker: str) -> "_Lines":
    old, new = (read_fines(panel.result, marker) for panel in (before, after))
    for change in changed_fines(old, new):
        yield partial(_fine_line, change, today)


def _fine_line(change: Change[Fine], today: date) -> ChangeLine:
    now = AssessedFine(change.record, today)
    was = None if change.before is None else AssessedFine(change.before, today)
    events = (_fine_event(event, was, now) for event in change.events)
    clauses = dict.fromkeys(filter(None, (_standing_event(was, now, change), *events)))
    text = "; ".join(clauses) or "dados do registro corrigidos"
    on, amount = now.record.committed_on, now.amount.value
    when = f" de {formats.short_date(on)}" if on else ""
    money = "" if amount is None else f", {formats.brl(amount)}"
    what = now.description or "descrição não informada"
    sentence = f"{text[0].upper()}{text[1:]}: multa{when}, {what}{money}."
    look: tuple[Tone, _Icon] = ("warn", "alert") if clauses else ("unknown", "refresh")
    if change.after is None:
        sentence += _GONE
        look = "unknown", "question"
    elif was is not None and now.is_paid and not was.is_paid:
        look = "ok", "check"
    return ChangeLine(sentence, _anchor("multa", change.position, MOST_FINES), *look)


def _anchor(kind: str, position: int, listed: int) -> str:
    return f"{kind}-{position + 1}" if 0 <= position < listed else ""


def _standing_event(was: AssessedFine | None, now: AssessedFine, change: Change[Fine]) -> str:
    """Return a clause on the change of a fine's standing, such as ``paga em 01/09/2025``, or ""."""
    if was is None or was.standing is now.standing:
        return ""
    if now.is_paid:
        paid_on = now.record.paid_on
        return "paga" + (f" em {formats.short_date(paid_on)}" if paid_on else "")
    if was.is_paid:
        return "voltou a constar sem pagamento"
    if "penalty" in change.events:
        return ""
    is_own = fines.has_own_word(now.status)
    own = f"como {fines.status_word(now.status)}" if is_own else WORDS[now.standing].clause
    return f"passou a constar {own}"


def _fine_event(event: str, was: AssessedFine | None, now: AssessedFine) -> str:
    """Return the clause about an event, or "" for an event that needs no clause.

    For example, ``_standing_event`` already describes the event "payment".
    """
    record = now.record
    match event:
        case "new":
            return "nova"
        case "gone":
            return "deixou de constar"
        case "notified":
            return f"notificação da autuação em {formats.short_date(record.notified_on)}"
        case "penalty":
            return f"penalidade em {formats.short_date(record.penalty_on)}"
        case "kind" if record.kind and was is not None and was.standing is now.standing:
            return f"a fonte agora registra “{record.kind}”"
        case "amount":
            before, value = was.amount.value if was else None, now.amount.value
            if before != value:
                return f"valor mudou de {formats.brl(before)} para {formats.brl(value)}"
    return ""


def _restriction_lines(before: Panel, after: Panel, today: date, marker: str) -> "_Lines":
    old, new = (read_restrictions(panel.result, marker) for panel in (before, after))
    for change in changed_restrictions(old, new):
        yield partial(_restriction_line, change, today)


def _restriction_line(change: Change[Restriction], today: date) -> ChangeLine:
    (event,) = change.events
    label, before = (
        _label(restriction, today)
        for restriction in (change.record, change.before or change.record)
    )
    of_event = _OF_ORDERS[event]
    text = of_event.sentence.format(label=label, before=before)
    anchor = _anchor("restricao", change.position, MOST_ORDERS)
    return ChangeLine(text, anchor, of_event.tone, of_event.icon)


def _label(record: Restriction, today: date) -> str:
    order = AssessedOrder(record, today)
    where = ", ".join(filter(None, (order.court, included_on(order))))
    name = orders.title(order)
    return f"{name[0].lower()}{name[1:]}" + (f" ({where})" if where else "")


# One function for each change, which describes it. A page calls the first MOST_LINES.
_Lines = Iterator[Callable[[], ChangeLine]]
_LINES: Final = {
    "decode": _vehicle_lines,
    "renainf": _fine_lines,
    "renajud": _restriction_lines,
}
