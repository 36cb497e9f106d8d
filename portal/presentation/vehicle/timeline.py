"""The timeline: the dated events of a vehicle's records, newest first."""

from dataclasses import dataclass
from datetime import date

from portal.presentation.vehicle.fines import FineList
from portal.presentation.vehicle.restrictions import RestrictionList

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


def timeline(fines: FineList | None, restrictions: RestrictionList | None) -> Timeline:
    """Return the dated events of the fines and restrictions that the panels list."""
    events: list[Event] = []
    for row in fines.rows if fines else ():
        fine = row.fine
        what = row.law.description or "descrição não informada"
        steps = (
            (fine.committed_on, f"Infração: {what}"),
            (fine.notified_on, f"Notificação da autuação da multa {row.number}"),
            (fine.penalty_on, f"Penalidade da multa {row.number}"),
            (fine.paid_on if row.law.is_paid else None, f"Pagamento da multa {row.number}"),
        )
        events += [Event(day, text, row.anchor) for day, text in steps if day is not None]
    for card in restrictions.cards if restrictions else ():
        if card.record.included_at is not None:
            where = f" ({card.court})" if card.court else ""
            events.append(
                Event(card.record.included_at.date(), f"{card.title}{where}", card.anchor)
            )
    events.sort(key=lambda event: event.day, reverse=True)
    return Timeline(tuple(events[:MOST_EVENTS]), max(len(events) - MOST_EVENTS, 0))
