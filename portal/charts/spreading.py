"""Move the labels of a column apart, so that they do not overlap."""

from collections.abc import Sequence
from itertools import accumulate, pairwise


def spread(
    wanted: Sequence[float],
    heights: Sequence[float],
    weights: Sequence[float],
    low: float,
    high: float,
) -> tuple[float, ...]:
    """Return positions near ``wanted`` at which the labels do not overlap.

    A position is the middle of a label. All labels stay between ``low`` and ``high``. If there is
    not enough room, each label overlaps by the same share of its height. A label with a larger
    weight moves less. The labels keep the order of their wanted positions.
    """
    share = min(1.0, (high - low) / max(sum(heights), 1.0))
    heights = [share * height for height in heights]
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    distances = ((heights[a] + heights[b]) / 2 for a, b in pairwise(order))
    offsets = list(accumulate(distances, initial=0.0))
    # Imagine all labels in one stack without gaps. ``offset`` is a label's distance from the top
    # label of this stack. If the stack is moved until the label is at its wanted position, the
    # variable ``middle`` is the position of the top label. Two neighbours with the same ``middle``
    # touch each other. If the lower neighbour has the smaller ``middle``, the two overlap. A block
    # is one label, or several labels that touch and share one ``middle``. A label that overlaps the
    # block above it is merged into this block. The new ``middle`` is the weighted mean of the two.
    blocks: list[tuple[float, float, int]] = []
    for i, offset in zip(order, offsets, strict=False):
        middle, weight, count = wanted[i] - offset, weights[i], 1
        while blocks and blocks[-1][0] > middle:
            before, more, others = blocks.pop()
            middle = (before * more + middle * weight) / (more + weight)
            weight, count = weight + more, count + others
        blocks.append((middle, weight, count))
    fitted = [middle for middle, _, count in blocks for _ in range(count)]
    placed = list(wanted)
    if order:
        top = low + heights[order[0]] / 2
        bottom = high - heights[order[-1]] / 2 - offsets[-1]
        for i, middle, offset in zip(order, fitted, offsets, strict=True):
            placed[i] = max(min(middle, bottom), top) + offset
    return tuple(placed)
