"""Pure: an answer's age and lifetimes → fresh, stale or expired (RFC 9111 §4.2, RFC 5861 §4)."""

import math
from typing import Literal

import msgspec

from portal.gateway.operations import CachePolicy

REJECTED_FRESH_S = 600
JITTER = 0.10
# Clocks of machines that share a store differ a little; an answer from further ahead is wrong.
CLOCK_SKEW_S = 60

State = Literal["fresh", "stale", "expired"]


class Freshness(msgspec.Struct, frozen=True):
    state: State
    age_s: int
    ttl_s: int


def lifetimes(terms: CachePolicy, status: int, empty: bool) -> tuple[float, float]:
    """Seconds an answer is fresh, and further seconds it may be served when asking fails.

    A rejection (400) lives ten minutes. An empty list is the answer an outage most easily fakes:
    a quarter of the time, and never stale.
    """
    if status != 200:
        return REJECTED_FRESH_S, 0
    if empty:
        return terms.fresh_s / 4, 0
    return terms.fresh_s, terms.stale_s


def retention_s(terms: CachePolicy, status: int, empty: bool) -> int:
    """Seconds after which an answer is deleted, not merely ignored."""
    return math.ceil(sum(lifetimes(terms, status, empty)))


def judge(
    terms: CachePolicy, status: int, empty: bool, fetched_at: float, now: float, chance: float
) -> Freshness:
    """``chance`` in [0, 1) spreads the expiry of answers fetched together over the last 10 %.

    Jitter moves the end of freshness alone, so the stale window begins earlier. Without such a
    window (a rejection, an empty list, STALE_* = 0) the answer expires when its freshness ends.
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
