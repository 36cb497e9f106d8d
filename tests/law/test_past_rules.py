"""An infraction's gravity follows the law on its day, or is unknown."""

from datetime import date
from decimal import Decimal

import pytest

from portal.law.assessment import AssessedFine, totals
from portal.law.infractions import as_committed, rows
from tests.law.records import fine, infraction_of

TODAY = date(2026, 11, 21)


def assessed(code: str, committed_on: date | None, sent: str | None) -> AssessedFine:
    amount = None if sent is None else Decimal(sent)
    return AssessedFine(fine(code=code, committed_on=committed_on, amount=amount), TODAY)


@pytest.mark.parametrize(
    ("code", "committed_on", "sent", "gravity", "points", "exact"),
    [
        ("6858", date(2019, 5, 10), "130", "media", 4, "130.16"),
        ("6858", date(2019, 5, 10), "130.16", "media", 4, "130.16"),
        ("6742", date(2018, 3, 1), "195", "grave", 5, "195.23"),
        ("6386", date(2018, 3, 1), "195", "grave", 5, "195.23"),
        ("6920", date(2018, 3, 1), "195", "grave", 5, "195.23"),
        ("6866", date(2017, 3, 1), "130", "media", 4, "130.16"),
        # Lei 13.855/2019 changed this rule in October 2019. In that month, the amount decides.
        ("6742", date(2020, 2, 1), None, "gravissima", 7, "1467.35"),
        ("6742", date(2019, 9, 30), None, "grave", 5, "195.23"),
        ("6742", date(2019, 10, 15), "195", "grave", 5, "195.23"),
        ("6742", date(2019, 10, 15), "1467", "gravissima", 7, "1467.35"),
        ("6742", date(2020, 3, 1), "1467", "gravissima", 7, "1467.35"),
        # Lei 14.071/2020 changed the rules of these codes on 12/04/2021.
        ("6386", date(2021, 4, 11), None, "grave", 5, "195.23"),
        ("6386", date(2021, 4, 12), None, "gravissima", 7, "293.47"),
        ("69201", date(2021, 4, 11), None, "grave", 5, "195.23"),
        ("6858", date(2020, 3, 1), "293", "gravissima", 7, "293.47"),
        # Before 01/11/2016 the earlier rule applies, even if the record has no amount.
        ("6858", date(2015, 3, 1), "85", "media", 4, "85.13"),
        ("6858", date(2015, 3, 1), None, "media", 4, "85.13"),
        ("6742", date(2016, 10, 31), None, "grave", 5, "127.69"),
        # If the record has no date, its amount determines the rule.
        ("6858", None, "130", "media", 4, "130.16"),
        ("6858", None, "85", "media", 4, "85.13"),
        ("6858", None, "293", "gravissima", 7, "293.47"),
        # From 12/04/2021 the current rule applies.
        ("6858", date(2021, 4, 12), None, "gravissima", 7, "293.47"),
        ("6920", date(2024, 1, 1), "130", "media", 4, "130.16"),
        # This code's gravity stayed the same on 01/11/2016, but its multiplying factor changed.
        ("5029", date(2015, 3, 1), "957", "gravissima", 7, "957.70"),
        ("5029", date(2018, 3, 1), None, "gravissima", 7, "880.41"),
    ],
)
def test_infraction_has_the_rule_of_its_day(
    code: str, committed_on: date | None, sent: str | None, gravity: str, points: int, exact: str
) -> None:
    found = assessed(code, committed_on, sent)
    assert found.gravity == gravity
    assert found.points.by_gravity == points
    assert found.amount.value == Decimal(exact)
    assert found.amount.matches in (True, None)


@pytest.mark.parametrize(
    ("code", "committed_on"),
    [
        *((code, None) for code in ("6858", "6920", "69201", "6742", "6386", "6866")),
        *((code, date(2019, 10, 15)) for code in ("6858", "6742", "6866")),
    ],
)
def test_unknown_day_of_change_without_amount_is_mudou(
    code: str, committed_on: date | None
) -> None:
    found = assessed(code, committed_on, None)
    assert found.gravity == "mudou"
    assert (found.points.by_gravity, found.amount.value) == (None, None)
    assert found.amount.why == "unknown_since_changed"
    assert found.points.why == "rule_changed"


def test_amount_of_neither_rule_gives_no_gravity() -> None:
    found = assessed("6858", None, "500")
    assert found.amount.value == Decimal(500)
    assert found.gravity == "mudou"
    assert found.amount.why == "changed"


def test_only_rows_with_another_old_gravity_have_a_past_rule() -> None:
    changed = {
        row.code
        for row in rows()
        if as_committed(infraction_of(row.code + row.split), None, None).points is None
    }
    assert changed == {"6386", "6742", "6858", "6866", "6920"}


@pytest.mark.parametrize(("code", "counted"), [("6858", 4), ("6866", 4), ("6920", 0), ("6742", 5)])
def test_points_that_do_not_count_did_not_before(code: str, counted: int) -> None:
    """Art. 233 (692-0) does not count; the others do, with the points of their day."""
    former = as_committed(infraction_of(code), None, date(2015, 3, 1))
    assert former.points_counted == counted


def test_unknown_gravity_is_counted_as_such_in_totals() -> None:
    found = assessed("6858", None, None)
    assert totals([found, found]).gravities == (("mudou", 2),)
