"""Computes from the present settings when a stored answer is deleted."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from portal.gateway.envelope import Envelope
from portal.gateway.freshness import retention_s
from portal.gateway.operations import CachePolicy
from portal.vehicle.operation_name import OperationName


class Retention(NamedTuple):
    """``seconds`` returns for how many seconds an envelope is kept.

    ``text`` lists the configured lifetimes, and differs if these have changed.
    """

    text: str
    seconds: Callable[[Envelope], float]


def retention_of(terms: Mapping[OperationName, CachePolicy]) -> Retention:
    """Return the retention that follows from the lifetimes in ``terms``.

    An envelope that names no operation in ``terms`` gets the longest retention of any operation.
    """

    def seconds(envelope: Envelope) -> float:
        own = {name: each for name, each in terms.items() if name == envelope.operation} or terms
        return max(retention_s(each, envelope.status, envelope.empty) for each in own.values())

    text = " ".join(f"{name}:{each.fresh_s}+{each.stale_s}" for name, each in terms.items())
    return Retention(text, seconds)
