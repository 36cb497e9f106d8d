"""One leader asks, everybody else waits for what it brings, and nobody pays in turn."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from portal.gateway import Directive, Failure
from tests import factories
from tests.fakes import wait_until
from tests.gateway.gateways import FRESH_S, PlayedUpstream, bench, failing, outcome


def together(count: int, ask) -> list[str]:
    with ThreadPoolExecutor(count) as pool:
        return [each.result() for each in [pool.submit(outcome, ask) for _ in range(count)]]


def test_identical_lookups_cost_one_call_and_all_get_its_bytes(tmp_path, clock):
    gate = threading.Event()
    made = bench(tmp_path, clock, PlayedUpstream(gate=gate))
    with ThreadPoolExecutor(40) as pool:
        asked = [pool.submit(made.decode) for _ in range(40)]
        wait_until(lambda: made.upstream.calls, "the call")
        time.sleep(0.05)
        gate.set()
        served = [each.result() for each in asked]
    assert len(made.upstream.calls) == 1
    assert sorted({each.cache_status for each in served} - {"hit"}) == ["collapsed", "miss"]
    assert {each.body for each in served} == {factories.decode_body("ABC1D23")}


def test_a_leaders_failure_is_everybodys_and_nobody_repeats_it(tmp_path, clock):
    gate = threading.Event()
    made = bench(tmp_path, clock, PlayedUpstream(answer=failing(), gate=gate))
    with ThreadPoolExecutor(40) as pool:
        asked = [pool.submit(outcome, made.decode) for _ in range(40)]
        wait_until(lambda: made.upstream.calls, "the call")
        gate.set()
        assert {each.result() for each in asked} == {"bad_answer"}
    assert len(made.upstream.calls) == 1


def test_gateways_of_several_processes_ask_once(tmp_path, clock):
    """Two gateways share nothing but the folder."""
    gate, upstream = threading.Event(), PlayedUpstream()
    upstream.gate = gate
    one, other = bench(tmp_path, clock, upstream), bench(tmp_path, clock, upstream)
    with ThreadPoolExecutor(20) as pool:
        asked = [pool.submit(each.decode) for each in (one, other) for _ in range(10)]
        wait_until(lambda: upstream.calls, "the call")
        gate.set()
        served = [each.result() for each in asked]
    assert len(upstream.calls) == 1
    assert {each.status for each in served} == {200}


def test_an_answer_of_another_process_is_seen_though_the_memory_holds_a_stale_one(tmp_path, clock):
    """The memory is believed for a second; who is about to pay looks into the store."""
    one, other = bench(tmp_path, clock), bench(tmp_path, clock)
    one.decode()
    clock.advance(FRESH_S)
    assert other.decode().cache_status == "miss"
    one.memory.put(one.memory.get_stale(next(iter(one.memory._entries))).envelope, None)
    assert one.decode().cache_status == "collapsed"
    assert len(one.upstream.calls) + len(other.upstream.calls) == 2


def test_a_failure_in_another_process_is_shared(tmp_path, clock):
    one = bench(tmp_path, clock, PlayedUpstream(answer=failing()))
    other = bench(tmp_path, clock, PlayedUpstream(answer=failing()))
    assert (outcome(one.decode), outcome(other.decode)) == ("bad_answer", "bad_answer")
    assert len(one.upstream.calls) + len(other.upstream.calls) == 1


def test_equal_refreshes_collapse(tmp_path, clock):
    gate = threading.Event()
    made = bench(tmp_path, clock, PlayedUpstream(gate=gate))
    with ThreadPoolExecutor(10) as pool:
        asked = [pool.submit(lambda: made.decode(directive=Directive.REFRESH)) for _ in range(10)]
        wait_until(lambda: made.upstream.calls, "the call")
        time.sleep(0.05)
        gate.set()
        served = [each.result() for each in asked]
    assert len(made.upstream.calls) == 1
    assert {each.cache_status for each in served} <= {"request", "collapsed", "hit"}


def test_a_waiter_keeps_its_own_deadline_and_never_asks_itself(tmp_path, clock):
    """nginx lets all waiters through after a while: here nobody passes."""
    gate = threading.Event()
    upstream = PlayedUpstream(gate=gate)
    patient = bench(tmp_path, clock, upstream)
    hasty = bench(tmp_path, clock, upstream, deadline_s=0.2)
    with ThreadPoolExecutor(1) as pool:
        leader = pool.submit(patient.decode)
        wait_until(lambda: upstream.calls, "the call")
        assert together(5, hasty.decode) == ["too_slow"] * 5
        gate.set()
        assert leader.result().status == 200
    assert len(upstream.calls) == 1


def test_a_fault_of_our_own_after_the_call_is_not_repeated_by_the_waiters(
    tmp_path, clock, monkeypatch
):
    gate = threading.Event()
    made = bench(tmp_path, clock, PlayedUpstream(gate=gate))
    monkeypatch.setattr(made.gateway, "_store_answer", lambda *_: 1 / 0)
    with ThreadPoolExecutor(10) as pool:
        asked = [pool.submit(made.decode) for _ in range(10)]
        wait_until(lambda: made.upstream.calls, "the call")
        time.sleep(0.1)
        gate.set()
        errors = {type(each.exception()) for each in asked}
    assert len(made.upstream.calls) == 1
    assert errors == {ZeroDivisionError, Failure}


# The store fails


def test_a_store_that_takes_nothing_costs_no_answer_and_no_second_call(tmp_path, clock, caplog):
    """Disk full: the paid answer reaches its caller and stays at hand in the process."""
    made = bench(tmp_path, clock)
    made.decode("DEF4G56")
    made.backend.replace = lambda *_, **__: (_ for _ in ()).throw(OSError("disk full"))
    first = made.decode()
    assert (first.status, first.stored) == (200, False)
    made.forget_belief()
    assert made.decode().cache_status == "hit"
    assert len(made.upstream.calls) == 2


def test_a_store_that_is_away_costs_no_request(tmp_path, clock):
    class Away:
        def __getattr__(self, name):
            raise ConnectionError("away")

    made = bench(tmp_path, clock, backend=Away())
    assert made.decode().cache_status == "miss"
    made.forget_belief()
    assert made.decode().cache_status == "hit"
    assert not bench(tmp_path, clock, backend=Away()).store.is_up()
    assert made.store.is_up()
