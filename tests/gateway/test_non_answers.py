"""Invalid answers are not stored; empty answers and rejections are never served stale."""

from functools import partial
from pathlib import Path

import pytest

from portal.gateway import answer_check
from portal.gateway.lookup import Lookup
from portal.gateway.operations import RENAINF
from portal.upstream.errors import Unfit
from portal.upstream.protocol import Response
from portal.vehicle.plate import Plate
from tests import factories
from tests.fakes import Clock
from tests.gateway.gateways import CALLER, FRESH_S, Bench, bench, failing, outcome


@pytest.fixture
def made(tmp_path: Path, clock: Clock) -> Bench:
    return bench(tmp_path, clock)


@pytest.mark.parametrize("status", [400, 404])
def test_invalid_error_body_is_a_bad_answer_and_serves_stale(
    made: Bench, clock: Clock, status: int
) -> None:
    good = made.decode().body
    made.upstream.answer = Response(status, b"<html>", "primary")
    clock.advance(FRESH_S)
    made.expire_local_cache()
    served = made.decode()
    assert (served.status, served.cache_status, served.body) == (200, "stale", good)
    assert outcome(lambda: made.decode("ABC1D24")) == "bad_answer"
    made.upstream.answer = None
    clock.advance(2.1)
    made.expire_local_cache()
    assert made.decode("ABC1D24").cache_status == "miss"


def test_answer_about_another_vehicle_is_named_as_such(made: Bench) -> None:
    made.upstream.answer = Unfit(answer_check.OTHER_VEHICLE, may_differ=True)
    assert outcome(made.decode) == "other_vehicle"
    made.upstream.answer = Unfit("a record is no object", may_differ=False)
    assert outcome(lambda: made.decode("ABC1D24")) == "bad_answer"


def test_rejection_is_stored_with_its_message_only(made: Bench) -> None:
    body = b'{"message": "Placa fora do ar.", "token": "operator", "debug": {"at": "operator"}}'
    made.upstream.answer = Response(400, body, "primary")
    relayed = factories.message_body("Placa fora do ar.")
    assert [made.decode().body, made.decode().body] == [relayed, relayed]


def test_jitter_opens_no_stale_window_for_empty_answer(made: Bench, clock: Clock) -> None:
    made.upstream.answer = Response(200, factories.renainf_body(), "primary")
    questions = [Lookup(RENAINF, Plate.parse(f"ABC1D{number}")) for number in range(10, 40)]
    for question in questions:
        made.gateway.fetch(question, CALLER)
    made.upstream.answer = failing()
    clock.advance(FRESH_S / 4 * 0.95)
    made.expire_local_cache()
    found = {outcome(partial(made.gateway.fetch, question, CALLER)) for question in questions}
    assert found == {"hit", "bad_answer"}
