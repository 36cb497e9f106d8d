"""Amounts in the metrics equal those of the ledger and the savings, in R$."""

import csv
import io
import re
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from portal.system.local_time import sao_paulo
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults, wait_until
from tests.fakes.answers import path_of
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.fakes.processes import PortalProcess

PRICES = {"PRICE_DECODE": "0.30", "PRICE_RENAINF": "0.455", "PRICE_RENAJUD": "1"}
HEADER = {"Authorization": PORTAL_TOKEN}
NOTHING = Decimal(0)


def amounts(text: str, name: str) -> dict[str, Decimal]:
    """Return a metric's amounts in R$ by operation, without zeros."""
    found = re.findall(rf'^portal_{name}_brl_total{{operation="(\w+)"}} (\S+)$', text, re.M)
    rounded = {operation: round(Decimal(value), 6) for operation, value in found}
    return {operation: value for operation, value in rounded.items() if value}


def summary(printed: str, column: str) -> dict[str, Decimal]:
    """Return a column of ``ledger --summary --csv`` by operation, without zeros and the total."""
    rows = csv.DictReader(io.StringIO(printed))
    found = {row["operation"]: Decimal(row[column]) for row in rows if row["operation"] != "all"}
    return {operation: value for operation, value in found.items() if value}


def in_process(here: Any) -> tuple[str, str]:
    """Return the metrics and the summary of the ledger."""
    here.parts.scheduler.run_all()
    printed = here.app.test_cli_runner().invoke(args=["ledger", "--summary", "--csv"])
    assert printed.exit_code == 0, printed.output
    return here.client.get("/metrics").get_data(as_text=True), printed.stdout


def test_spent_and_saved_equal_the_ledger(portal: PortalFactory, upstream: FaultUpstream) -> None:
    here = portal(**PRICES)
    for _ in range(4):
        here.get(path_of("decode"))
    here.get(path_of("renainf"))
    upstream.default(faults.status(500))
    for number in range(7):  # the breaker opens; a call that it refuses costs nothing
        here.get(path_of("renajud", f"ABC1D2{number}"))
    metrics, ledger = in_process(here)
    assert amounts(metrics, "spent") == summary(ledger, "spent")
    assert amounts(metrics, "spent") == {
        "decode": Decimal("0.30"),
        "renainf": Decimal("0.455"),
        "renajud": Decimal(5),
    }
    assert amounts(metrics, "saved") == summary(ledger, "saved") == {"decode": Decimal("0.90")}


def test_call_that_was_never_sent_costs_nothing(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal(**PRICES)
    upstream.stop()
    assert here.get(path_of("decode")).status_code == 503
    metrics, ledger = in_process(here)
    assert amounts(metrics, "spent") == summary(ledger, "spent") == {}
    assert 'portal_spent_brl_total{operation="decode"} 0.0' in metrics


def test_amounts_have_no_label_but_the_operation(portal: PortalFactory) -> None:
    metrics, _ = in_process(portal(**PRICES))
    series = re.findall(r"^portal_(?:spent|saved)_brl_total{(.*)}", metrics, re.M)
    names = ("decode", "renainf", "renajud")  # PRICES lacks the report's price
    assert sorted(series) == sorted(f'operation="{name}"' for name in names * 2)


@pytest.mark.slow
def test_amounts_survive_the_replacement_of_workers(upstream: FaultUpstream) -> None:
    prices = {f"PORTAL_{name}": value for name, value in PRICES.items()}
    with PortalProcess(managed(upstream.url) | prices, workers=2) as server:
        for number in range(20):
            for _ in range(2):
                path = path_of("decode", f"ABC1D{number:02}")
                assert server.get(path, headers=HEADER).status_code == 200
        expected = {"decode": Decimal(6)}

        def metrics() -> str:
            return server.get("/metrics").text

        def has_started(workers: int) -> bool:
            return server.answers() and f"portal_worker_starts_total {workers}.0" in metrics()

        wait_until(lambda: amounts(metrics(), "saved") == expected, "the savings")
        for number in (3, 4):
            server.kill_worker()
            wait_until(partial(has_started, number), "the replacement")
        assert amounts(metrics(), "spent") == amounts(metrics(), "saved") == expected
        assert server.get(path_of("decode", "XYZ1A23"), headers=HEADER).status_code == 200
        assert amounts(metrics(), "spent") == {"decode": Decimal("6.30")}
        printed = server.command_line("ledger", "--summary", "--csv").stdout
        assert amounts(metrics(), "spent") == summary(printed, "spent")


def test_calls_left_today_are_exposed(portal: PortalFactory) -> None:
    here = portal(DAILY_CALL_LIMIT="10")
    here.get(path_of("decode"))
    metrics, _ = in_process(here)
    assert "portal_daily_call_limit 10.0" in metrics
    assert "portal_daily_calls_left 9.0" in metrics


def test_budget_of_the_month_is_exposed_with_its_end(portal: PortalFactory) -> None:
    prices = {f"PRICE_{name}": "0.30" for name in ("DECODE", "RENAINF", "RENAJUD", "REPORT")}
    here = portal(MONTHLY_BUDGET="0.60", **prices)
    here.get(path_of("decode"))
    metrics, _ = in_process(here)
    assert "portal_monthly_budget_brl 0.6" in metrics
    assert "portal_monthly_budget_left_brl 0.3" in metrics
    here.get(path_of("decode", "XYZ1A23"))
    metrics, _ = in_process(here)
    assert "portal_monthly_budget_left_brl 0.0" in metrics
    today = datetime.now(sao_paulo()).replace(hour=0, minute=0, second=0, microsecond=0)
    (end,) = re.findall(r"^portal_monthly_budget_end_timestamp_seconds (.*)$", metrics, re.M)
    assert float(end) == today.timestamp()


def test_portal_without_daily_limit_exposes_none(portal: PortalFactory) -> None:
    metrics, _ = in_process(portal())
    assert "portal_daily" not in metrics
    assert "portal_monthly" not in metrics
    assert "portal_workers 2.0" in metrics
