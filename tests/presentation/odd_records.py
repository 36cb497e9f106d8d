"""Hypothesis strategies for malformed records, for the property tests of pages."""

from typing import Any

from hypothesis import strategies as st

from tests.factories import HIDDEN

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False)
    | st.text(max_size=12)
    | st.sampled_from(["", HIDDEN, "31/02/2024", "R$ 1.234,56", "99999999999999999", "-1"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)


def odd(record: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Generate copies of a record with arbitrary JSON in up to five fields."""
    fields = st.sampled_from(sorted(record))
    return st.dictionaries(fields, JSON, max_size=5).map(lambda changes: {**record, **changes})
