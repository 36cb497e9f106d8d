"""Leases beyond the limit of a process are rejected before a file is opened."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from portal.gateway.lookup import Failure
from portal.gateway.single_flight import FileLeases, SingleFlight


def flights(folder: Path, limit: int) -> SingleFlight[str]:
    return SingleFlight(FileLeases(folder), limit)


def run(flights: SingleFlight[str], key: str, wait_s: float = 10.0) -> tuple[str, bool]:
    return flights.run(key, with_lease(lambda: "answer"), time.monotonic() + wait_s)


def with_lease(call: Callable[[], str]) -> Callable[[int | None], str | None]:
    """Return an attempt that makes the call if the caller has the lease."""
    return lambda fence: None if fence is None else call()


def test_lease_beyond_limit_is_rejected_and_opens_no_file(tmp_path: Path) -> None:
    limited = flights(tmp_path, 2)

    def lead() -> str:
        limited.run("b", with_lease(lead_within), time.monotonic() + 10)
        return "answer"

    def lead_within() -> str:
        with pytest.raises(Failure) as caught:
            run(limited, "c")
        assert (caught.value.kind, caught.value.retry_after_s) == ("unreachable", 1.0)
        assert {each.name for each in tmp_path.iterdir()} == {"a", "b"}
        return "answer"

    assert limited.run("a", with_lease(lead), time.monotonic() + 10) == ("answer", True)
    assert run(limited, "c") == ("answer", True)


def test_failure_frees_the_slot(tmp_path: Path) -> None:
    limited = flights(tmp_path, 1)

    def fail() -> str:
        raise RuntimeError("broken")

    for _ in range(3):
        with pytest.raises(RuntimeError, match="broken"):
            limited.run("a", with_lease(fail), time.monotonic() + 10)


def test_waiting_for_a_held_lease_uses_a_slot_temporarily(tmp_path: Path) -> None:
    limited = flights(tmp_path, 1)
    with FileLeases(tmp_path).hold("a"):
        with pytest.raises(Failure) as caught:
            run(limited, "a", wait_s=0.1)
        assert caught.value.kind == "too_slow"
        assert run(limited, "b") == ("answer", True)
