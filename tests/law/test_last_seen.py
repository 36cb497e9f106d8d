"""What differs from what a caller last saw, and when "last" moves."""

from decimal import Decimal

import pytest

from portal.law.last_seen import (
    VISIT,
    SeenFine,
    Sight,
    Sights,
    after_look,
    before_of,
    is_worth_keeping,
    since_last_seen,
)
from tests.law.sights import FINE, NOTICE, START, sight


def codes(before: Sight, now: Sight) -> list[str]:
    return [each.code for each in since_last_seen(before, now).changes]


def test_last_seen_moves_when_half_an_hour_has_passed_since_the_last_request() -> None:
    first = after_look(None, sight())
    assert first.before is None
    again = after_look(first, sight(29))
    assert again.before is None  # the same visit, read twice
    later = after_look(again, sight(29 + 30))
    assert later.before == again.latest
    # A reload within the visit keeps the difference in view.
    assert after_look(later, sight(29 + 30 + 29)).before == again.latest
    assert before_of(Sights(None, sight()), START + VISIT) == sight()


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({}, []),
        ({"fines": {"a": FINE, "b": NOTICE}}, ["notices_added"]),
        ({"fines": {"a": FINE, "b": FINE}}, ["fines_added"]),
        ({"fines": {"a": SeenFine("paid", Decimal("130.16"))}}, ["fines_paid"]),
        ({"fines": {"a": SeenFine("suspended", Decimal("130.16"))}}, ["fines_changed"]),
        ({"fines": {}}, ["fines_gone"]),
        ({"fines": {"a": FINE, "b": SeenFine("paid", None)}}, []),
        ({"orders": ["o", "p"]}, ["orders_added"]),
        ({"orders": []}, ["orders_gone"]),
        ({"price": (Decimal(89325), Decimal(89325))}, ["price_changed"]),
        ({"level": "blocked"}, ["verdict_changed"]),
    ],
)
def test_each_difference_has_its_code(parts: dict[str, object], expected: list[str]) -> None:
    assert codes(sight(), sight(60, **parts)) == expected


@pytest.mark.parametrize("part", ["level", "fines", "orders", "price"])
def test_what_is_not_known_is_not_compared(part: str) -> None:
    """An outage never reads as a record that is gone."""
    name = "verdict" if part == "level" else part
    for before, now in (
        (sight(0, **{part: None}), sight(60)),
        (sight(), sight(60, **{part: None})),
    ):
        found = since_last_seen(before, now)
        assert not found.changes and found.unknown == (name,) and name not in found.same


@pytest.mark.parametrize(
    ("latest", "expected"),
    [
        (sight(0.5), False),  # the page is reloaded
        (sight(1), True),
        (sight(0.5, fines={}), True),
        (sight(31), True),  # another visit
    ],
)
def test_page_that_is_reloaded_writes_nothing(latest: Sight, expected: bool) -> None:
    kept = after_look(None, sight())
    assert is_worth_keeping(kept, after_look(kept, latest)) is expected
