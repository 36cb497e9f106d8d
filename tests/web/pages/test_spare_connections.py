"""Connections to the upstream are opened in advance only for a visitor who asks for lookups."""

import pytest

from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, wait_until
from tests.fakes.answers import OPERATIONS, path_of
from tests.fakes.in_process import InProcessPortal
from tests.web.json_paths import PLATE
from tests.web.pages.test_spend_guard import NON_USER_HEADERS
from tests.web.person import Person


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    return portal()


def spare_connections(here: InProcessPortal) -> int:
    """Return the number of spare connections that are open or being opened."""
    return sum(map(len, here.parts.spares._spares.values()))


def test_page_shell_opens_a_connection_for_each_missing_lookup(
    here: InProcessPortal, upstream: FaultUpstream
) -> None:
    ana = Person.at(here).signed_in()
    ana.pages.get(f"/placa/{PLATE}")
    wait_until(lambda: upstream.connections_open == 3, "the connections")
    assert upstream.count() == 0
    for name in ("resumo", "multas"):
        ana.client.get(f"/placa/{PLATE}/painel/{name}")
    assert upstream.count() == 3
    assert {call.connection for call in upstream.calls} == {1, 2, 3}


@pytest.mark.parametrize("stored", [1, 3])
def test_page_shell_opens_none_for_stored_answers(
    portal: PortalFactory, upstream: FaultUpstream, stored: int
) -> None:
    before = portal(UPSTREAM_SPARES="0")
    for operation in OPERATIONS[:stored]:
        assert before.get(path_of(operation, PLATE)).status_code == 200
    assert upstream.connections_accepted == stored
    here = portal()
    Person.at(here).signed_in().pages.get(f"/placa/{PLATE}")
    assert spare_connections(here) == 3 - stored


def test_nobody_else_opens_a_connection(here: InProcessPortal, upstream: FaultUpstream) -> None:
    """Neither strangers, nor visitors who have not asked for a lookup, nor bots and prefetches."""
    ana, stranger = Person.at(here).signed_in(), here.client
    for path in ("/", "/entrar", "/api", "/glossario", f"/buscar?q={PLATE}", f"/placa/{PLATE}"):
        stranger.get(path)
    for path in ("/", "/historico", "/lote", f"/buscar?q={PLATE}", f"/placa/{PLATE}/negociacao"):
        ana.client.get(path)
    for headers in NON_USER_HEADERS.values():
        ana.client.get(f"/placa/{PLATE}", headers=headers)
    for method in ("HEAD", "OPTIONS"):
        ana.client.open(f"/placa/{PLATE}", method=method)
        here.client.open(path_of("decode", PLATE), method=method)
    here.get(path_of("decode", PLATE), headers={"Cache-Control": "only-if-cached"})
    here.get(path_of("decode", PLATE), token="unknown")
    assert spare_connections(here) == 0
    assert not upstream.connections_accepted


def test_dead_upstream_costs_a_page_shell_nothing(
    here: InProcessPortal, upstream: FaultUpstream
) -> None:
    """A failed opening opens no breaker, and writes no row."""
    ana = Person.at(here).signed_in()
    upstream.stop()
    for number in range(10):
        ana.pages.get(f"/placa/ABC1D{number:02}")
    metrics = here.get("/metrics").text
    assert 'portal_breaker_state{base="primary",state="closed"} 1.0' in metrics
    assert not list(here.parts.ledger.rows())
