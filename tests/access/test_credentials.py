"""Reading the credential of a request from its headers or its query."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.system.caller_credentials import NoCredential, is_token, read_credential

PRINTABLE = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=40)


@pytest.mark.parametrize(
    ("headers", "query", "credential"),
    [
        (["abc"], b"", "abc"),
        ([], b"at=abc", "abc"),
        (["abc"], b"at=abc", "abc"),
        (["abc"], b"x=1&at=abc&y", "abc"),
        ([], b"at=a%2Fb%2B%3D", "a/b+="),
        (["abc"], b"AT=other&at2=x&%20at=y", "abc"),
        (["a" * 4096], b"", "a" * 4096),
    ],
)
def test_single_credential_is_read(headers: list[str], query: bytes, credential: str) -> None:
    assert read_credential(headers, query) == credential


@pytest.mark.parametrize(
    ("headers", "query"),
    [
        ([], b""),
        ([""], b""),
        ([], b"at="),
        ([], b"at"),
        (["abc"], b"at="),
        ([""], b"at=abc"),
        (["abc"], b"at=abd"),
        (["abc", "abc"], b""),
        ([], b"at=abc&at=abc"),
        ([], b"at=abc&%61t=abc"),
        (["Bearer abc"], b""),
        (["abc,abc"], b""),
        (["a" * 4097], b""),
        (["\x7f"], b""),
        (["é"], b""),
        ([], "at=é".encode()),
        ([], b"at=%C3%A9"),
        ([], b"at=%FF"),
        ([], b"at=\xff"),
        ([], b"at=a+b"),
        ([], b"at=%00"),
    ],
)
def test_missing_repeated_or_malformed_is_rejected(headers: list[str], query: bytes) -> None:
    with pytest.raises(NoCredential):
        read_credential(headers, query)


@given(st.lists(st.text(max_size=8), max_size=3), st.binary(max_size=60))
def test_arbitrary_input_yields_a_token_or_no_credential(headers: list[str], query: bytes) -> None:
    try:
        credential = read_credential(headers, query)
    except NoCredential:
        return
    assert is_token(credential)


@given(PRINTABLE)
def test_token_is_returned_unchanged(token: str) -> None:
    if "," in token:
        assert not is_token(token)
    else:
        assert read_credential([token], b"") == token
