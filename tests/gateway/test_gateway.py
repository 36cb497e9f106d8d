"""Hit, miss, stale, collapsed: what is paid for once, kept, and never mistaken."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from portal.gateway import RENAINF, REPORT, Caller, Directive, Failure, Lookup
from portal.gateway.strict_json import canonical
from portal.upstream import CircuitOpen, NotSent, Response, TimedOut, Unusable
from portal.vehicle import Plate
from tests import factories
from tests.fakes import wait_until
from tests.gateway.asking import (
    CALLER,
    FRESH_S,
    STALE_S,
    Bench,
    PlayedUpstream,
    bench,
    decode,
    failing,
)


@pytest.fixture
def made(tmp_path, clock) -> Bench:
    return bench(tmp_path, clock)


def outcome(ask) -> str:
    """ "hit" and the like, or the kind of the failure."""
    try:
        return ask().cache_status
    except Failure as failure:
        return failure.kind


def rejection(message: str = "Por favor, informe uma placa válida.") -> Response:
    return Response(400, factories.message_body(message), "primary")


# What is remembered


def test_the_second_lookup_is_a_hit_with_the_upstreams_own_bytes(made):
    first, second = made.decode(), made.decode()
    assert (first.cache_status, second.cache_status) == ("miss", "hit")
    assert first.body == second.body == factories.decode_body("ABC1D23")
    assert len(made.upstream.calls) == 1


def test_a_restart_loses_no_paid_answer(tmp_path, clock):
    bench(tmp_path, clock).decode()
    again = bench(tmp_path, clock)
    assert again.decode().cache_status == "hit"
    assert again.upstream.calls == []


def test_the_two_spellings_of_a_plate_are_separate_lookups(made):
    made.decode("ABC1234")
    assert made.decode("ABC1C34").cache_status == "miss"


def test_after_its_fresh_time_an_answer_is_asked_for_again(made, clock):
    made.decode()
    clock.advance(FRESH_S)
    made.forget_belief()
    assert made.decode().cache_status == "miss"
    assert made.decode().cache_status == "hit"
    assert len(made.upstream.calls) == 2


def test_a_report_is_keyed_by_its_plate_and_its_data(made):
    def ask(data):
        body = canonical({"plate": "ABC1D23", "data": data})
        return made.gateway.fetch(Lookup(REPORT, Plate.parse("ABC1D23"), body=body), CALLER)

    assert ask({"a": 1, "b": 2}).cache_status == "miss"
    assert ask({"b": 2, "a": 1}).cache_status == "hit"
    assert ask({"a": 1}).cache_status == "miss"


def test_uf_is_part_of_the_question(made):
    def ask(uf):
        return made.gateway.fetch(Lookup(RENAINF, Plate.parse("ABC1D23"), uf), CALLER)

    assert [ask(uf).cache_status for uf in ("SP", "RJ", None, "SP")] == [
        *("miss", "miss", "miss", "hit")
    ]


def test_a_pass_through_answer_is_its_callers_alone(tmp_path, clock):
    made = bench(tmp_path, clock, operator_credential=None)

    def ask(credential):
        return made.gateway.fetch(decode(), Caller("x", credential=credential)).cache_status

    assert [ask("one"), ask("two"), ask("one")] == ["miss", "miss", "hit"]
    assert [call.credential for call in made.upstream.calls] == ["one", "two"]


def test_the_operators_answers_are_everybodys(made):
    assert made.gateway.fetch(decode(), Caller("one")).cache_status == "miss"
    assert made.gateway.fetch(decode(), Caller("two")).cache_status == "hit"
    assert made.upstream.calls[0].credential == "operator"


# Failures


STALE_HELPS = [
    pytest.param(NotSent("refused"), "unreachable", id="unreachable"),
    pytest.param(CircuitOpen(3.0), "unreachable", id="circuit open"),
    pytest.param(TimedOut("slow"), "too_slow", id="too slow"),
    pytest.param(failing(), "bad_answer", id="5xx"),
    pytest.param(Unusable("html"), "bad_answer", id="unusable"),
    pytest.param(Response(429, b"{}", "primary", retry_after_s=7.0), "busy", id="429"),
    pytest.param(Response(401, b"{}", "primary"), "operator_refused", id="401"),
    pytest.param(Response(403, b"{}", "primary"), "operator_refused", id="403"),
    pytest.param(Response(402, b"{}", "primary"), "bad_answer", id="402"),
]


@pytest.mark.parametrize(("fault", "kind"), STALE_HELPS)
def test_a_failure_serves_the_stale_copy_inside_its_window_and_says_so(made, clock, fault, kind):
    assert (body := made.decode().body)
    made.upstream.answer = fault
    clock.advance(FRESH_S + STALE_S - 60)
    made.forget_belief()
    served = made.decode()
    assert (served.cache_status, served.body) == ("stale", body)
    assert served.age_s == FRESH_S + STALE_S - 60


@pytest.mark.parametrize(("fault", "kind"), STALE_HELPS)
def test_a_failure_without_a_copy_is_told_by_its_kind_and_leaves_the_store_as_it_was(
    made, clock, fault, kind
):
    made.upstream.answer = fault
    with pytest.raises(Failure) as caught:
        made.decode()
    assert caught.value.kind == kind
    made.upstream.answer = None
    clock.advance(2.1)
    made.forget_belief()
    assert made.decode().cache_status == "miss"


def test_past_its_window_a_stale_copy_is_no_answer(made, clock):
    made.decode()
    made.upstream.answer = failing()
    clock.advance(FRESH_S + STALE_S)
    with pytest.raises(Failure):
        made.decode()


def test_a_404_is_the_answer_even_with_a_stale_copy_at_hand(made, clock):
    made.decode()
    made.upstream.answer = Response(404, b"{}", "primary")
    clock.advance(FRESH_S)
    assert outcome(made.decode) == "not_found"


@pytest.mark.parametrize("status", [401, 403])
def test_a_callers_own_credential_refused_upstream_is_told_to_its_caller(tmp_path, clock, status):
    made = bench(tmp_path, clock, operator_credential=None)
    made.upstream.answer = Response(status, b"{}", "primary")
    caller = Caller("x", credential="mine")
    assert outcome(lambda: made.gateway.fetch(decode(), caller)) == f"refused_{status}"


def test_an_empty_answer_is_never_served_stale(made, clock):
    """An empty list is what an outage most easily fakes."""
    made.upstream.answer = Response(200, factories.renainf_body(), "primary")
    question = Lookup(RENAINF, Plate.parse("ABC1D23"))
    made.gateway.fetch(question, CALLER)
    clock.advance(FRESH_S / 4 * 0.89)
    assert made.gateway.fetch(question, CALLER).cache_status == "hit"
    made.upstream.answer = failing()
    clock.advance(FRESH_S / 4)
    made.forget_belief()
    with pytest.raises(Failure):
        made.gateway.fetch(question, CALLER)


def test_a_failure_that_costs_is_remembered_for_two_seconds(made, clock):
    """Whoever asks right after a failure does not pay for it again."""
    made.upstream.answer = failing()
    for _ in range(5):
        assert outcome(made.decode) == "bad_answer"
    assert len(made.upstream.calls) == 1
    clock.advance(2.0)
    assert outcome(made.decode) == "bad_answer"
    assert len(made.upstream.calls) == 2


def test_a_failure_that_cost_nothing_is_not_remembered(made):
    made.upstream.answer = NotSent("refused")
    assert outcome(made.decode) == "unreachable"
    made.upstream.answer = None
    assert outcome(made.decode) == "miss"


def test_one_plates_failure_is_no_other_plates(made):
    made.upstream.answer = failing()
    assert outcome(made.decode) == "bad_answer"
    made.upstream.answer = None
    assert made.decode("DEF4G56").cache_status == "miss"


def test_a_failure_never_evicts_a_good_answer(made, clock):
    made.decode()
    made.upstream.answer = failing()
    assert made.decode(directive=Directive.REFRESH).cache_status == "stale"
    assert made.decode().cache_status == "hit"


# 400


def test_a_rejection_is_relayed_and_remembered_for_ten_minutes(made, clock):
    made.upstream.answer = rejection()
    assert made.decode().status == 400
    clock.advance(500)
    made.forget_belief()
    assert made.decode().cache_status == "hit"
    clock.advance(101)
    made.forget_belief()
    assert made.decode().cache_status == "miss"
    assert len(made.upstream.calls) == 2


def test_a_rejection_never_replaces_a_good_answer(made, clock):
    good = made.decode().body
    made.upstream.answer = rejection()
    clock.advance(FRESH_S)
    made.forget_belief()
    assert [made.decode().status, made.decode().status] == [400, 400]
    assert len(made.upstream.calls) == 2
    made.upstream.answer = failing()
    clock.advance(601)
    made.forget_belief()
    served = made.decode()
    assert (served.cache_status, served.body) == ("stale", good)


def test_a_good_answer_ends_a_rejection(made, clock):
    made.upstream.answer = rejection()
    made.decode()
    made.upstream.answer = None
    assert made.decode(directive=Directive.REFRESH).status == 200
    assert made.decode().status == 200


def test_a_rejection_without_the_contracts_body_is_kept_without_one(made):
    made.upstream.answer = Response(400, b"<html>", "primary")
    assert (made.decode().status, made.decode().body) == (400, b"")


# Directives


def test_refresh_asks_again_whatever_is_stored(made):
    made.decode()
    assert made.decode(directive=Directive.REFRESH).cache_status == "request"
    assert len(made.upstream.calls) == 2


@pytest.mark.parametrize("directive", [Directive.ONLY_IF_CACHED, Directive.PEEK])
def test_nothing_is_ever_asked_by_who_only_looks(made, directive):
    assert outcome(lambda: made.decode(directive=directive)) == "not_stored"
    assert made.upstream.calls == []
    made.decode()
    assert made.decode(directive=directive).cache_status == "hit"


def test_a_glance_takes_a_stale_copy(made, clock):
    made.decode()
    clock.advance(FRESH_S)
    made.forget_belief()
    assert made.decode(directive=Directive.PEEK).cache_status == "stale"
    assert outcome(lambda: made.decode(directive=Directive.ONLY_IF_CACHED)) == "not_stored"


# Coalescing


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
    one.memory.keep(one.memory.any(next(iter(one.memory._entries))).envelope, None)
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
    monkeypatch.setattr(made.gateway, "_keep", lambda *_: 1 / 0)
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


def test_the_newest_report_is_found_whatever_it_was_written_from(made, clock):
    def ask(data):
        body = canonical({"plate": "ABC1D23", "data": data})
        return made.gateway.fetch(Lookup(REPORT, Plate.parse("ABC1D23"), body=body), CALLER)

    assert made.gateway.newest_report(Plate.parse("ABC1D23"), CALLER) is None
    ask({"a": 1})
    clock.advance(5)
    ask({"a": 2})
    newest = made.gateway.newest_report(Plate.parse("ABC1D23"), CALLER)
    assert newest is not None
    assert newest.fetched_at == clock()
