"""The bars from a vehicle's price to what a buyer should offer at most.

Each bar begins where the one before ends, so that fines and costs are seen to bite into the price.
The axis leaves out what lies far below the offer. Coordinates are percentages of the width.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from portal.charts.scale import LinearScale

Kind = Literal["price", "fines", "costs", "offer"]

# The amounts stand at the right of the bars.
_RIGHT: Final = 84.0
# The share of the drawn range that the offer's bar has at least.
_OFFER: Final = 0.4
# A bite that is drawn is wide enough to be seen.
_LEAST: Final = 0.6


@dataclass(frozen=True, slots=True)
class OfferBar:
    """A bar from ``x`` to ``x + width``. Its last part of the width ``hatched`` is not owed yet."""

    kind: Kind
    x: float
    width: float
    hatched: float = 0.0

    @property
    def end(self) -> float:
        return round(self.x + self.width, 2)

    @property
    def edge(self) -> float:
        """The place from which the next bar goes on."""
        return self.end if self.kind == "price" else self.x


@dataclass(frozen=True, slots=True)
class OfferChart:
    """The bars from top to bottom. ``asking`` is the place of the asking price, or None.

    ``is_broken`` is true if the axis does not begin at zero.
    """

    bars: tuple[OfferBar, ...]
    asking: float | None
    is_broken: bool


def offer_chart(
    price: float, fines: float, notices: float, costs: float, asking: float | None = None
) -> OfferChart | None:
    """Return the bars of a price in R$, less fines and costs. None if nothing is left to offer.

    ``notices`` is the part of ``fines`` that is not yet a fine.
    """
    offer = price - fines - costs
    if offer <= 0:
        return None
    drawn = asking if asking is not None and _is_near(asking, price) else None
    high = max(price, drawn or 0.0)
    lowest = min(offer, drawn or offer)
    low = max(0.0, lowest - _OFFER / (1 - _OFFER) * (high - lowest))
    if low < 0.15 * lowest or high == lowest:
        low = 0.0
    across = LinearScale(low, high, 0.0, _RIGHT)
    edges = [price, price - fines, offer]
    return OfferChart(
        bars=(
            OfferBar("price", 0.0, _round(across(price))),
            *_bites(across, edges, notices),
            OfferBar("offer", 0.0, _round(across(offer))),
        ),
        asking=None if drawn is None else _round(across(drawn)),
        is_broken=low > 0,
    )


def _is_near(asking: float, price: float) -> bool:
    """Return whether there is room for the asking price."""
    return 0.4 * price <= asking <= 1.6 * price


def _bites(across: LinearScale, edges: Sequence[float], notices: float) -> list[OfferBar]:
    bites = []
    kinds: tuple[Kind, Kind] = ("fines", "costs")
    for kind, before, after in zip(kinds, edges, edges[1:], strict=False):
        if before <= after:
            continue
        right, left = across(before), across(after)
        width = max(_LEAST, right - left)
        hatched = right - across(before - notices)
        bites.append(
            OfferBar(
                kind,
                _round(right - width),
                _round(width),
                _round(min(width, hatched)) if kind == "fines" else 0.0,
            )
        )
    return bites


def _round(value: float) -> float:
    return round(value, 2)
