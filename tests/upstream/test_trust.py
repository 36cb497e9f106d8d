"""TLS verification of the upstream, and its cost."""

import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme

from portal.upstream.errors import NotSent
from portal.upstream.trust import trusted
from tests.fakes import FaultUpstream
from tests.fakes.answers import OPERATIONS
from tests.fakes.tls import certified, trusting
from tests.upstream.lookups import RecordingAccount, deadline_in, origin, resource

SERVER_CONTEXTS: dict[str, Callable[[], ssl.SSLContext | None]] = {
    "plain HTTP": lambda: None,
    "an unknown authority": lambda: certified(by=trustme.CA()),
    "another host name": lambda: certified("elsewhere.example"),
    "an expired certificate": lambda: certified(until=datetime.now(UTC) - timedelta(days=1)),
}


@pytest.mark.upstream
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("case", SERVER_CONTEXTS)
def test_unverified_server_receives_nothing(tmp_path: Path, case: str, operation: str) -> None:
    account = RecordingAccount()
    with trusting(tmp_path), FaultUpstream(tls=SERVER_CONTEXTS[case]()) as other:
        with pytest.raises(NotSent):
            origin(other.tls_url).send(resource(operation), account, deadline_in(30))
        assert other.count() == 0
    assert account.outcomes == ["not_sent"]


@pytest.mark.upstream
def test_authorities_are_loaded_once_for_all_connections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loading the authorities costs 17 ms of processor time and 0.25 MB of memory."""
    read: list[None] = []
    load = ssl.SSLContext.load_verify_locations
    monkeypatch.setattr(
        ssl.SSLContext, "load_verify_locations", lambda *given: read.append(load(*given))
    )
    with trusting(tmp_path), FaultUpstream(tls=certified()) as upstream:
        client = origin(upstream.url)
        for _ in range(3):
            client.send(resource(), RecordingAccount(), deadline_in(30))
        assert upstream.connections_made == 3
    assert len(read) == 1


def test_shared_context_verifies_chain_and_host_name() -> None:
    context = trusted()
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert not context.hostname_checks_common_name
    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2
