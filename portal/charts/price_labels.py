"""The labels of prices inside and beside a price chart."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from typing import Final

from portal.charts.axes import anchor_at
from portal.charts.frame import Frame, Known, last_real
from portal.charts.geometry import Anchor, EndLabel, Flag, Mark, Plotted
from portal.charts.spreading import spread
from portal.wording import money, month

# The weight of the chosen series' label for ``spread``, which moves overlapping labels apart. A
# label with a larger weight moves less. All other labels have the weight 1.
_FLAG_WEIGHT: Final = 20.0
# The mean width of bold digits and lower-case letters in em, rounded up.
_EM_PER_CHARACTER: Final = 0.6
# A short name has at most _MOST_WORDS of the first _MOST_WORDS_READ words, and fits the margin.
_MOST_WORDS, _MOST_WORDS_READ, _LONGEST_NAME = 2, 8, 12


@dataclass(frozen=True, slots=True)
class Words:
    """The caller's choices for a chart's texts.

    ``now`` is true if the last real price is the current price. If ``now`` is false, the label of
    the last real price also shows the month, because a reader could take an old price for the
    current price. ``predicted`` is the label of the hatched strip of predictions. If ``is_index``
    is true, the values are no prices, and each line's label begins with its name.
    """

    now: bool = False
    predicted: str = "previsão"
    is_index: bool = False

    def label(self, name: str, value: Decimal) -> str:
        return f"{name} {round(value)}" if self.is_index else money(value, places=0)


def labels_at_edge(
    frame: Frame,
    every: Sequence[Known],
    names: Sequence[str],
    chosen: int,
    words: Words,
    asked: float | None = None,
) -> tuple[Flag | None, tuple[EndLabel, ...], EndLabel | None]:
    """Return the labels of each series' last real price, and of the asking price.

    A series has no label if its last real price is earlier than the last real price of the chosen
    series. The solid line of such a series ends too far from the plot's right edge, where the
    labels are.
    """
    mine = every[chosen]
    last = last_real(mine)
    if last is None:
        return None, (), None
    others = [
        (number, end, known[end])
        for number, known in enumerate(every)
        if number != chosen and (end := last_real(known)) is not None and end >= last
    ]
    # The heights of an end label and of the flag (the chosen series' label). In the layout
    # "screen", these heights are percentages of the plot's height. They are large enough for the
    # lowest plot, which is 240 px high.
    size = frame.canvas.font_size
    label, flag = (1.35 * size, 2.2 * size) if frame.canvas.is_fixed else (7.8, 11.2)
    flag_name = "" if words.now else month(mine[last].month)
    if flag_name:
        flag += label
    # ``spread`` places the middle of the whole flag. If the flag has the month as a second line of
    # text, the flag's middle is ``shift`` lower than the middle of the line with the price.
    shift = label / 2 if flag_name else 0.0
    beside = [frame.y(float(point.value)) for _, _, point in others]
    if asked is not None:
        beside.append(frame.y(asked))
    placed = spread(
        [frame.y(float(mine[last].value)) + shift, *beside],
        [flag, *[label] * len(beside)],
        [_FLAG_WEIGHT, *[1.0] * len(beside)],
        0.0,
        frame.canvas.plot_height,
    )
    short = [""] * len(names) if words.is_index else short_names(names)

    def text(number: int, point: Plotted) -> str:
        return words.label(names[number], point.value)

    middle = frame.rounded(placed[0] - shift)
    now = Flag(middle, *frame.dot(last, mine[last]), text(chosen, mine[last]), flag_name)
    ends = tuple(
        EndLabel(number + 1, at, text(number, point), short[number], *frame.dot(end, point))
        for (number, end, point), at in zip(others, map(frame.rounded, placed[1:]), strict=False)
    )
    asking = None
    if asked is not None:
        dot = frame.rounded(frame.canvas.plot_width), frame.rounded(beside[-1])
        price = money(Decimal(asked), places=0)
        asking = EndLabel(0, frame.rounded(placed[-1]), price, "pedido", *dot)
    return now, ends, asking


def short_names(names: Sequence[str]) -> list[str]:
    """Return the fewest words of each name that no other name has together, or "".

    For example, "1.0 Mi Total Flex" and "1.0 Flex 12V" become "Mi" and "12V".
    """
    words = [name.split() for name in names]

    def short(number: int) -> str:
        others = [set(those) for at, those in enumerate(words) if at != number]
        for count in range(1, _MOST_WORDS + 1):
            for some in combinations(words[number][:_MOST_WORDS_READ], count):
                text = " ".join(some)
                if len(text) <= _LONGEST_NAME and not any(set(some) <= those for those in others):
                    return text
        return ""

    return [short(number) for number in range(len(names))] if len(names) > 1 else [""] * len(names)


def first_and_peak(frame: Frame, known: Known, highest: int) -> tuple[Mark | None, Mark | None]:
    """Return the labels of the first and of the highest real price. Either may be None.

    ``highest`` is the ``month_index`` of the highest real price.

    The last real price gets no label here, because ``labels_at_edge`` returns its label. If the
    labels of the first and the highest price would overlap, the label of the first price is left
    out.
    """
    real = [index for index, point in known.items() if not point.predicted]
    if len(real) < 3:
        return None, None
    peak = _mark(frame, known, highest) if highest in real[:-1] else None
    start = _mark(frame, known, real[0]) if real[0] != highest else None
    if start and peak and _meet(frame, start, peak):
        start = None
    return start, peak


def _mark(frame: Frame, known: Known, index: int) -> Mark:
    canvas = frame.canvas
    x, y = frame.at(index, known[index])
    anchor = anchor_at(x / canvas.plot_width, 0.25)
    text, name = money(known[index].value, places=0), month(known[index].month)
    text_y = y
    if canvas.is_fixed:
        left, right = _extent(frame, x, anchor, f"{name} · {text}")
        near = [frame.at(i, p) for i, p in known.items()]
        text_y = min([y, *(b for a, b in near if left <= a <= right)]) - 0.6 * canvas.font_size
    return Mark(frame.rounded(x), frame.rounded(y), frame.rounded(text_y), anchor, name, text)


def _extent(frame: Frame, x: float, anchor: Anchor, text: str) -> tuple[float, float]:
    # The page prints "pico de " ("peak of", 8 characters) before the month of the highest price.
    width = (len(text) + 8) * frame.canvas.font_size * _EM_PER_CHARACTER
    left = {"start": x, "middle": x - width / 2, "end": x - width}[anchor]
    return left, left + width


def _meet(frame: Frame, one: Mark, other: Mark) -> bool:
    a, b = (_extent(frame, m.x, m.anchor, f"{m.month} · {m.price}") for m in (one, other))
    return (
        a[0] < b[1]
        and b[0] < a[1]
        and abs(one.text_y - other.text_y) < 1.4 * frame.canvas.font_size
    )
