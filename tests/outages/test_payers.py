"""If callers send their own credentials, failures of one do not affect others."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.effort import long
from tests.fakes import FaultUpstream, faults
from tests.fakes.answers import path_of
from tests.fakes.in_process import pass_through
from tests.fakes.processes import PortalProcess
from tests.fakes.wire import After, Call, Fault, Wire
from tests.outages.crowd import Ask, in_turn, one, together

pytestmark = pytest.mark.long

WORKERS = 2
DAILY_LIMIT = 20
PLATES = [f"ABC1D{number:02}" for number in range(60)]


@pytest.fixture
def server(upstream: FaultUpstream) -> Iterator[PortalProcess]:
    settings = pass_through(upstream.url) | {"PORTAL_DAILY_CALL_LIMIT": str(DAILY_LIMIT)}
    with PortalProcess(settings, workers=WORKERS) as running:
        running.wait_for_workers()
        yield running


def except_for(exempt: str, fault: Fault) -> Fault:
    """Play the fault for every credential but ``exempt``, which gets a good answer."""

    def play(wire: Wire, call: Call) -> After:
        chosen = faults.good() if call.header("authorization") == exempt else fault
        return chosen.play(wire, call)

    return Fault(f"{fault}, but for {exempt}", play)


def asks(credential: Callable[[int], str], plates: list[str]) -> list[Ask]:
    return [
        Ask(path_of("decode", plate), {"Authorization": credential(number)})
        for number, plate in enumerate(plates)
    ]


def statuses_of_bia(server: PortalProcess) -> set[int]:
    """Send uncached lookups over enough connections to reach both workers."""
    uncached = asks(lambda _: "bia", [f"BIA1A{number:02}" for number in range(8)])
    return {one(server.port, ask).status for ask in uncached}


def test_429_pauses_only_its_caller(server: PortalProcess, upstream: FaultUpstream) -> None:
    upstream.default(except_for("bia", faults.status(429, retry_after="60")))
    path = path_of("decode")
    assert one(server.port, Ask(path, {"Authorization": "ana"})).status in (429, 503)
    calls = upstream.count()
    paused = [one(server.port, ask) for ask in asks(lambda _: "ana", PLATES[:8])]
    assert {answer.status for answer in paused} == {503}
    assert {int(answer.headers["retry-after"]) > 30 for answer in paused} == {True}
    assert upstream.count() == calls
    assert statuses_of_bia(server) == {200}


def test_500s_open_the_circuit_of_one_credential_only(
    server: PortalProcess, upstream: FaultUpstream
) -> None:
    upstream.default(except_for("bia", faults.status(500)))
    answers = [one(server.port, ask) for ask in asks(lambda _: "garbage", PLATES[:12])]
    assert [answer.status for answer in answers] == [502] * 5 + [503] * 7
    assert upstream.count() == 5
    assert statuses_of_bia(server) == {200}


@pytest.mark.parametrize(("status", "rounds"), [(429, 2), *long((429, 20), (500, 20))])
def test_faults_of_invented_credentials_do_not_block_others(
    upstream: FaultUpstream, status: int, rounds: int
) -> None:
    upstream.default(except_for("bia", faults.status(status, retry_after="60")))
    with PortalProcess(pass_through(upstream.url), workers=WORKERS) as server:
        crowd = asks(lambda number: f"garbage-{number}", PLATES * rounds)
        in_turn(server.port, crowd, clients=8)
        assert upstream.count() == len(crowd)
        assert statuses_of_bia(server) == {200}


def test_401s_do_not_count_against_the_daily_limit(
    server: PortalProcess, upstream: FaultUpstream
) -> None:
    upstream.default(except_for("bia", faults.status(401)))
    strangers = asks(lambda number: f"stranger-{number}", PLATES)
    assert {answer.status for answer in in_turn(server.port, strangers, 4)} <= {401, 503}
    assert statuses_of_bia(server) == {200}
    rows = server.command_line("ledger", "--csv").stdout.splitlines()
    assert len(rows) - 1 == upstream.count() > DAILY_LIMIT


def test_unverified_calls_in_flight_do_not_use_up_the_day(
    server: PortalProcess, upstream: FaultUpstream
) -> None:
    """While calls wait for a 401, a caller that got an answer today is served."""
    gate = threading.Event()
    upstream.default(except_for("bia", faults.held(gate, faults.status(401))))
    assert one(server.port, asks(lambda _: "bia", ["BIA1B00"])[0]).status == 200
    strangers = asks(lambda number: f"stranger-{number}", PLATES)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(together, server.port, strangers)
        try:
            upstream.wait_for_calls(3)
            assert statuses_of_bia(server) == {200}
        finally:
            gate.set()
        assert {answer.status for answer in waiting.result()} == {401, 503}


def test_cached_failure_is_not_shared_between_credentials(
    server: PortalProcess, upstream: FaultUpstream
) -> None:
    """All requests are concurrent, so both workers get requests of each credential."""
    upstream.default(except_for("bia", faults.slow_first_byte(0.3, faults.status(500))))
    path = path_of("decode", "ABC1D23")
    crowd = [Ask(path, {"Authorization": ("ana", "bia")[number % 2]}) for number in range(40)]
    answers = together(server.port, crowd)
    assert {answer.status for answer in answers[0::2]} == {502}
    assert {answer.status for answer in answers[1::2]} == {200}
    assert upstream.count() == 2
