"""The sandbox's records hang on one day, embedded or alone, on whatever clock the machine is."""

import importlib.util
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from portal.sandbox import Sandbox, today
from tests.fakes.in_process import built

Today = Callable[[], date]


def at(text: str) -> date:
    moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
    return today(moment.timestamp)


def test_a_month_ends_with_its_last_evening_in_brazil() -> None:
    assert at("2026-12-01T02:59") == date(2026, 11, 30)
    assert at("2026-12-01T03:00") == date(2026, 12, 1)


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[Today]:
    """By what each sandbox that a test builds tells its day."""
    days: list[Today] = []

    class Spied(Sandbox):
        def __init__(self, today: Today, sleep: Callable[[float], None]) -> None:
            days.append(today)
            super().__init__(today, sleep)

    for room in ("portal.sandbox.Sandbox", "portal.sandbox.sandbox.Sandbox"):
        monkeypatch.setattr(room, Spied)
    return days


def test_the_embedded_sandbox_and_the_one_alone_have_that_day(
    given: list[Today], tmp_path: Path
) -> None:
    with built(tmp_path, {}):
        pass
    spec = importlib.util.find_spec("portal.sandbox.wsgi")
    assert spec is not None and spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))  # afresh: it builds one
    assert given == [today, today]
