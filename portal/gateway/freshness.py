"""Computes whether an answer is fresh or stale (RFC 9111 §4.2, RFC 5861 §4).

The lifetimes are listed in docs/contract.md, "Cache rules".
"""

import math
from collections.abc import Mapping
from typing import Literal

import msgspec

from portal.gateway.operations import CachePolicy
from portal.vehicle.operation_name import OperationName

REJECTED_FRESH_S = 600
JITTER = 0.10
# The largest expected difference, in seconds, between the clocks of machines that share a store. An
# answer counts as expired if its time stamp is more than CLOCK_SKEW_S in the future.
CLOCK_SKEW_S = 60

State = Literal["fresh", "stale", "expired"]


class Freshness(msgspec.Struct, frozen=True):
    state: State
    age_s: int
    ttl_s: int


def lifetimes(terms: CachePolicy, status: int, empty: bool) -> tuple[float, float]:
    """Return an answer's fresh time and stale time in seconds.

    A stale answer may be served if the upstream call fails. A rejection (400, 404) is fresh for
    REJECTED_FRESH_S and never stale. An outage at the upstream may cause an empty answer. An empty
    answer is therefore fresh for only a quarter of ``fresh_s``, and never stale.
    """
    if status != 200:
        return REJECTED_FRESH_S, 0
    if empty:
        return terms.fresh_s / 4, 0
    return terms.fresh_s, terms.stale_s


def retention_s(terms: CachePolicy, status: int, empty: bool) -> int:
    """Return the age in seconds at which an answer is deleted."""
    return math.ceil(sum(lifetimes(terms, status, empty)))


def longest_s(
    terms: Mapping[OperationName, CachePolicy], operation: str, status: int, empty: bool
) -> int:
    """Return the age at which an answer to ``operation`` is deleted.

    An answer to no operation in ``terms`` gets the longest retention of any operation.
    """
    own = [each for name, each in terms.items() if name == operation] or terms.values()
    return max(retention_s(each, status, empty) for each in own)


def compute_freshness(
    terms: CachePolicy, status: int, empty: bool, fetched_at: float, now: float, chance: float
) -> Freshness:
    """Return an answer's state, its age and the remaining seconds of its fresh time.

    ``chance`` is a number in [0, 1). The fresh time is shortened by ``chance`` times 10 % (jitter).
    Answers that were fetched together thus become stale at different times. The jitter does not
    change the moment at which a stale answer expires.
    """
    fresh_s, stale_s = lifetimes(terms, status, empty)
    age = now - fetched_at
    left = fresh_s * (1 - JITTER * chance) - age
    if age < -CLOCK_SKEW_S:
        state: State = "expired"
    elif left > 0:
        state = "fresh"
    elif stale_s > 0 and age < fresh_s + stale_s:
        state = "stale"
    else:
        state = "expired"
    return Freshness(state, max(0, int(age)), max(0, int(left)))
