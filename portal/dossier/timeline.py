"""The timeline: the dated events of a vehicle's records, newest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from portal.law.assessment import AssessedFine
from portal.law.orders import AssessedOrder

MOST_EVENTS = 60


@dataclass(frozen=True, slots=True)
class Event:
    day: date
    what: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """The newest events. ``omitted`` is the number of older events."""

    events: tuple[Event, ...]
    omitted: int

    @property
    def count(self) -> int:
        return len(self.events) + self.omitted


def timeline(fines: Sequence[AssessedFine], orders: Sequence[AssessedOrder]) -> Timeline:
    """Return the dated events of the fines and orders that the panels list."""
    events: list[Event] = []
    for fine in fines:
        record = fine.record
        steps = (
            (record.committed_on, f"Infração: {fine.description or 'descrição não informada'}"),
            (record.notified_on, f"Notificação da autuação da multa {fine.number}"),
            (record.penalty_on, f"Penalidade da multa {fine.number}"),
            (record.paid_on if fine.is_paid else None, f"Pagamento da multa {fine.number}"),
        )
        events += [Event(day, text, fine.anchor) for day, text in steps if day is not None]
    for order in orders:
        if order.record.included_at is not None:
            where = f" ({order.court})" if order.court else ""
            day = order.record.included_at.date()
            events.append(Event(day, f"{order.title}{where}", order.anchor))
    events.sort(key=lambda event: event.day, reverse=True)
    return Timeline(tuple(events[:MOST_EVENTS]), max(len(events) - MOST_EVENTS, 0))
