"""The geometry of one series: its line runs, markers, dots and hover targets."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from portal.charts import paths
from portal.charts.geometry import Dot, Hit, Plotted, Series

# Units between hover targets. Every target costs 80 bytes, and a finger covers more than this
# distance, so nearer targets are omitted; the table below the chart lists every point.
_HIT_SPACING = 8.0
_MOST_HITS = 120
_MARKER_SPACING = 56.0

Known = Mapping[int, Plotted]  # points by month index, in order
Places = Mapping[int, paths.Point]


def trace(
    number: int,
    name: str,
    known: Known,
    places: Places,
    *,
    siblings: int,
    hit_text: Callable[[Plotted], str],
    price: Callable[[Plotted], str],
) -> Series:
    """Return the drawn series.

    ``siblings`` is the number of series. They share the limit of hover targets, and have markers
    if there is more than one.
    """
    marker = paths.MARKERS[number - 1]
    real = [index for index, point in known.items() if not point.predicted]
    marked = _spaced([places[index] for index in real], _MARKER_SPACING) if siblings > 1 else ()
    return Series(
        number=number,
        name=name,
        now=price(known[real[-1]]) if real else "",
        real_path=paths.line_path(_runs(known, places, predicted=False)),
        predicted_path=paths.line_path(_runs(known, places, predicted=True)),
        markers_path=paths.marker_path(marker, marked),
        swatch_path=paths.marker_path(marker, [(0, 0)]),
        dots=tuple(
            Dot(*places[index], predicted=point.predicted)
            for index, point in known.items()
            if index - 1 not in known and index + 1 not in known
        ),
        hits=tuple(_hits(known, places, _MOST_HITS // siblings, hit_text)),
    )


def _runs(known: Known, places: Places, *, predicted: bool) -> Iterator[list[paths.Point]]:
    """Yield the runs of neighbouring months on the predicted or on the real line.

    A segment is predicted if either of its ends is, so the dashed line begins at the last real
    point. A missing month breaks both lines.
    """
    run: list[paths.Point] = []
    for index, point in known.items():
        before = known.get(index - 1)
        if before is not None and (before.predicted or point.predicted) is predicted:
            run = [*run, places[index]] if run else [places[index - 1], places[index]]
        elif run:
            yield run
            run = []
    if run:
        yield run


def _spaced(points: Sequence[paths.Point], least: float) -> Iterator[paths.Point]:
    """Yield, backwards, the last point and others at least ``least`` apart in x."""
    x = float("inf")
    for point in reversed(points):
        if x - point[0] >= least:
            x = point[0]
            yield point


def _hits(
    known: Known, places: Places, most: int, hit_text: Callable[[Plotted], str]
) -> Iterator[Hit]:
    across = [x for x, _ in places.values()]
    width = max(across) - min(across)
    wanted = set(_spaced(list(places.values()), max(_HIT_SPACING, width / most)))
    for index, point in known.items():
        if places[index] in wanted:
            yield Hit(*places[index], text=hit_text(point))
