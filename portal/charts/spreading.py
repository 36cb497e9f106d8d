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
    # label of the stack. A label's ``stack_top`` is the position that the top label must have to
    # put this label at its wanted position. A block consists of one label, or of several labels
    # without gaps. A label with a smaller ``stack_top`` than the block above it would overlap the
    # block. In this case, the label and the block are merged. The ``stack_top`` of the merged block
    # is the weighted mean of both.
    blocks: list[tuple[float, float, int]] = []
    for i, offset in zip(order, offsets, strict=False):
        stack_top, weight, count = wanted[i] - offset, weights[i], 1
        while blocks and blocks[-1][0] > stack_top:
            before, more, others = blocks.pop()
            stack_top = (before * more + stack_top * weight) / (more + weight)
            weight, count = weight + more, count + others
        blocks.append((stack_top, weight, count))
    fitted = [stack_top for stack_top, _, count in blocks for _ in range(count)]
    placed = list(wanted)
    if order:
        top = low + heights[order[0]] / 2
        bottom = high - heights[order[-1]] / 2 - offsets[-1]
        for i, stack_top, offset in zip(order, fitted, offsets, strict=True):
            placed[i] = max(min(stack_top, bottom), top) + offset
    return tuple(placed)
