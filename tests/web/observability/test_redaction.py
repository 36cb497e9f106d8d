"""Redaction of secrets, plates and tokens in log texts."""

import base64
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.web.observability.redaction import Redactor

PLATES = st.from_regex(r"\A[A-Za-z]{3}-?[0-9][A-Za-z0-9][0-9]{2}\Z")
ISSUED = st.binary(min_size=32, max_size=32).map(
    lambda raw: base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
)
AROUND = st.sampled_from(
    ["{}", "/placa/{}", "GET /detran/v1/decode/{}?x=1", "'{}'", "ä {}.", "<{}>"]
)


@given(PLATES, AROUND)
def test_redactor_hides_plates(plate: str, around: str) -> None:
    assert plate not in Redactor()(around.format(plate))


@given(ISSUED, AROUND)
def test_redactor_hides_issued_tokens(token: str, around: str) -> None:
    assert token not in Redactor()(around.format(token))


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=60))
def test_redactor_hides_configured_secrets_in_every_encoding(secret: str) -> None:
    redact = Redactor((secret,))
    raw = secret.encode()
    for form in (
        secret,
        secret.lower(),
        quote(secret, safe=""),
        base64.b64encode(raw).decode(),
        base64.urlsafe_b64encode(raw).rstrip(b"=").decode(),
    ):
        assert form not in redact(f"a [{form}] b").replace("[hidden]", "")


@pytest.mark.parametrize(
    "text",
    [
        "Max retries: /detran/v1/decode/x?at=short (Caused by",
        "{'Authorization': 'short', 'Accept': '*/*'}",
        "header: Authorization: short",
        "Cookie: portal=short; b=c",
        "?next=%2Fplaca&at%3Dshort",
        "renavam 00123456789 short".replace("short", "at=short"),
        "renavam 0012345678-9, 0012345678%2D9",
        "renavam 0012345678–9, 0012345678%E2%80%939",
    ],
)
def test_redactor_hides_named_credentials(text: str) -> None:
    redacted = Redactor()(text)
    assert "short" not in redacted
    assert "0012345678" not in redacted


def test_redactor_keeps_ordinary_text() -> None:
    text = "store read failed: OperationalError after 12.5 ms at portal/gateway/store.py:131"
    assert Redactor()(text) == text
