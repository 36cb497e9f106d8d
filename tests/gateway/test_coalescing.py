"""Coalescing: one leader calls the upstream, followers share its result."""

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Never

import pytest

from portal.gateway.lookup import Failure, Served, Spend
from tests import factories
from tests.fakes import Clock, wait_until
from tests.gateway.gateways import (
    CALLER,
    FRESH_S,
    Bench,
    StubUpstream,
    bench,
    decode,
    failing,
    outcome,
)


def together(count: int, ask: Callable[[], Served]) -> list[str]:
    with ThreadPoolExecutor(count) as pool:
        return [each.result() for each in [pool.submit(outcome, ask) for _ in range(count)]]


def wait_for_followers(made: Bench, count: int) -> None:
    """Wait until ``count`` threads wait for the leader's result."""

    def waiting() -> int:
        flights = list(made.gateway._single_flight._flights.values())
        return sum(len(each._condition._waiters) for each in flights)  # type: ignore[attr-defined, misc]

    wait_until(lambda: waiting() == count, f"{count} followers")


def test_identical_lookups_share_one_call(tmp_path: Path, clock: Clock) -> None:
    gate = threading.Event()
    made = bench(tmp_path, clock, StubUpstream(gate=gate))
    with ThreadPoolExecutor(40) as pool:
        asked = [pool.submit(made.decode) for _ in range(40)]
        wait_for_followers(made, 39)
        gate.set()
        served = [each.result() for each in asked]
    assert len(made.upstream.calls) == 1
    assert Counter(each.cache_status for each in served) == {"miss": 1, "collapsed": 39}
    assert {each.body for each in served} == {factories.decode_body("ABC1D23")}


def test_leader_failure_is_shared_and_not_repeated(tmp_path: Path, clock: Clock) -> None:
    gate = threading.Event()
    made = bench(tmp_path, clock, StubUpstream(answer=failing(), gate=gate))
    with ThreadPoolExecutor(40) as pool:
        asked = [pool.submit(outcome, made.decode) for _ in range(40)]
        wait_for_followers(made, 39)
        gate.set()
        assert {each.result() for each in asked} == {"bad_answer"}
    assert len(made.upstream.calls) == 1


def test_gateways_of_several_processes_make_one_call(tmp_path: Path, clock: Clock) -> None:
    """The two gateways share only the folder."""
    gate, upstream = threading.Event(), StubUpstream()
    upstream.gate = gate
    one, other = bench(tmp_path, clock, upstream), bench(tmp_path, clock, upstream)
    with ThreadPoolExecutor(20) as pool:
        asked = [pool.submit(each.decode) for each in (one, other) for _ in range(10)]
        wait_until(lambda: upstream.calls, "the call")
        gate.set()
        served = [each.result() for each in asked]
    assert len(upstream.calls) == 1
    assert {each.status for each in served} == {200}


def test_leader_bypasses_local_cache(tmp_path: Path, clock: Clock) -> None:
    """Another process's answer is found although the local cache holds a stale one."""
    one, other = bench(tmp_path, clock), bench(tmp_path, clock)
    one.decode()
    clock.advance(FRESH_S)
    before = one.gateway.read(decode(), CALLER)
    assert before.answer is not None
    assert other.decode().cache_status == "miss"
    one.memory.put(before.answer)
    assert one.gateway.fetch(decode(), CALLER, snapshot=before).cache_status == "collapsed"
    one.memory.put(before.answer)
    assert one.decode().cache_status == "hit"
    assert len(one.upstream.calls) + len(other.upstream.calls) == 2


def test_failure_in_another_process_is_shared(tmp_path: Path, clock: Clock) -> None:
    one = bench(tmp_path, clock, StubUpstream(answer=failing()))
    other = bench(tmp_path, clock, StubUpstream(answer=failing()))
    assert (outcome(one.decode), outcome(other.decode)) == ("bad_answer", "bad_answer")
    assert len(one.upstream.calls) + len(other.upstream.calls) == 1


def test_concurrent_refreshes_are_coalesced(tmp_path: Path, clock: Clock) -> None:
    gate = threading.Event()
    made = bench(tmp_path, clock, StubUpstream(gate=gate))
    with ThreadPoolExecutor(10) as pool:
        asked = [pool.submit(lambda: made.decode(directive=Spend.AGAIN)) for _ in range(10)]
        wait_for_followers(made, 9)
        gate.set()
        served = [each.result() for each in asked]
    assert len(made.upstream.calls) == 1
    assert Counter(each.cache_status for each in served) == {"request": 1, "collapsed": 9}


def test_follower_times_out_without_calling_upstream(tmp_path: Path, clock: Clock) -> None:
    """The time-out must not send the waiting lookup upstream, as nginx would do."""
    gate = threading.Event()
    upstream = StubUpstream(gate=gate)
    patient = bench(tmp_path, clock, upstream)
    hasty = bench(tmp_path, clock, upstream, deadline_s=0.2)
    with ThreadPoolExecutor(1) as pool:
        leader = pool.submit(patient.decode)
        wait_until(lambda: upstream.calls, "the call")
        assert together(5, hasty.decode) == ["too_slow"] * 5
        gate.set()
        assert leader.result().status == 200
    assert len(upstream.calls) == 1


def test_internal_error_after_call_is_not_repeated_by_followers(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    made = bench(tmp_path, clock, StubUpstream(gate=gate))
    monkeypatch.setattr(made.gateway, "retention_s", lambda *_: 1 / 0)
    with ThreadPoolExecutor(10) as pool:
        asked = [pool.submit(made.decode) for _ in range(10)]
        wait_for_followers(made, 9)
        gate.set()
        errors = Counter(type(each.exception()) for each in asked)
    assert len(made.upstream.calls) == 1
    assert errors == {ZeroDivisionError: 1, Failure: 9}


# Failures of the store


def test_failed_write_loses_no_answer_and_causes_no_second_call(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk, the paid answer is returned and stays in the local cache."""
    made = bench(tmp_path, clock)
    made.decode("DEF4G56")

    def refuse(*_: object) -> bool:
        raise OSError("disk full")

    monkeypatch.setattr(made.backend, "replace", refuse)
    first = made.decode()
    assert (first.status, first.stored) == (200, False)
    made.expire_local_cache()
    assert made.decode().cache_status == "hit"
    assert len(made.upstream.calls) == 2


def test_unavailable_store_fails_no_request(tmp_path: Path, clock: Clock) -> None:
    class Unavailable:
        def __getattr__(self, name: str) -> Never:
            raise ConnectionError("unavailable")

    made = bench(tmp_path, clock, backend=Unavailable())
    assert made.decode().cache_status == "miss"
    made.expire_local_cache()
    assert made.decode().cache_status == "hit"
    assert not bench(tmp_path, clock, backend=Unavailable()).store.is_up()
    assert made.store.is_up()
