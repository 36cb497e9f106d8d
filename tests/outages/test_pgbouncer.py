"""A portal behind PgBouncer in transaction mode, under load."""

from collections import Counter

import pytest

from tests.effort import long
from tests.fakes import FaultUpstream, wait_until
from tests.fakes.answers import path_of
from tests.fakes.databases import PostgresProcess
from tests.fakes.in_process import PATIENT, PORTAL_TOKEN, managed
from tests.fakes.pgbouncer import PgBouncerProcess
from tests.fakes.processes import PortalProcess
from tests.outages.crowd import Ask, in_turn

pytestmark = pytest.mark.long

HEADER = {"Authorization": PORTAL_TOKEN}


@pytest.mark.parametrize("settings", [[], *long(["ignore_startup_parameters = options"])])
def test_lookups_behind_pgbouncer_are_answered_and_recorded(
    postgres: PostgresProcess, upstream: FaultUpstream, settings: list[str]
) -> None:
    with PgBouncerProcess(postgres, *settings) as bouncer:
        url = bouncer.address(postgres.new_database(), postgres)
        env = managed(upstream.url) | PATIENT | {"PORTAL_DATABASE_URL": url}
        with PortalProcess(env, workers=2) as server:
            token = server.command_line("token", "issue", "ana").stdout.split()[-1]
            credentials = ({"Authorization": token}, HEADER)
            asks = [
                Ask(
                    path_of("decode", f"{letter}BC{number // 100}D{number % 100:02}"),
                    credentials[number % 2],
                )
                for letter in "ABC"
                for number in range(300)
            ]
            answers = in_turn(server.port, asks, clients=48)
            assert Counter(answer.status for answer in answers) == {200: 900}
            assert upstream.count() == 900

            def outcomes() -> Counter[bool]:
                rows = server.command_line("ledger", "--csv").stdout.splitlines()[1:]
                return Counter("answered" in row for row in rows)

            wait_until(lambda: outcomes() == {True: 900}, "the outcomes")
