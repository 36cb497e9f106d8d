"""No upstream response reaches the wrong caller, and each has a ledger row."""

import csv
import io
import re

import pytest

from tests import factories
from tests.fakes import FaultUpstream, faults
from tests.fakes.answers import path_of, subject_of
from tests.fakes.in_process import PORTAL_TOKEN, managed, pass_through
from tests.fakes.processes import PortalProcess
from tests.fakes.wire import Call, Fault

DELAY_S = 0.4


def fines_of(name: str) -> bytes:
    """Return a fines body (RENAINF) with ``name`` as the place of the fine."""
    return factories.renainf_body(factories.fine(localInfracao=name))


def own_fines() -> Fault:
    """Send an interim response, then an answer that names the call's plate and credential."""

    def body(call: Call) -> bytes:
        return fines_of(f"{subject_of(call)} {call.header('authorization')}")

    return faults.interim(DELAY_S, then=faults.answer("own", body))


def ledger_rows(portal: PortalProcess) -> int:
    """Return the number of calls in the ledger."""
    printed = portal.command_line("ledger", "--csv").stdout
    return len(list(csv.DictReader(io.StringIO(printed))))


@pytest.mark.parametrize("delay_s", [0.0, DELAY_S])
def test_interim_response_does_not_lose_the_answer(delay_s: float) -> None:
    with FaultUpstream() as upstream, PortalProcess(managed(upstream.url), workers=1) as portal:
        upstream.default(faults.interim(delay_s))
        for operation in ("decode", "renainf", "renajud"):
            answer = portal.get(path_of(operation), headers={"Authorization": PORTAL_TOKEN})
            assert answer.status_code == 200, operation
        assert upstream.count() == ledger_rows(portal) == 3


def test_late_answer_is_not_served_for_another_vehicle() -> None:
    with FaultUpstream() as upstream, PortalProcess(managed(upstream.url), workers=1) as portal:
        upstream.default(own_fines())
        for plate in ("AAA1A11", "BBB2B22", "CCC3C33"):
            for _ in range(2):  # a call, then a hit
                answer = portal.get(
                    path_of("renainf", plate), headers={"Authorization": PORTAL_TOKEN}
                )
                assert plate in answer.text
        assert upstream.count() == ledger_rows(portal) == 3


def test_late_answer_is_not_served_to_another_caller() -> None:
    with FaultUpstream() as upstream, PortalProcess(pass_through(upstream.url), workers=1) as one:
        upstream.default(own_fines())
        for caller in ("alice", "bob", "alice"):
            answer = one.get(path_of("renainf"), headers={"Authorization": caller})
            assert f"ABC1D23 {caller}" in answer.text
        assert upstream.count() == ledger_rows(one) == 2


FAULTS = (
    *(faults.started_then_reset(), faults.reset_before_a_byte(), faults.closed_before_a_byte()),
    *(faults.stale_keep_alive(), faults.reset_when_idle(), faults.interim_and_no_answer()),
    *(faults.bytes_behind(delay_s=0.1), faults.reset_mid_body(), faults.status(500)),
)


def test_ledger_has_a_row_for_each_received_call() -> None:
    """A good lookup precedes each fault.

    Regression: a faulty call on the good lookup's connection was sent twice, but had only one row,
    without a price.
    """
    with FaultUpstream() as upstream:
        settings = managed(upstream.url) | {"PORTAL_PRICE_DECODE": "0.30"}
        with PortalProcess(settings, workers=1) as portal:
            for number, fault in enumerate(FAULTS):
                for plate, played in ((f"AAA1A{number:02}", None), (f"BBB1B{number:02}", fault)):
                    if played:
                        upstream.once("/", played)
                    portal.get(path_of("decode", plate), headers={"Authorization": PORTAL_TOKEN})
            printed = portal.command_line("ledger", "--csv").stdout
        rows = list(csv.DictReader(io.StringIO(printed)))
        assert len(rows) == upstream.count() == 2 * len(FAULTS)
        assert {row["price"] for row in rows} == {"0.30"}


def test_refusals_are_recorded_without_a_price() -> None:
    """A 429, 402, 401 or 403 refuses the call, so nothing was delivered that could be charged."""
    statuses = (200, 401, 402, 403, 407, 429, 451, 400, 404)
    with FaultUpstream() as upstream:
        settings = managed(upstream.url) | {"PORTAL_PRICE_DECODE": "0.30"}
        with PortalProcess(settings, workers=1) as portal:
            for number, status in enumerate(statuses):
                if status != 200:
                    upstream.once("/", faults.status(status, retry_after="0"))
                path = path_of("decode", f"AAA1A{number:02}")
                portal.get(path, headers={"Authorization": PORTAL_TOKEN})
            printed = portal.command_line("ledger", "--csv").stdout
            metrics = portal.get("/metrics").text
    rows = {row["status"]: row["price"] for row in csv.DictReader(io.StringIO(printed))}
    paid = {"200", "400", "404"}
    assert rows == {str(each): "0.30" if str(each) in paid else "0.00" for each in statuses}
    (spent,) = re.findall(r'portal_spent_brl_total\{operation="decode"\} (.*)', metrics)
    assert float(spent) == pytest.approx(0.9)
