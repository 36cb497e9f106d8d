"""Strict JSON: ambiguous texts are rejected, all others are parsed."""

import json
from contextlib import suppress
from decimal import Decimal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from portal.gateway.strict_json import (
    LONGEST_NUMBER,
    MAX_DEPTH,
    NotStrictJSON,
    Walk,
    canonical,
    parse,
    parse_exact,
)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


def walked(text: bytes) -> None:
    """Validate the text without keeping its values."""
    walk = Walk(text)
    walk.skip()
    walk.end()


@settings(deadline=None)
@given(values, st.booleans())
def test_json_dumps_output_round_trips(value: object, ascii_only: bool) -> None:
    assert parse(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@settings(deadline=None)
@given(values)
def test_equal_values_have_one_canonical_text(value: object) -> None:
    read = parse_exact(json.dumps(value).encode())
    assert parse_exact(canonical(read)) == read
    assert canonical(value) == canonical(read) == canonical(parse_exact(canonical(read)))


def test_name_order_does_not_change_canonical_text() -> None:
    assert canonical({"b": 1, "a": [1, {"d": 2, "c": 3}]}) == b'{"a":[1,{"c":3,"d":2}],"b":1}'


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_parsed_or_raise_not_strict_json(text: bytes) -> None:
    with suppress(NotStrictJSON):
        parse(text)


# JSON with an error, such as a missing comma, a duplicate name or a lone surrogate
nearly_json = st.lists(
    st.sampled_from(["{", "}", "[", "]", ",", ":", '"a"', '"b"', r'"\ud800"', " ", "\t", "1", "-"]),
    max_size=9,
).map("".join)


@settings(deadline=None, max_examples=500)
@given(nearly_json)
@example('{"a" : [1 , {}] , "b":"a"} ')
@example('{"a":1,"a":2}')
@example('{"a":1,}')
@example("[1,]")
def test_walk_validates_as_the_parser_does(text: str) -> None:
    read: list[bool] = []
    for parser in (parse, walked):
        try:
            parser(text.encode())
            read.append(True)
        except NotStrictJSON:
            read.append(False)
    assert read[0] == read[1]


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
        b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1),
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[] []",
        b"'a'",
    ],
    ids=lambda text: text[:12].decode("latin-1"),
)
def test_ambiguous_or_broken_text_is_rejected(text: bytes) -> None:
    for parser in (parse, walked):
        with pytest.raises(NotStrictJSON):
            parser(text)


@pytest.mark.parametrize(
    "text",
    [
        b"[" * MAX_DEPTH + b"]" * MAX_DEPTH,
        b'["' + b"[" * 1000 + b'"]',
        rb'["\"[[[' + b"[" * 1000 + b'"]',
        rb'["\ud83d\ude97"]',
        b"[" + b"[],{}," * 500 + b"0]",
    ],
    ids=["as deep as may be", "brackets in a text", "a quote in it", "a pair", "wide"],
)
def test_unusual_but_unambiguous_text_is_parsed(text: bytes) -> None:
    assert parse(text) == json.loads(text)
    walked(text)


# The parser computes the depth only of a text with more than MAX_DEPTH brackets.
_MANY = b"{}," * MAX_DEPTH
hostile_texts = st.text('[]{}"\\\\x', max_size=8).map(json.dumps).map(str.encode)


@settings(deadline=None)
@given(st.lists(hostile_texts, min_size=1, max_size=4))
def test_brackets_in_strings_do_not_count_as_nesting(texts: list[bytes]) -> None:
    inner = _MANY + b",".join(texts)
    deepest = b"[" * MAX_DEPTH + inner.replace(b"{},", b"") + b"]" * MAX_DEPTH
    for text in (b"[" + inner + b"]", deepest):
        assert parse(text) == json.loads(text)
    with pytest.raises(NotStrictJSON):
        parse(b"[" + deepest + b"]")


def canonical_of(number: str) -> bytes:
    return canonical(parse_exact(number.encode()))


@settings(deadline=None)
@given(
    st.decimals(allow_nan=False, allow_infinity=False, places=None).filter(
        lambda number: not number or abs(number.adjusted()) < LONGEST_NUMBER
    ),
    st.integers(min_value=0, max_value=40),
)
def test_exact_number_round_trips_with_one_canonical_text(number: Decimal, zeros: int) -> None:
    text = str(number)
    once = canonical_of(text)
    assert Decimal(once.decode()) == number
    mantissa, _, exponent = text.partition("E")
    longer = mantissa + ("0" if "." in mantissa else ".0") + "0" * zeros
    assert canonical_of(longer + (f"E{exponent}" if exponent else "")) == once
    assert canonical_of(f"{mantissa}e{int(exponent or 0):+}") == once


@pytest.mark.parametrize(
    ("texts", "spelling"),
    [
        (("1", "1.0", "1E0", "10e-1", "0.1E+1"), b"1"),
        (("100", "1E2", "1e+2", "100.00"), b"100"),
        (("0", "-0", "0.0", "-0.0E7", "0e999999999", "-0e-999999999"), b"0"),
        (("-2.50", "-25E-1"), b"-2.5"),
        (("9007199254740993", "9007199254740993.0"), b"9007199254740993"),
        (("1" + "0" * 20, "1e20"), b"1E+20"),
        (("18446744073709551615", "18446744073709551615.0"), b"18446744073709551615"),
        (("-1e18", "-1000000000000000000"), b"-1000000000000000000"),
        (("1e-400", "0.1e-399"), b"1E-400"),
    ],
    ids=lambda case: case[0] if isinstance(case, tuple) else "",
)
def test_equal_numbers_have_one_canonical_text(texts: tuple[str, ...], spelling: bytes) -> None:
    assert {canonical_of(text) for text in texts} == {spelling}


def test_numbers_equal_as_doubles_stay_distinct() -> None:
    assert canonical_of("12345678901234567890.25") != canonical_of("12345678901234567890.75")
    assert canonical_of("1e-400") != canonical_of("0.0")
    assert canonical([0.1, 1.0]) == b"[0.1,1]"


@pytest.mark.parametrize(
    "text",
    [
        *("1e999", "1e999999999", "-1E-999999999", "1e999999999999999999", "9" * 500),
        *("1e99999999999999999999999", "0e99999999999999999999999", "0." + "0" * 500 + "1"),
        "1" + "0" * 300 + "e300",
    ],
    ids=lambda text: text[:14],
)
def test_number_beyond_bounds_is_rejected_before_expansion(text: str) -> None:
    with pytest.raises(NotStrictJSON):
        parse_exact(f'{{"a": [{text}]}}'.encode())


def test_canonical_text_is_about_as_long_as_the_input() -> None:
    text = b"[" + b",".join([b"1e400", b"1e-400", b"-1.5e+99"] * 1000) + b"]"
    assert len(canonical(parse_exact(text))) <= 2 * len(text)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), Decimal("NaN")])
def test_canonical_rejects_non_json_numbers(number: Decimal | float) -> None:
    with pytest.raises(ValueError, match="no such number"):
        canonical([number])
