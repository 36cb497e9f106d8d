"""Split a series into runs of consecutive months.

A chart draws each run as one line.
"""

from collections.abc import Iterator, Mapping

from portal.charts.frame import Known
from portal.charts.paths import Point


def runs(known: Known, places: Mapping[int, Point], *, predicted: bool) -> Iterator[list[Point]]:
    """Yield the runs of the dashed line if ``predicted`` is true, else of the solid line.

    A segment between two months is dashed if either end is a prediction. A dashed line after real
    prices therefore begins at the last real point. A month without a price breaks both lines.
    """
    run: list[Point] = []
    for index, point in known.items():
        before = known.get(index - 1)
        if before is not None and (before.predicted or point.predicted) is predicted:
            run = [*run, places[index]] if run else [places[index - 1], places[index]]
        elif run:
            yield run
            run = []
    if run:
        yield run


def lonely(known: Known) -> Iterator[int]:
    """Yield each month with a price if its neighbouring months lack one."""
    for index in known:
        if index - 1 not in known and index + 1 not in known:
            yield index
