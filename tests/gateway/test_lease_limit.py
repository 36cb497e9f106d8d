"""No more leases than places: what is beyond them is refused before anything is opened."""

import pytest

from portal.gateway import Failure, FileLeases, LimitedLeases


def test_a_lease_beyond_the_limit_is_refused_and_opens_nothing(tmp_path):
    leases = LimitedLeases(FileLeases(tmp_path), 2)
    with leases.hold("a") as one, leases.hold("b") as other:
        assert one and other
        with pytest.raises(Failure) as caught, leases.hold("c"):
            pass
        assert (caught.value.kind, caught.value.retry_after_s) == ("unreachable", 1.0)
        assert {each.name for each in tmp_path.iterdir()} == {"a", "b"}
    with leases.hold("c") as fence:
        assert fence


def test_a_place_is_free_again_after_a_failure(tmp_path):
    leases = LimitedLeases(FileLeases(tmp_path), 1)
    for _ in range(3):
        with pytest.raises(RuntimeError, match="broken"), leases.hold("a"):
            raise RuntimeError("broken")


def test_a_lease_that_another_holds_takes_a_place_while_it_is_tried(tmp_path):
    elsewhere = FileLeases(tmp_path)
    leases = LimitedLeases(FileLeases(tmp_path), 1)
    with elsewhere.hold("a"):
        with leases.hold("a") as fence:
            assert fence is None
        with leases.hold("b") as fence:
            assert fence
