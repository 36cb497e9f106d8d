"""The timeline in print: a picture with a horizontal line for each fine and each restriction.

A line runs from the first event of the fine or restriction to the last event. The line of an open
fine, or of a restriction in force, continues to the day of the dossier. This continuation is dashed
for an open fine that is not enforceable, and otherwise solid. If there are many records, the
fines with the same payment state share one line. Each dot on such a line is the date of an
infraction.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal, NamedTuple

from portal import formats
from portal.dossier.dossier import Dossier
from portal.law.assessment import AssessedFine
from portal.law.orders import AssessedOrder
from portal.law.standing import Standing
from portal.phrasebook.fines import has_own_word, status_word
from portal.phrasebook.orders import title
from portal.phrasebook.standings import WORDS
from portal.wording import counted, listed

MOST_LINES: Final = 8
# Lengths are in units of the SVG view box. Four units are 1 mm on paper.
WIDTH: Final = 720
_LEFT, _RIGHT = 8.0, 668.0
_TOP, _PITCH, _FOOT = 4, 21, 17
_LETTER: Final = 6.0  # the average width of a letter, in units of the view box
# Standings whose words have a plural of their own in a short line.
_WITH_PLURAL: Final = (Standing.PAID, Standing.ENFORCEABLE, Standing.SUSPENDED)
_WORST_FIRST: Final = ("danger", "warn", "unknown", "ok")
_FEWEST_DAYS: Final = 60
_MOST_TICKS: Final = 8


_Style = Literal["", "solid", "dashed"]


class PaperLine(NamedTuple):
    """A line of the picture.

    ``dots`` are x coordinates. ``solid`` and ``dashed`` are the SVG paths of the line's two parts.
    """

    text: str
    text_x: float
    anchor: Literal["start", "end"]
    y: float
    tone: str
    dots: tuple[float, ...]
    solid: str
    dashed: str


@dataclass(frozen=True, slots=True)
class PaperTimeline:
    """The picture. ``ticks`` have an x coordinate and a text, and ``grid`` is the path of all."""

    lines: tuple[PaperLine, ...]
    ticks: tuple[tuple[float, str], ...]
    grid: str
    today_x: float
    today_text: str
    width: int
    height: int
    foot: int
    description: str


@dataclass(frozen=True, slots=True)
class _Record:
    """One line of the picture.

    ``goes_on`` is the style of the line after the last event, or "" if the last event ends the
    line.
    """

    text: str
    tone: str
    days: tuple[date, ...]
    goes_on: _Style


def paper_timeline(dossier: Dossier) -> PaperTimeline | None:
    """Build the picture.

    Only records with an event on or before the dossier's day are drawn. Returns None if no record
    has such an event.
    """
    rows, cards, today = dossier.listed_fines, dossier.listed_orders, dossier.today
    by_record = [*_of_cards(cards), *map(_of_fine, rows)]
    records = (
        by_record if len(by_record) <= MOST_LINES else [*_grouped_cards(cards), *_grouped(rows)]
    )
    drawn = [record for record in records if any(day <= today for day in record.days)]
    if not drawn:
        return None
    drawn.sort(key=lambda record: min(record.days))
    first = min(min(record.days) for record in drawn)
    span = max((today - first).days, _FEWEST_DAYS)

    def scale(day: date) -> float:
        """Return the x coordinate of a day."""
        return round(_LEFT + (_RIGHT - _LEFT) * (1 - (today - day).days / span), 1)

    foot = _TOP + _PITCH * len(drawn)
    ticks = tuple(_ticks(scale, first, today))
    return PaperTimeline(
        lines=tuple(
            _line(record, scale, today, _TOP + _PITCH * number + 14)
            for number, record in enumerate(drawn)
        ),
        ticks=ticks,
        grid="".join(f"M{x} {_TOP}V{foot}" for x, _ in ticks),
        today_x=_RIGHT,
        today_text=formats.short_date(today),
        width=WIDTH,
        height=foot + _FOOT,
        foot=foot,
        description=" ".join(_described(record) for record in drawn),
    )


def _line(record: _Record, scale: Callable[[date], float], today: date, y: float) -> PaperLine:
    days = sorted({day for day in record.days if day <= today})
    dots = tuple(dict.fromkeys(scale(day) for day in days))
    start, end = dots[0], dots[-1]
    until = f"M{end} {y}H{scale(today)}"
    joined = f"M{start} {y}H{end}" if end > start else ""
    from_right = start + len(record.text) * _LETTER > scale(today)
    return PaperLine(
        text=record.text,
        text_x=scale(today) - 4 if from_right else start - 3,
        anchor="end" if from_right else "start",
        y=y,
        tone=record.tone,
        dots=dots,
        solid=f"{joined}{until if record.goes_on == 'solid' else ''}",
        dashed=until if record.goes_on == "dashed" else "",
    )


def _of_cards(cards: Sequence[AssessedOrder]) -> Iterator[_Record]:
    for card in cards:
        if card.record.included_at is not None:
            court = f" ({card.short_court})" if card.court else ""
            yield _Record(
                f"{title(card)}{court}",
                "danger" if card.in_force and not card.is_doubtful else "unknown",
                (card.record.included_at.date(),),
                ("dashed" if card.is_doubtful else "solid") if card.in_force else "",
            )


def _of_fine(row: AssessedFine) -> _Record:
    fine = row.record
    paid_on = fine.paid_on if row.is_paid else None
    days = (fine.committed_on, fine.notified_on, fine.penalty_on, paid_on)
    goes_on: _Style = "dashed" if row.is_open else ""
    if row.standing is Standing.ENFORCEABLE:
        goes_on = "solid"
    text = f"Multa {row.number}: {status_word(row.status)}"
    return _Record(text, row.standing.tone, tuple(filter(None, days)), goes_on)


def _grouped_cards(cards: Sequence[AssessedOrder]) -> Iterator[_Record]:
    """Yield a line for each restriction, or a single line for all if there are many."""
    records = list(_of_cards(cards))
    if len(records) <= MOST_LINES // 2:
        yield from records
        return
    days = tuple(day for record in records for day in record.days)
    yield _Record(f"Justiça: {counted(len(records), 'registro', 'registros')}", "danger", days, "")


def _grouped(rows: Sequence[AssessedFine]) -> Iterator[_Record]:
    """Yield a line for each payment state.

    The dots on a line are the infraction dates of the fines in this state.
    """
    by_word: dict[str, list[AssessedFine]] = {}
    for row in rows:
        by_word.setdefault(status_word(row.status), []).append(row)
    # The gravest states have lines of their own. Further states share the last line.
    ranked = sorted(
        by_word.items(), key=lambda one: (_WORST_FIRST.index(one[1][0].standing.tone), -len(one[1]))
    )
    most = MOST_LINES // 2
    alone = ranked if len(ranked) <= most else ranked[: most - 1]
    for word, group in alone:
        status = group[0].status
        is_plural = len(group) > 1 and status.standing in _WITH_PLURAL and not has_own_word(status)
        words = WORDS[status.standing].of_many if is_plural else word
        yield _of_group(f"{counted(len(group), 'multa', 'multas')}: {words}", group)
    if rest := ranked[len(alone) :]:
        rows = [row for _, group in rest for row in group]
        words = listed([word for word, _ in rest])
        yield _of_group(f"e mais {counted(len(rows), 'multa', 'multas')}: {words}", rows)


def _of_group(text: str, group: Sequence[AssessedFine]) -> _Record:
    days = tuple(row.record.committed_on for row in group if row.record.committed_on)
    return _Record(text, group[0].standing.tone, days, "")


def _ticks(scale: Callable[[date], float], first: date, today: date) -> Iterator[tuple[float, str]]:
    starts = [date(year, 1, 1) for year in range(first.year + 1, today.year + 1)]
    if len(starts) <= 2:
        starts += [date(year, 7, 1) for year in range(first.year, today.year + 1)]
    shown = sorted(day for day in starts if first < day <= today)
    for day in shown[:: -(-len(shown) // _MOST_TICKS) or 1]:
        yield scale(day), str(day.year) if day.month == 1 else formats.month(day)


def _described(record: _Record) -> str:
    days = sorted(set(record.days))
    when = formats.short_date(days[0])
    if len(days) > 1:
        when = f"de {when} a {formats.short_date(days[-1])}"
    return f"{record.text}, {when}."
