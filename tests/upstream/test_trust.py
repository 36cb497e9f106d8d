"""Over TLS a call leaves only for whoever proves the name, and that costs little."""

import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
import trustme

from portal.upstream import NotSent
from portal.upstream.trust import trusted
from tests.fakes import FaultUpstream
from tests.fakes.answers import OPERATIONS
from tests.fakes.tls import certified, trusting
from tests.upstream.lookups import Notes, origin, resource, soon

SHOWN: dict[str, Callable[[], ssl.SSLContext | None]] = {
    "plain HTTP": lambda: None,
    "an authority that nobody knows": lambda: certified(by=trustme.CA()),
    "another's name": lambda: certified("elsewhere.example"),
    "an end in the past": lambda: certified(until=datetime.now(UTC) - timedelta(days=1)),
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("shown", SHOWN)
def test_nothing_leaves_for_whoever_cannot_prove_the_name(tmp_path, shown, operation):
    notes = Notes()
    with trusting(tmp_path), FaultUpstream(tls=SHOWN[shown]()) as other:
        with pytest.raises(NotSent):
            origin(other.tls_url).send(resource(operation), notes, soon(30))
        assert other.count() == 0
    assert notes.outcomes == ["not_sent"]


def test_the_authorities_are_read_once_for_all_connections(tmp_path, monkeypatch):
    """17 ms of a processor and a quarter of a megabyte for each, before."""
    read = []
    load = ssl.SSLContext.load_verify_locations
    monkeypatch.setattr(
        ssl.SSLContext, "load_verify_locations", lambda *given: read.append(load(*given))
    )
    with trusting(tmp_path), FaultUpstream(tls=certified()) as upstream:
        asked = origin(upstream.url)
        for _ in range(3):
            asked.send(resource(), Notes(), soon(30))
        assert upstream.connections_made == 3
    assert len(read) == 1


def test_the_shared_context_verifies_chain_and_name():
    context = trusted()
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert not context.hostname_checks_common_name
    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2
