"""Freshness is computed from an answer's age and lifetimes."""

from itertools import count

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from portal.gateway.envelope import (
    CLOCK_SKEW_S,
    JITTER,
    REJECTED_FRESH_S,
    Envelope,
    Freshness,
    retention_s,
)
from portal.gateway.operations import CachePolicy

TERMS = CachePolicy(fresh_s=1000, stale_s=500)
NO_STALE_WINDOW = CachePolicy(fresh_s=1000, stale_s=0)
ages = st.floats(min_value=0, max_value=10_000, allow_nan=False)
tags = st.integers(min_value=0).map(str)


def answer(tag: str, status: int = 200, empty: bool = False) -> Envelope:
    return Envelope(f"{tag}:name", 5000.0, 1500.0, "primary", status, empty)


# The tag of an answer that loses less than half a second of its fresh time.
LATEST = next(tag for tag in map(str, count()) if answer(tag).jitter * TERMS.fresh_s < 0.5)


def at(age: float, tag: str = LATEST, status: int = 200, empty: bool = False) -> Freshness:
    return answer(tag, status, empty).freshness(TERMS, 5000.0 + age)


@pytest.mark.parametrize(
    ("age", "state"),
    [(0, "fresh"), (999, "fresh"), (1000, "stale"), (1499, "stale"), (1500, "expired")],
)
def test_state_is_fresh_then_stale_then_expired(age: int, state: str) -> None:
    assert at(age).state == state


@settings(deadline=None)
@given(ages, tags)
def test_jitter_shortens_fresh_time_by_at_most_a_tenth(age: float, tag: str) -> None:
    """The FRESH_* settings are upper bounds. Stale time begins where fresh time ends."""
    state = at(age, tag).state
    if age >= TERMS.fresh_s:
        assert state != "fresh"
    if age < TERMS.fresh_s * (1 - JITTER):
        assert state == "fresh"
    assert (state == "expired") == (age >= TERMS.fresh_s + TERMS.stale_s)


@settings(deadline=None)
@given(ages, tags, st.sampled_from([200, 400]), st.booleans())
def test_answer_past_retention_is_expired(age: float, tag: str, status: int, empty: bool) -> None:
    judged = at(age, tag, status, empty)
    if age >= retention_s(TERMS, status, empty):
        assert judged.state == "expired"
    assert abs(judged.age_s - age) <= 1
    assert judged.ttl_s >= 0


@settings(deadline=None)
@given(
    st.integers(min_value=800, max_value=1100),
    tags,
    st.sampled_from([(TERMS, 200, True), (TERMS, 400, False), (NO_STALE_WINDOW, 200, False)]),
)
def test_answer_without_stale_window_expires_when_jitter_ends_freshness(
    per_mille: int, tag: str, case: tuple[CachePolicy, int, bool]
) -> None:
    terms, status, empty = case
    fresh_s = REJECTED_FRESH_S if status == 400 else 250 if empty else 1000
    held = answer(tag, status, empty)
    age, ends = fresh_s * per_mille / 1000, fresh_s * (1 - held.jitter)
    assume(abs(age - ends) > 1e-6)
    judged = held.freshness(terms, 5000.0 + age)
    assert judged.state == ("fresh" if age < ends else "expired")


def test_empty_answer_is_fresh_for_a_quarter_and_never_stale() -> None:
    assert [at(age, empty=True).state for age in (249, 250)] == ["fresh", "expired"]


def test_rejection_is_fresh_for_ten_minutes() -> None:
    ages = (REJECTED_FRESH_S - 1, REJECTED_FRESH_S)
    assert [at(age, status=400).state for age in ages] == ["fresh", "expired"]


def test_answer_beyond_clock_skew_in_the_future_is_expired() -> None:
    assert at(-CLOCK_SKEW_S).state == "fresh"
    assert at(-CLOCK_SKEW_S - 1).state == "expired"
