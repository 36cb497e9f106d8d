"""The sandbox's records hang on one day, wherever it runs and on whatever clock."""

import time
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from portal.sandbox import SITUATIONS, TOKEN, today
from portal.sandbox.wsgi import application
from tests.fakes.answers import path_of
from tests.fakes.in_process import built

PLATE = SITUATIONS[0].plate
# Twenty-five hours apart: at no moment have the two of them the same day.
FAR_APART = ("Pacific/Kiritimati", "Pacific/Pago_Pago")


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Whose zone a test sets."""
    yield monkeypatch
    monkeypatch.undo()
    time.tzset()


def at(text: str) -> date:
    moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
    return today(moment.timestamp)


def test_a_month_ends_with_its_last_evening_in_brazil() -> None:
    assert at("2026-12-01T02:59") == date(2026, 11, 30)
    assert at("2026-12-01T03:00") == date(2026, 12, 1)


def alone() -> bytes:
    environ = {
        "REQUEST_METHOD": "GET",
        "PATH_INFO": path_of("renainf", PLATE),
        "HTTP_AUTHORIZATION": TOKEN,
    }
    return b"".join(application(environ, lambda status, headers: None))


def test_the_embedded_sandbox_and_the_one_alone_have_the_same_day_on_every_machine(
    machine: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bodies = set()
    for zone in FAR_APART:
        machine.setenv("TZ", zone)
        time.tzset()
        with built(tmp_path / zone, {}) as demo:
            answer = demo.get(path_of("renainf", PLATE), token=TOKEN)
        assert answer.status_code == 200
        bodies |= {answer.data, alone()}
    assert len(bodies) == 1
