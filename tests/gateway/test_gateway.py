"""Hit, miss, stale, collapsed: what is paid for once, kept, and never mistaken."""

import pytest

from portal.gateway import RENAINF, REPORT, Caller, Directive, Failure, Lookup
from portal.gateway.strict_json import canonical
from portal.upstream import CircuitOpen, NotSent, Response, TimedOut, Unusable
from portal.vehicle import Plate
from tests import factories
from tests.gateway.gateways import (
    CALLER,
    FRESH_S,
    STALE_S,
    Bench,
    bench,
    decode,
    failing,
    outcome,
)


@pytest.fixture
def made(tmp_path, clock) -> Bench:
    return bench(tmp_path, clock)


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


def test_a_stale_copy_that_is_purged_while_we_ask_is_no_answer(made, clock, tmp_path):
    other = bench(tmp_path, clock)
    made.decode()
    clock.advance(FRESH_S + 1)
    made.forget_belief()

    def purge_and_fail(_resource):
        other.store.purge("ABC1D23")
        made.forget_belief()
        return Response(402, b"{}", "primary")

    made.upstream.answer = purge_and_fail
    with pytest.raises(Failure):
        made.decode()


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
    made.upstream.answer = Response(404, factories.message_body("Não há."), "primary")
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


def test_the_newest_report_is_the_one_last_kept_as_such(made, clock):
    """A script's report on data of its own is not what a vehicle's page shows."""
    plate = Plate.parse("ABC1D23")

    def ask(data) -> Lookup:
        question = Lookup(REPORT, plate, body=canonical({"plate": plate.text, "data": data}))
        made.gateway.fetch(question, CALLER)
        return question

    first = ask({"a": 1})
    assert made.gateway.newest_report(plate, CALLER) is None
    made.gateway.keep_as_newest(first, CALLER)
    clock.advance(5)
    ask({"a": 2})
    newest = made.gateway.newest_report(plate, CALLER)
    assert newest is not None
    assert newest.fetched_at == clock() - 5
