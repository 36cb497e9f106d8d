"""Answers are compared with the contract after they have been served."""

import threading
from pathlib import Path

import pytest

from portal.gateway.answer_check import MOST_WAITING, DriftQueue
from portal.gateway.lookup import Observer
from portal.upstream.protocol import Response
from portal.vehicle.wire import MOST_RECORDS, MOST_VALUES
from tests import factories
from tests.fakes import Clock
from tests.gateway.gateways import StubUpstream, bench

ODD = factories.decode_body("ABC1D23").replace(b'{"marca"', b'{"campoNovo": 1, "marca"')


class Drift(Observer):
    """Records the fields that differ from the contract."""

    def __init__(self) -> None:
        self.fields: list[str] = []

    def drifted(self, operation: str, fields: object) -> None:
        self.fields += fields  # type: ignore[arg-type]


def test_response_does_not_wait_for_the_comparison(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The comparison in this test waits until the answer has been served."""
    served, drift = threading.Event(), Drift()

    def compare(_operation: str, _result: object) -> frozenset[str]:
        assert served.wait(20)
        return frozenset({"campoNovo"})

    monkeypatch.setattr("portal.gateway.answer_check.unexpected", compare)
    made = bench(tmp_path, clock, StubUpstream(Response(200, ODD, "primary")), observer=drift)
    assert made.decode().cache_status == "miss"
    assert drift.fields == []
    served.set()
    made.gateway.drift.flush()
    assert drift.fields == ["campoNovo"]


def test_full_queue_counts_every_answer() -> None:
    drift = Drift()
    queue = DriftQueue(drift)
    for _ in range(MOST_WAITING + 3):
        queue.add("decode", ODD)
    assert len(drift.fields) == 3
    queue.flush()
    assert drift.fields == ["campoNovo"] * (MOST_WAITING + 3)


def test_answer_with_too_many_values_is_counted_without_parsing_it() -> None:
    """Parsing 690,000 records takes a second, and comparing them several."""
    drift = Drift()
    queue = DriftQueue(drift)
    queue.add("renainf", b"no JSON" + b"," * (MOST_VALUES + 1))
    queue.flush()
    assert drift.fields == ["result"]


def test_only_the_first_records_are_compared() -> None:
    drift = Drift()
    queue = DriftQueue(drift)
    record = {**factories.fine(), "campoNovo": 1}
    queue.add("renainf", factories.renainf_body(*[factories.fine()] * MOST_RECORDS, record))
    queue.flush()
    assert drift.fields == ["result"]
