"""What the dossier's first sheet has room for, by an estimate of the lines of its texts.

The chart takes what the texts leave. WeasyPrint cannot stretch a drawing to the room that is left,
and a second layout would double the time of a PDF, so the room is estimated before the layout. The
estimate is high rather than low: too high a sheet would end on another, which holds a line alone.
Heights are in millimetres. The style sheet ``static/css/dossier.css`` has the sizes.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

# A4 without its margins, less what an estimate may miss.
_SHEET: Final = 275.0 - 9.0
# Masthead, plate and car, the mark of the demonstration, the signatures and the gaps between parts.
_FIXED: Final = 63.0
_SMALL_LINE: Final = 3.67  # 8 pt
_LINE: Final = 4.32  # 9 pt
_HEADLINE: Final = 5.93  # 14 pt
_FACTS_LINE: Final = 3.39
# Letters of a line as wide as the sheet, of one in the verdict's box, and of narrower ones.
_IN_SMALL_LINE, _IN_LINE, _IN_HEADLINE = 124, 105, 60
_IN_ACT, _IN_ANSWER, _IN_NOTE, _IN_FACT, _IN_COVERAGE = 29, 19, 34, 20, 122
_IN_FIGURE: Final = 24
_FACTS_IN_ROW: Final = 6
# The chart's drawing: 0.254 mm a unit, as many units high as its least height, and its caption.
UNIT_MM: Final = 0.254
_AROUND_PLOT: Final = 44.0 * UNIT_MM + _SMALL_LINE + 2.5
LEAST_PLOT, MOST_PLOT = 110, 230  # units
_STEP: Final = 10  # units; drawings of a few heights are kept


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of the first sheet that differ between vehicles.

    ``lines`` have lines of their own in the verdict's box. ``acts`` have an answer and a short
    reason. ``figures`` have a label, a value and a note, which may be "". ``facts`` have a label
    and a value. ``coverage`` are the checklist's lines, and ``paragraphs`` those in small letters.
    """

    headline: str
    lines: Sequence[str]
    acts: Sequence[tuple[str, str]]
    figures: Sequence[tuple[str, str, str]]
    facts: Sequence[tuple[str, str]]
    coverage: Sequence[str]
    paragraphs: Sequence[str]


@dataclass(frozen=True, slots=True)
class FirstSheet:
    """What stands on the first sheet. ``plot`` is the height of the chart's plot in units."""

    has_chart: bool
    has_facts: bool
    plot: int


def first_sheet(texts: Texts, *, has_chart: bool) -> FirstSheet:
    """Return what the first sheet has room for: first the chart, then the facts."""
    left = _SHEET - _FIXED - _text_height(texts)
    row, column, facts = _row(texts.figures), _column(texts.figures), _facts(texts.facts)
    least = max(column, LEAST_PLOT * UNIT_MM + _AROUND_PLOT)
    if not has_chart or left < least:
        return FirstSheet(has_chart=False, has_facts=left >= row + facts, plot=LEAST_PLOT)
    has_facts = left >= least + facts
    room = left - (facts if has_facts else 0.0)
    return FirstSheet(has_chart=True, has_facts=has_facts, plot=_plot(room))


def _plot(room: float) -> int:
    units = (room - _AROUND_PLOT) / UNIT_MM
    return max(LEAST_PLOT, min(MOST_PLOT, int(units // _STEP) * _STEP))


def _text_height(texts: Texts) -> float:
    verdict = 9.4 + _HEADLINE * _lines(texts.headline, _IN_HEADLINE)
    verdict += _LINE * sum(_lines(line, _IN_LINE) for line in texts.lines)
    acts = 8.6 + max(
        4.2 * _lines(answer, _IN_ANSWER) + 3.9 * _lines(why, _IN_ACT) for answer, why in texts.acts
    )
    marks = sum(len(words) + 6 for words in texts.coverage)  # the dot and the gap behind it
    coverage = 12.0 + _SMALL_LINE * _rows(marks, _IN_COVERAGE)
    small = sum(
        0.8 + _SMALL_LINE * _lines(paragraph, _IN_SMALL_LINE) for paragraph in texts.paragraphs
    )
    return verdict + acts + coverage + 2.6 + small


def _row(figures: Sequence[tuple[str, str, str]]) -> float:
    """Return the height of the figures beside each other."""
    notes = max((_lines(note, _IN_ACT) for _, _, note in figures), default=0)
    return 2.2 + 2 * _SMALL_LINE + 4.9 + _SMALL_LINE * notes


def _column(figures: Sequence[tuple[str, str, str]]) -> float:
    """Return the height of the figures below each other, beside the chart."""
    return 2.8 + sum(
        5.3 + _SMALL_LINE * _lines(note, _IN_NOTE) + 4.9 * _lines(value, _IN_FIGURE)
        for _, value, note in figures
    )


def _facts(facts: Sequence[tuple[str, str]]) -> float:
    height = 4.5 + _SMALL_LINE  # with the sentence on what is not stated
    for at in range(0, len(facts), _FACTS_IN_ROW):
        row = facts[at : at + _FACTS_IN_ROW]
        most = max(_lines(label, _IN_FACT) + _lines(value, _IN_FACT) for label, value in row)
        height += 0.8 + _FACTS_LINE * most
    return height


def _lines(text: str, letters: int) -> int:
    return _rows(len(text), letters)


def _rows(length: int, letters: int) -> int:
    return math.ceil(length / letters)


def joined(texts: Iterable[str]) -> str:
    """Return texts that run on in one paragraph."""
    return " ".join(filter(None, texts))
