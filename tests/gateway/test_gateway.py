"""Gateway: hit, miss, stale, collapsed; failures, rejections and directives."""

import time
from decimal import Decimal
from pathlib import Path

import pytest

from portal.gateway.answer_check import OTHER_VEHICLE
from portal.gateway.envelope import JITTER
from portal.gateway.lookup import (
    CacheStatus,
    Failure,
    FailureKind,
    Lookup,
    Observer,
    Served,
    Spend,
)
from portal.gateway.operations import RENAINF, REPORT
from portal.gateway.strict_json import canonical
from portal.upstream.errors import (
    CircuitOpen,
    NotSent,
    TimedOut,
    Unfit,
    Unusable,
    UpstreamError,
)
from portal.upstream.protocol import Resource, Response
from portal.vehicle.plate import Plate
from tests import factories
from tests.fakes import Clock
from tests.gateway.gateways import (
    CALLER,
    FRESH_S,
    STALE_S,
    Bench,
    as_caller,
    bench,
    decode,
    failing,
    outcome,
)


@pytest.fixture
def made(tmp_path: Path, clock: Clock) -> Bench:
    return bench(tmp_path, clock)


def rejection(message: str = "Por favor, informe uma placa válida.") -> Response:
    return Response(400, factories.message_body(message), "primary")


# Cached answers


def test_second_lookup_is_a_hit_with_the_same_bytes(made: Bench) -> None:
    first, second = made.decode(), made.decode()
    assert (first.cache_status, second.cache_status) == ("miss", "hit")
    assert first.body == second.body == factories.decode_body("ABC1D23")
    assert len(made.upstream.calls) == 1


def test_answer_survives_restart(tmp_path: Path, clock: Clock) -> None:
    bench(tmp_path, clock).decode()
    again = bench(tmp_path, clock)
    assert again.decode().cache_status == "hit"
    assert again.upstream.calls == []


def test_two_spellings_of_a_plate_are_separate_lookups(made: Bench) -> None:
    made.decode("ABC1234")
    assert made.decode("ABC1C34").cache_status == "miss"


def test_stale_answer_is_fetched_again(made: Bench, clock: Clock) -> None:
    made.decode()
    clock.advance(FRESH_S)
    made.expire_local_cache()
    assert made.decode().cache_status == "miss"
    assert made.decode().cache_status == "hit"
    assert len(made.upstream.calls) == 2


def test_report_is_keyed_by_plate_and_data(made: Bench) -> None:
    def ask(data: dict[str, int]) -> Served:
        body = canonical({"plate": "ABC1D23", "data": data})
        return made.gateway.fetch(Lookup(REPORT, Plate.parse("ABC1D23"), body=body), CALLER)

    assert ask({"a": 1, "b": 2}).cache_status == "miss"
    assert ask({"b": 2, "a": 1}).cache_status == "hit"
    assert ask({"a": 1}).cache_status == "miss"


def test_uf_is_part_of_the_key(made: Bench) -> None:
    def ask(uf: str | None) -> Served:
        return made.gateway.fetch(Lookup(RENAINF, Plate.parse("ABC1D23"), uf), CALLER)

    assert [ask(uf).cache_status for uf in ("SP", "RJ", None, "SP")] == [
        *("miss", "miss", "miss", "hit")
    ]


def test_pass_through_answer_is_not_shared_between_callers(tmp_path: Path, clock: Clock) -> None:
    made = bench(tmp_path, clock, operator_credential=None)

    def ask(credential: str) -> CacheStatus:
        return made.gateway.fetch(decode(), as_caller("x", credential=credential)).cache_status

    assert [ask("one"), ask("two"), ask("one")] == ["miss", "miss", "hit"]
    assert [call.credential for call in made.upstream.calls] == ["one", "two"]


def test_operator_answer_is_shared_between_callers(made: Bench) -> None:
    assert made.gateway.fetch(decode(), as_caller("one")).cache_status == "miss"
    assert made.gateway.fetch(decode(), as_caller("two")).cache_status == "hit"
    assert made.upstream.calls[0].credential == "operator"


def test_hit_is_unchanged_while_its_answer_is_the_newest(made: Bench, clock: Clock) -> None:
    served, key = made.decode(), made.store.key(decode(), None)
    assert made.gateway.get_if_unchanged(key, served.fetched_at) == served.body
    clock.advance(1)
    newer = made.decode(directive=Spend.AGAIN)
    assert made.gateway.get_if_unchanged(key, served.fetched_at) is None
    assert made.gateway.get_if_unchanged(key, newer.fetched_at) == newer.body
    made.expire_local_cache()
    assert made.gateway.get_if_unchanged(key, newer.fetched_at) is None


def test_served_answer_says_whence_it_is_and_until_when_it_is_fresh(
    made: Bench, clock: Clock
) -> None:
    missed, hit = made.decode(), made.decode()
    made.upstream.answer = failing()
    clock.advance(FRESH_S)
    made.expire_local_cache()
    stale = made.decode()
    assert [each.from_cache for each in (missed, hit, stale)] == [False, True, True]
    assert FRESH_S * (1 - JITTER) - 1 <= hit.fresh_until - hit.fetched_at <= FRESH_S
    assert stale.fresh_until - stale.fetched_at == FRESH_S  # as it is no more
    assert made.gateway.retention_s("decode") == FRESH_S + STALE_S


# Failures


ALLOWS_STALE = [
    pytest.param(NotSent("refused"), "unreachable", id="unreachable"),
    pytest.param(CircuitOpen(3.0), "unreachable", id="circuit open"),
    pytest.param(TimedOut("slow"), "too_slow", id="too slow"),
    pytest.param(failing(), "bad_answer", id="5xx"),
    pytest.param(Unusable("html"), "bad_answer", id="unusable"),
    pytest.param(Response(429, b"{}", "primary", retry_after_s=7.0), "busy", id="429"),
    pytest.param(Response(401, b"{}", "primary"), "operator_refused", id="401"),
    pytest.param(Response(403, b"{}", "primary"), "operator_refused", id="403"),
    pytest.param(Response(402, b"{}", "primary"), "no_credit", id="402"),
]


@pytest.mark.parametrize(("fault", "kind"), ALLOWS_STALE)
def test_failure_serves_stale_answer_within_window(
    made: Bench, clock: Clock, fault: Exception | Response, kind: str
) -> None:
    assert (body := made.decode().body)
    made.upstream.answer = fault
    clock.advance(FRESH_S + STALE_S - 60)
    made.expire_local_cache()
    served = made.decode()
    assert (served.cache_status, served.body) == ("stale", body)
    assert served.age_s == FRESH_S + STALE_S - 60


def test_stale_answer_purged_during_call_is_not_served(
    made: Bench, clock: Clock, tmp_path: Path
) -> None:
    other = bench(tmp_path, clock)
    made.decode()
    clock.advance(FRESH_S + 1)
    made.expire_local_cache()

    def purge_and_fail(_: Resource) -> Response:
        other.purge("ABC1D23")
        made.expire_local_cache()
        return Response(402, b"{}", "primary")

    made.upstream.answer = purge_and_fail
    with pytest.raises(Failure):
        made.decode()


@pytest.mark.parametrize(("fault", "kind"), ALLOWS_STALE)
def test_failure_without_stale_answer_raises_its_kind(
    made: Bench, clock: Clock, fault: Exception | Response, kind: str
) -> None:
    """The failure is not stored, so the next lookup is a miss."""
    made.upstream.answer = fault
    with pytest.raises(Failure) as caught:
        made.decode()
    assert caught.value.kind == kind
    made.upstream.answer = None
    clock.advance(2.1)
    made.expire_local_cache()
    assert made.decode().cache_status == "miss"


def held_back(error: UpstreamError) -> UpstreamError:
    """Return an error after which another base address was not asked."""
    error.held_back = True
    return error


@pytest.mark.parametrize(
    ("fault", "retry_after_s", "is_held_back"),
    [
        (NotSent("refused"), 1.0, False),
        (CircuitOpen(3.0), 3.0, True),
        (CircuitOpen(0.2), 1.0, True),
        (TimedOut("slow"), None, False),
        (held_back(TimedOut("slow")), None, True),
        (held_back(Unusable("html")), None, True),
        (held_back(Unfit(OTHER_VEHICLE, may_differ=False)), None, True),
        (Response(429, b"{}", "primary", retry_after_s=7.0), 7.0, False),
        (Response(402, b"{}", "primary", retry_after_s=7.0), None, False),
    ],
    ids=repr,
)
def test_failure_says_when_to_ask_again_and_whether_the_portal_asked(
    made: Bench, fault: Exception | Response, retry_after_s: float | None, is_held_back: bool
) -> None:
    made.upstream.answer = fault
    with pytest.raises(Failure) as caught:
        made.decode()
    assert (caught.value.retry_after_s, caught.value.held_back) == (retry_after_s, is_held_back)


class Heard(Observer):
    """Notes the events, and that none took longer than a test."""

    def __init__(self) -> None:
        self.events: list[tuple[object, ...]] = []

    def _note(self, seconds: float, *event: object) -> None:
        assert 0 <= seconds < 60
        self.events.append(event)

    def served(self, operation: str, how: CacheStatus, seconds: float, times: int = 1) -> None:
        self._note(seconds, "served", operation, how, times)

    def failed(self, operation: str, kind: FailureKind, seconds: float) -> None:
        self._note(seconds, "failed", operation, kind)

    def asked(
        self, operation: str, origin: str, outcome: str, seconds: float, status: int | None
    ) -> None:
        self._note(seconds, "asked", operation, origin, outcome, status)

    def spent(self, operation: str, amount: Decimal | None) -> None:
        self._note(0, "spent", operation, amount)

    def used_store(self, what: str, seconds: float) -> None:
        self._note(seconds, what)


def test_observer_hears_of_each_event(tmp_path: Path, clock: Clock) -> None:
    heard = Heard()
    made = bench(tmp_path, clock, observer=heard)
    made.decode()
    made.decode()
    made.upstream.answer = NotSent("refused")
    with pytest.raises(Failure):
        made.decode("DEF4G56")
    assert heard.events == [
        *(("read",), ("read",)),  # again with the lease
        ("asked", "decode", "primary", "answered", 200),
        ("spent", "decode", Decimal("0.30")),
        ("write",),
        ("served", "decode", "miss", 1),
        ("served", "decode", "hit", 1),
        *(("read",), ("read",)),
        ("asked", "decode", "primary", "not_sent", None),
        ("failed", "decode", "unreachable"),
    ]


def test_answer_past_stale_window_is_not_served(made: Bench, clock: Clock) -> None:
    made.decode()
    made.upstream.answer = failing()
    clock.advance(FRESH_S + STALE_S)
    with pytest.raises(Failure):
        made.decode()


def test_not_found_is_not_replaced_by_stale_answer(made: Bench, clock: Clock) -> None:
    made.decode()
    made.upstream.answer = Response(404, factories.message_body("Não há."), "primary")
    clock.advance(FRESH_S)
    assert outcome(made.decode) == "not_found"


@pytest.mark.parametrize("status", [401, 403])
def test_refused_caller_credential_is_reported_to_caller(
    tmp_path: Path, clock: Clock, status: int
) -> None:
    made = bench(tmp_path, clock, operator_credential=None)
    made.upstream.answer = Response(status, b"{}", "primary")
    caller = as_caller("x", credential="mine")
    assert outcome(lambda: made.gateway.fetch(decode(), caller)) == f"refused_{status}"


def test_empty_answer_is_not_served_stale(made: Bench, clock: Clock) -> None:
    """A failing upstream may answer with an empty list instead of an error."""
    made.upstream.answer = Response(200, factories.renainf_body(), "primary")
    question = Lookup(RENAINF, Plate.parse("ABC1D23"))
    made.gateway.fetch(question, CALLER)
    clock.advance(FRESH_S / 4 * 0.89)
    assert made.gateway.fetch(question, CALLER).cache_status == "hit"
    made.upstream.answer = failing()
    clock.advance(FRESH_S / 4)
    made.expire_local_cache()
    with pytest.raises(Failure):
        made.gateway.fetch(question, CALLER)


def test_charged_failure_is_cached_for_two_seconds(made: Bench, clock: Clock) -> None:
    """An equal lookup within two seconds is not sent, so it costs nothing."""
    made.upstream.answer = failing()
    for _ in range(5):
        assert outcome(made.decode) == "bad_answer"
    assert len(made.upstream.calls) == 1
    clock.advance(2.0)
    assert outcome(made.decode) == "bad_answer"
    assert len(made.upstream.calls) == 2


def test_free_failure_is_not_cached(made: Bench) -> None:
    made.upstream.answer = NotSent("refused")
    assert outcome(made.decode) == "unreachable"
    made.upstream.answer = None
    assert outcome(made.decode) == "miss"


def test_failure_is_not_shared_between_plates(made: Bench) -> None:
    made.upstream.answer = failing()
    assert outcome(made.decode) == "bad_answer"
    made.upstream.answer = None
    assert made.decode("DEF4G56").cache_status == "miss"


def test_failure_does_not_evict_answer(made: Bench, clock: Clock) -> None:
    made.decode()
    made.upstream.answer = failing()
    assert made.decode(directive=Spend.AGAIN).cache_status == "stale"
    assert made.decode().cache_status == "hit"


# Rejections (status 400)


def test_rejection_is_relayed_and_cached_for_ten_minutes(made: Bench, clock: Clock) -> None:
    made.upstream.answer = rejection()
    assert made.decode().status == 400
    clock.advance(500)
    made.expire_local_cache()
    assert made.decode().cache_status == "hit"
    clock.advance(101)
    made.expire_local_cache()
    assert made.decode().cache_status == "miss"
    assert len(made.upstream.calls) == 2


def test_rejection_does_not_replace_answer(made: Bench, clock: Clock) -> None:
    good = made.decode().body
    made.upstream.answer = rejection()
    clock.advance(FRESH_S)
    made.expire_local_cache()
    assert [made.decode().status, made.decode().status] == [400, 400]
    assert len(made.upstream.calls) == 2
    made.upstream.answer = failing()
    clock.advance(601)
    made.expire_local_cache()
    served = made.decode()
    assert (served.cache_status, served.body) == ("stale", good)


def test_answer_supersedes_rejection(made: Bench, clock: Clock) -> None:
    made.upstream.answer = rejection()
    made.decode()
    made.upstream.answer = None
    assert made.decode(directive=Spend.AGAIN).status == 200
    assert made.decode().status == 200


# Directives


def test_refresh_calls_upstream_despite_stored_answer(made: Bench) -> None:
    made.decode()
    assert made.decode(directive=Spend.AGAIN).cache_status == "request"
    assert len(made.upstream.calls) == 2


@pytest.mark.parametrize("directive", [Spend.LATER, Spend.NEVER])
def test_cache_only_directives_make_no_call(made: Bench, directive: Spend) -> None:
    assert outcome(lambda: made.decode(directive=directive)) == "not_stored"
    assert made.upstream.calls == []
    made.decode()
    assert made.decode(directive=directive).cache_status == "hit"


def test_peek_accepts_stale_answer(made: Bench, clock: Clock) -> None:
    made.decode()
    clock.advance(FRESH_S)
    made.expire_local_cache()
    assert made.decode(directive=Spend.NEVER).cache_status == "stale"
    assert outcome(lambda: made.decode(directive=Spend.LATER)) == "not_stored"


def test_newest_report_is_the_last_marked_one(made: Bench, clock: Clock) -> None:
    """A vehicle's page must not show a report on data that a script has sent."""
    plate = Plate.parse("ABC1D23")

    def ask(data: dict[str, int]) -> Lookup:
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


def test_refresh_after_the_clock_was_set_back_is_stored_and_served(
    made: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.decode()
    set_back = time.time_ns() - 30_000_000_000
    monkeypatch.setattr(time, "time_ns", lambda: set_back)
    newer = factories.decode_body("ABC1D23", marca="FORD")
    made.upstream.answer = Response(200, newer, "primary")
    assert made.decode(directive=Spend.AGAIN).body == newer
    made.expire_local_cache()
    assert (made.decode().cache_status, made.decode().body) == ("hit", newer)
