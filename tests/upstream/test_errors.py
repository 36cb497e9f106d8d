"""Error texts are logged, so they name the kind of failure and no personal data."""

from pathlib import Path

import pytest
import trustme

from portal.upstream.errors import Failing, UpstreamError
from tests.fakes import UNKNOWN_NAME_URL, FaultUpstream, faults, refused_url
from tests.fakes.matrix import BROKEN
from tests.fakes.tls import certified
from tests.upstream.lookups import RecordingAccount, deadline_in, origin, resource


def test_error_texts_hold_no_plate_token_or_address(upstream: FaultUpstream) -> None:
    client = origin(upstream.url)
    for row in BROKEN:
        upstream.once("/", row.fault)
        with pytest.raises(UpstreamError) as caught:
            client.send(resource(credential="s3cret"), RecordingAccount(), deadline_in(30))
        text = f"{caught.value!r} {caught.value.__cause__ is None} {caught.value}"
        assert not any(word in text for word in ("ABC1D23", "s3cret", "127.0.0.1", "detran"))
        assert str(upstream.port) not in text


def test_failing_error_carries_5xx_status(upstream: FaultUpstream) -> None:
    upstream.once("/", faults.status(502))
    with pytest.raises(Failing) as caught:
        origin(upstream.url).send(resource(), RecordingAccount(), deadline_in(30))
    assert caught.value.status == 502


def test_log_names_kind_of_failure_only(
    upstream: FaultUpstream, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A wrong name, port or certificate in the settings can be recognised in the log."""
    upstream.once("/", faults.closed_before_a_byte())
    for url in (UNKNOWN_NAME_URL, refused_url(), upstream.url):
        with pytest.raises(UpstreamError):
            origin(url).send(resource(), RecordingAccount(), deadline_in(30))
    for tls in (certified(by=trustme.CA()), certified("elsewhere.example"), None):
        with FaultUpstream(tls=tls) as other, pytest.raises(UpstreamError):
            origin(other.tls_url).send(resource(), RecordingAccount(), deadline_in(30))
    upstream.once("/", faults.status(401))
    origin(upstream.url).send(resource(), RecordingAccount(), deadline_in(30))
    text = [message.removeprefix("primary: could not connect: ") for message in caplog.messages]
    assert text[:2] == ["gaierror", "ConnectionRefusedError, ECONNREFUSED"]
    assert text[2] == "primary: closed before an answer"
    assert text[3].startswith("SSLCertVerificationError, unable to get local issuer")
    assert text[4] == "SSLCertVerificationError, IP address mismatch"
    assert text[5].startswith("SSL")
    assert text[6] == "primary: status 401"
