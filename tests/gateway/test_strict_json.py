"""What two readers could understand differently is refused, and nothing else."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.gateway.strict_json import DEEPEST, NotStrictJSON, canonical, parse

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(values, st.booleans())
def test_what_json_writes_is_read_as_it_was_meant(value, ascii_only):
    assert parse(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@given(values)
def test_equal_values_have_one_spelling(value):
    assert parse(canonical(value)) == value
    assert canonical(parse(canonical(value))) == canonical(value)


def test_the_order_of_names_makes_no_difference_to_the_spelling():
    assert canonical({"b": 1, "a": [1, {"d": 2, "c": 3}]}) == b'{"a":[1,{"c":3,"d":2}],"b":1}'


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_in_one_way(text):
    with suppress(NotStrictJSON):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b'{"a": 1, "a": 2}',
        b'{"a": {"b": 1, "b": 1}}',
        b"[NaN]",
        b"[Infinity]",
        b"[-Infinity]",
        b"[1e999]",
        b"[" + b"7" * 5000 + b"]",
        b"[-" + b"7" * 5000 + b"]",
        b"[0." + b"7" * 5000 + b"]",
        rb'["\ud800"]',
        rb'{"\udc00": 1}',
        b'["\xff"]',
        '["é"]'.encode("latin-1"),
        b'\xef\xbb\xbf{"a": 1}',
        b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1),
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[] []",
        b"'a'",
    ],
    ids=lambda text: text[:12].decode("latin-1"),
)
def test_ambiguous_or_broken_text_is_refused(text):
    with pytest.raises(NotStrictJSON):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        b"[" * DEEPEST + b"]" * DEEPEST,
        b'["' + b"[" * 1000 + b'"]',
        rb'["\"[[[' + b"[" * 1000 + b'"]',
        rb'["\ud83d\ude97"]',
        b"[" + b"[],{}," * 500 + b"0]",
    ],
    ids=["as deep as may be", "brackets in a text", "a quote in it", "a pair", "wide"],
)
def test_odd_and_clear_text_is_read(text):
    assert parse(text) == json.loads(text)
