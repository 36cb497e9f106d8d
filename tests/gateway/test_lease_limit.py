"""Leases beyond the limit are rejected before a file is opened."""

from pathlib import Path

import pytest

from portal.gateway.lease import FileLeases
from portal.gateway.lease_limit import LimitedLeases
from portal.gateway.lookup import Failure


def test_lease_beyond_limit_is_rejected_and_opens_no_file(tmp_path: Path) -> None:
    leases = LimitedLeases(FileLeases(tmp_path), 2)
    with leases.hold("a") as one, leases.hold("b") as other:
        assert one and other
        with pytest.raises(Failure) as caught, leases.hold("c"):
            pass
        assert (caught.value.kind, caught.value.retry_after_s) == ("unreachable", 1.0)
        assert {each.name for each in tmp_path.iterdir()} == {"a", "b"}
    with leases.hold("c") as fence:
        assert fence


def test_failure_frees_the_slot(tmp_path: Path) -> None:
    leases = LimitedLeases(FileLeases(tmp_path), 1)
    for _ in range(3):
        with pytest.raises(RuntimeError, match="broken"), leases.hold("a"):
            raise RuntimeError("broken")


def test_waiting_for_a_held_lease_uses_a_slot_temporarily(tmp_path: Path) -> None:
    elsewhere = FileLeases(tmp_path)
    leases = LimitedLeases(FileLeases(tmp_path), 1)
    with elsewhere.hold("a"):
        with leases.hold("a") as fence:
            assert fence is None
        with leases.hold("b") as fence:
            assert fence
