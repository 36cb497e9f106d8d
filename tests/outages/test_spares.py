"""Spare connections of a running server: closed within 4 s, and as soon as it is about to stop."""

import os
import signal
import time

from tests.fakes import FaultUpstream, wait_until
from tests.fakes.answers import path_of
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.fakes.processes import PortalProcess
from tests.outages.crowd import Ask, one

HEADER = {"Authorization": PORTAL_TOKEN}


def miss(server: PortalProcess, plate: str) -> None:
    assert one(server.port, Ask(path_of("decode", plate), HEADER)).status == 200


def test_spare_connection_lives_four_seconds_at_most(upstream: FaultUpstream) -> None:
    with PortalProcess(managed(upstream.url)) as server:
        miss(server, "ABC1D23")
        wait_until(lambda: upstream.connections_open == 1, "the spare connection")
        opened_at = time.monotonic()
        wait_until(lambda: not upstream.connections_open, "its end")
        assert time.monotonic() - opened_at < 10  # 4 s on a quiet machine
        assert upstream.connections_accepted == 2
        rows = server.command_line("ledger", "--csv").stdout.splitlines()[1:]
        assert len(rows) == upstream.count() == 1


def test_draining_server_has_no_spare_connection(upstream: FaultUpstream) -> None:
    settings = {**managed(upstream.url), "PORTAL_DRAIN_SECONDS": "30"}
    with PortalProcess(settings, workers=1) as server:
        miss(server, "ABC1D23")
        wait_until(lambda: upstream.connections_open == 1, "the spare connection")
        os.kill(server.pid, signal.SIGTERM)
        wait_until(lambda: server.get("/readyz").status_code == 503, "the announcement")
        wait_until(lambda: not upstream.connections_open, "the end of the spare connection")
        before = upstream.connections_accepted
        miss(server, "ABC1D24")
        miss(server, "ABC1D25")
        assert upstream.connections_accepted == before + 2
