"""What a failure tells, and what it never does: its text ends in logs."""

import pytest
import trustme

from portal.upstream import Failing, UpstreamError
from tests.fakes import UNKNOWN_NAME_URL, FaultUpstream, faults, refused_url
from tests.fakes.matrix import BROKEN
from tests.fakes.tls import certified
from tests.upstream.lookups import Notes, origin, resource, soon


def test_no_failure_names_the_plate_the_token_or_the_address(upstream):
    asked = origin(upstream.url)
    for row in BROKEN:
        upstream.once("/", row.fault)
        with pytest.raises(UpstreamError) as caught:
            asked.send(resource(credential="s3cret"), Notes(), soon(30))
        told = f"{caught.value!r} {caught.value.__cause__ is None} {caught.value}"
        assert not any(word in told for word in ("ABC1D23", "s3cret", "127.0.0.1", "detran"))
        assert str(upstream.port) not in told


def test_a_5xx_carries_its_status(upstream):
    upstream.once("/", faults.status(502))
    with pytest.raises(Failing) as caught:
        origin(upstream.url).send(resource(), Notes(), soon(30))
    assert caught.value.status == 502


def test_an_operator_reads_why_a_call_failed_and_nothing_of_it(upstream, tmp_path, caplog):
    """A wrong name, port or certificate in the settings is told by its kind."""
    upstream.once("/", faults.closed_before_a_byte())
    for url in (UNKNOWN_NAME_URL, refused_url(), upstream.url):
        with pytest.raises(UpstreamError):
            origin(url).send(resource(), Notes(), soon(30))
    for tls in (certified(by=trustme.CA()), certified("elsewhere.example"), None):
        with FaultUpstream(tls=tls) as other, pytest.raises(UpstreamError):
            origin(other.tls_url).send(resource(), Notes(), soon(30))
    upstream.once("/", faults.status(401))
    origin(upstream.url).send(resource(), Notes(), soon(30))
    told = [message.removeprefix("primary: could not connect: ") for message in caplog.messages]
    assert told[:2] == ["gaierror", "ConnectionRefusedError, ECONNREFUSED"]
    assert told[2] == "primary: closed before an answer"
    assert told[3].startswith("SSLCertVerificationError, unable to get local issuer")
    assert told[4] == "SSLCertVerificationError, IP address mismatch"
    assert told[5].startswith("SSL")
    assert told[6] == "primary: status 401"
