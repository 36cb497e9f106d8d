"""A portal in managed mode with prices, and the client that speaks to it."""

from collections.abc import Iterator

import pytest
from dossie_veicular_client import Client

from tests.fakes import FaultUpstream
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.fakes.processes import PortalProcess

PRICES = {
    "PORTAL_PRICE_DECODE": "0.5",
    "PORTAL_PRICE_RENAINF": "1",
    "PORTAL_PRICE_RENAJUD": "0.25",
    "PORTAL_PRICE_REPORT": "17",
}


@pytest.fixture
def served(upstream: FaultUpstream) -> Iterator[PortalProcess]:
    settings = managed(upstream.url) | PRICES | {"PORTAL_BATCH_LIMIT": "50"}
    with PortalProcess(settings, workers=1) as portal:
        yield portal


@pytest.fixture
def client(served: PortalProcess) -> Client:
    return Client(served.url, PORTAL_TOKEN)
