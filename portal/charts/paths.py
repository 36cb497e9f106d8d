"""Build texts for the attribute ``d`` of SVG paths: lines, filled areas, hatching and zigzags."""

from collections.abc import Iterable, Sequence

Point = tuple[float, float]


def number(value: float) -> str:
    """Format a number with at most one decimal and no trailing zero, to save bytes."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


def line_path(runs: Iterable[Sequence[Point]]) -> str:
    """Return a path with one line for each run (sequence of points).

    A run of one point is left out.
    """
    return "".join(_run(run) for run in runs if len(run) > 1)


def area_path(runs: Iterable[Sequence[Point]], bottom: float) -> str:
    """Return one path for the areas between y = ``bottom`` and each run.

    A run (sequence of points) with a single point is left out.
    """
    return "".join(
        f"{_run(run)}V{number(bottom)}H{number(run[0][0])}z" for run in runs if len(run) > 1
    )


def hatch_path(left: float, right: float, height: float, step: float) -> str:
    """Return 45° hatching lines in a rectangle from x = ``left`` to x = ``right``."""
    width = right - left
    lines = []
    at = step
    while at < width + height:
        x1, y1 = left + max(0.0, at - height), min(at, height)
        x2, y2 = left + min(at, width), max(0.0, at - width)
        lines.append(f"M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}")
        at += step
    return "".join(lines)


def torn_path(width: float, top: float, step: float, depth: float) -> str:
    """Return the path of an axis break: two zigzag lines at the distance ``depth``."""
    count = max(2, round(width / step))
    points = [(width * i / count, top + (depth / 2 if i % 2 else 0)) for i in range(count + 1)]
    return line_path([points, [(x, y + depth) for x, y in points]])


def _run(run: Sequence[Point]) -> str:
    rounded = [(round(x, 1), round(y, 1)) for x, y in run]
    # Each step is relative to the previous rounded point, so that rounding errors do not add up.
    x0, y0 = rounded[0]
    text = f"M{number(x0)} {number(y0)}l"
    steps = []
    for x, y in rounded[1:]:
        across, down = number(x - x0), number(y - y0)
        steps.append(across + (down if down.startswith("-") else f" {down}"))
        x0, y0 = x, y
    return text + " ".join(steps)
