"""Freshness is computed from an answer's age and lifetimes."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from portal.gateway.envelope import (
    CLOCK_SKEW_S,
    JITTER,
    REJECTED_FRESH_S,
    Freshness,
    compute_freshness,
    retention_s,
)
from portal.gateway.operations import CachePolicy

TERMS = CachePolicy(fresh_s=1000, stale_s=500)
NO_STALE_WINDOW = CachePolicy(fresh_s=1000, stale_s=0)
ages = st.floats(min_value=0, max_value=10_000, allow_nan=False)
chances = st.floats(min_value=0, max_value=1, exclude_max=True)


def at(age: float, chance: float = 0.0, status: int = 200, empty: bool = False) -> Freshness:
    return compute_freshness(TERMS, status, empty, 5000.0, 5000.0 + age, chance)


@pytest.mark.parametrize(
    ("age", "state"),
    [(0, "fresh"), (999, "fresh"), (1000, "stale"), (1499, "stale"), (1500, "expired")],
)
def test_state_is_fresh_then_stale_then_expired(age: int, state: str) -> None:
    assert at(age).state == state


@settings(deadline=None)
@given(ages, chances)
def test_jitter_shortens_fresh_time_by_at_most_a_tenth(age: float, chance: float) -> None:
    """The FRESH_* settings are upper bounds. Stale time begins where fresh time ends."""
    state = at(age, chance).state
    if age >= TERMS.fresh_s:
        assert state != "fresh"
    if age < TERMS.fresh_s * (1 - JITTER):
        assert state == "fresh"
    assert (state == "expired") == (age >= TERMS.fresh_s + TERMS.stale_s)


@settings(deadline=None)
@given(ages, chances, st.sampled_from([200, 400]), st.booleans())
def test_answer_past_retention_is_expired(
    age: float, chance: float, status: int, empty: bool
) -> None:
    judged = at(age, chance, status, empty)
    if age >= retention_s(TERMS, status, empty):
        assert judged.state == "expired"
    assert abs(judged.age_s - age) <= 1
    assert judged.ttl_s >= 0


@settings(deadline=None)
@given(
    st.integers(min_value=800, max_value=1100),
    st.integers(min_value=0, max_value=999),
    st.sampled_from([(TERMS, 200, True), (TERMS, 400, False), (NO_STALE_WINDOW, 200, False)]),
)
def test_answer_without_stale_window_expires_when_jitter_ends_freshness(
    per_mille: int, chance: int, case: tuple[CachePolicy, int, bool]
) -> None:
    terms, status, empty = case
    fresh_s = REJECTED_FRESH_S if status == 400 else 250 if empty else 1000
    age, ends = fresh_s * per_mille / 1000, fresh_s * (1 - JITTER * chance / 1000)
    assume(abs(age - ends) > 1e-6)
    judged = compute_freshness(terms, status, empty, 5000.0, 5000.0 + age, chance / 1000)
    assert judged.state == ("fresh" if age < ends else "expired")


def test_empty_answer_is_fresh_for_a_quarter_and_never_stale() -> None:
    assert [at(age, empty=True).state for age in (249, 250)] == ["fresh", "expired"]


def test_rejection_is_fresh_for_ten_minutes() -> None:
    ages = (REJECTED_FRESH_S - 1, REJECTED_FRESH_S)
    assert [at(age, status=400).state for age in ages] == ["fresh", "expired"]


def test_answer_beyond_clock_skew_in_the_future_is_expired() -> None:
    assert at(-CLOCK_SKEW_S).state == "fresh"
    assert at(-CLOCK_SKEW_S - 1).state == "expired"
