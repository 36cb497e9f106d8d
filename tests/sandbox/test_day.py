"""The embedded and the standalone sandbox use São Paulo's date in any time zone."""

import importlib.util
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from portal.sandbox.sandbox import Sandbox, today
from tests.fakes.in_process import built


def at(text: str) -> date:
    moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
    return today(moment.timestamp)


def test_month_ends_at_midnight_in_sao_paulo() -> None:
    assert at("2026-12-01T02:59") == date(2026, 11, 30)
    assert at("2026-12-01T03:00") == date(2026, 12, 1)


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """A list that collects the ``today`` functions of all sandboxes that the test builds."""
    days: list[object] = []

    class Spied(Sandbox):
        def __init__(self, today: Callable[[], date] = today) -> None:
            days.append(today)
            super().__init__(today)

    monkeypatch.setattr("portal.sandbox.sandbox.Sandbox", Spied)
    return days


def test_embedded_and_standalone_sandbox_use_that_day(given: list[object], tmp_path: Path) -> None:
    with built(tmp_path, {}):
        pass
    spec = importlib.util.find_spec("portal.sandbox.wsgi")
    assert spec is not None and spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))  # a new import builds a sandbox
    assert given == [today, today]
