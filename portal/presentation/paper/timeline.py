"""The timeline as it stands on paper: a line a day, fines by their numbers.

A screen links each event to its record; paper has the fine's number instead, so that what befell
many fines on one day is one line.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from portal.law import listed
from portal.presentation.vehicle.fines import FineList, FineRow
from portal.presentation.vehicle.restrictions import RestrictionList

MOST_DAYS: Final = 60
# An event as it is said of one fine and of several.
_KINDS: Final = (
    ("Infração da multa", "Infrações das multas"),
    ("Notificação da autuação da multa", "Notificação da autuação das multas"),
    ("Penalidade da multa", "Penalidade das multas"),
    ("Pagamento da multa", "Pagamento das multas"),
)


@dataclass(frozen=True, slots=True)
class PaperDay:
    """What the records date on one day, as one sentence without its full stop."""

    day: date
    what: str


@dataclass(frozen=True, slots=True)
class PaperTimeline:
    """Days, the newest first; ``omitted`` older ones are only in the records."""

    days: tuple[PaperDay, ...]
    omitted: int


def paper_timeline(fines: FineList | None, restrictions: RestrictionList | None) -> PaperTimeline:
    """The dated events; what could not be asked brings none."""
    told: dict[date, list[str]] = {}
    for card in restrictions.cards if restrictions else ():
        if card.record.included_at is not None:
            where = f" ({card.court})" if card.court else ""
            told.setdefault(card.record.included_at.date(), []).append(f"{card.title}{where}")
    for day, what in _fine_events(fines.rows if fines else ()):
        told.setdefault(day, []).append(what)
    days = [PaperDay(day, "; ".join(told[day])) for day in sorted(told, reverse=True)]
    return PaperTimeline(tuple(days[:MOST_DAYS]), max(len(days) - MOST_DAYS, 0))


def _fine_events(rows: Sequence[FineRow]) -> Iterator[tuple[date, str]]:
    for index, (of_one, of_many) in enumerate(_KINDS):
        by_day: dict[date, list[FineRow]] = {}
        for row in rows:
            day = _days(row)[index]
            if day is not None:
                by_day.setdefault(day, []).append(row)
        for day, befallen in by_day.items():
            if len(befallen) > 1:
                yield day, f"{of_many} {numbers([row.number for row in befallen])}"
                continue
            row = befallen[0]
            what = row.law.description if index == 0 else ""
            yield day, f"{of_one} {row.number}" + (f": {what}" if what else "")


def _days(row: FineRow) -> tuple[date | None, ...]:
    fine = row.fine
    paid_on = fine.paid_on if row.law.is_paid else None
    return fine.committed_on, fine.notified_on, fine.penalty_on, paid_on


def numbers(in_order: Sequence[int]) -> str:
    """``1 a 4, 6 e 9``: numbers in order, as people list them."""
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
