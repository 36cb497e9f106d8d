"""What becomes of an item after its lookups."""

import pytest

from portal.batch.pauses import SHORTEST_HELD_BACK_S, SHORTEST_PAUSE_S, Pause, pause_after
from portal.batch.verdicts import Fault, Verdict, ends_item, verdict

OUTAGE, MONEY = Pause("unreachable", 15.0), Pause("price", None)
FAILED = Fault("bad_answer")
HELD_BACK = Fault("bad_answer", held_back=True)
REFUSED = Fault("unreachable", OUTAGE)
CIRCUIT_OPEN = Fault("unreachable", OUTAGE, held_back=True)
NO_MONEY = Fault("price", MONEY)


@pytest.mark.parametrize(
    ("faults", "former", "attempts", "expected"),
    [
        ([], "", 0, Verdict("done")),
        ([], "bad_answer", 1, Verdict("done")),
        # Failed at each address: it leaves the run.
        ([FAILED], "", 0, Verdict("failed", "bad_answer")),
        ([HELD_BACK, FAILED], "", 0, Verdict("failed", "bad_answer")),
        # An address was held back: once more, after the others.
        ([HELD_BACK], "", 0, Verdict("pending", "bad_answer", counts=True)),
        ([HELD_BACK], "too_slow", 1, Verdict("failed", "bad_answer")),
        ([NO_MONEY], "too_slow", 1, Verdict("failed", "too_slow")),
        # Nothing was asked.
        ([REFUSED], "", 0, Verdict("pending", "", OUTAGE, counts=True)),
        ([CIRCUIT_OPEN], "", 4, Verdict("pending", "", OUTAGE)),
        ([CIRCUIT_OPEN], "too_slow", 1, Verdict("pending", "too_slow", OUTAGE)),
        # The batch pauses, but the item that has failed is not asked again.
        ([FAILED, CIRCUIT_OPEN], "", 0, Verdict("failed", "bad_answer", OUTAGE)),
        ([HELD_BACK, REFUSED], "", 0, Verdict("pending", "bad_answer", OUTAGE, counts=True)),
        # The confirmed sum is reserved for others, or spent.
        ([NO_MONEY], "", 0, Verdict("pending", counts=True)),
        ([NO_MONEY], "", 1, Verdict("pending", "", MONEY, counts=True)),
        ([FAILED, NO_MONEY], "", 0, Verdict("failed", "bad_answer")),
    ],
)
def test_verdict(faults: list[Fault], former: str, attempts: int, expected: Verdict) -> None:
    assert verdict(faults, former, attempts) == expected


def test_lookups_go_on_after_a_failure_and_end_at_a_pause() -> None:
    assert not ends_item(FAILED, [], "")
    assert ends_item(CIRCUIT_OPEN, [FAILED], "")
    assert ends_item(NO_MONEY, [], "")
    # The other lookups of an item that has failed may be stored.
    assert not ends_item(NO_MONEY, [FAILED], "")
    assert not ends_item(NO_MONEY, [], "bad_answer")


def test_lookup_that_the_portal_holds_back_fails_no_item() -> None:
    """It says nothing of the vehicle, and asking it later is free."""
    for tries in range(4):
        for attempts in range(5):
            pause = pause_after("unreachable", 1.0, tries, attempts, held_back=True)
            assert pause == Pause("unreachable", SHORTEST_HELD_BACK_S * 2**tries)
    assert pause_after("unreachable", 1.0, 0, 1) is None
    assert pause_after("unreachable", 1.0, 0, 0) == Pause("unreachable", SHORTEST_PAUSE_S)
