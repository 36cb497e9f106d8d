"""The timeline in print: one line per day, which names fines by their numbers.

The screen links each event to its record. Print shows fine numbers instead, so that one event of
many fines on one day takes one line.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from portal.presentation.vehicle.fines import FineList, FineRow
from portal.presentation.vehicle.restrictions import RestrictionList
from portal.wording import listed

MOST_DAYS: Final = 60
# The wording of an event for one fine and for several.
_KINDS: Final = (
    ("Infração da multa", "Infrações das multas"),
    ("Notificação da autuação da multa", "Notificação da autuação das multas"),
    ("Penalidade da multa", "Penalidade das multas"),
    ("Pagamento da multa", "Pagamento das multas"),
)


@dataclass(frozen=True, slots=True)
class PaperDay:
    """The events of one day, as one sentence without its full stop."""

    day: date
    what: str


@dataclass(frozen=True, slots=True)
class PaperTimeline:
    """Days, newest first; ``omitted`` counts the older days that are left out."""

    days: tuple[PaperDay, ...]
    omitted: int


def paper_timeline(fines: FineList | None, restrictions: RestrictionList | None) -> PaperTimeline:
    """The dated events; an unavailable lookup contributes none."""
    events: dict[date, list[str]] = {}
    for card in restrictions.cards if restrictions else ():
        if card.record.included_at is not None:
            where = f" ({card.court})" if card.court else ""
            events.setdefault(card.record.included_at.date(), []).append(f"{card.title}{where}")
    for day, what in _fine_events(fines.rows if fines else ()):
        events.setdefault(day, []).append(what)
    days = [PaperDay(day, "; ".join(events[day])) for day in sorted(events, reverse=True)]
    return PaperTimeline(tuple(days[:MOST_DAYS]), max(len(days) - MOST_DAYS, 0))


def _fine_events(rows: Sequence[FineRow]) -> Iterator[tuple[date, str]]:
    for index, (singular, plural) in enumerate(_KINDS):
        by_day: dict[date, list[FineRow]] = {}
        for row in rows:
            day = _days(row)[index]
            if day is not None:
                by_day.setdefault(day, []).append(row)
        for day, affected in by_day.items():
            if len(affected) > 1:
                yield day, f"{plural} {numbers([row.number for row in affected])}"
                continue
            row = affected[0]
            what = row.law.description if index == 0 else ""
            yield day, f"{singular} {row.number}" + (f": {what}" if what else "")


def _days(row: FineRow) -> tuple[date | None, ...]:
    fine = row.fine
    paid_on = fine.paid_on if row.law.is_paid else None
    return fine.committed_on, fine.notified_on, fine.penalty_on, paid_on


def numbers(in_order: Sequence[int]) -> str:
    """``1 a 4, 6 e 9``: ascending numbers, with runs of three and more as ranges."""
    runs: list[list[int]] = []
    for number in in_order:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts: list[str] = []
    for run in runs:
        parts += [f"{run[0]} a {run[-1]}"] if len(run) > 2 else [str(number) for number in run]
    return listed(parts)
