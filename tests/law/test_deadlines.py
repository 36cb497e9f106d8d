"""Deadlines of a fine: met up to the last day, late afterwards, unknown without dates."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.law import deadlines
from portal.law.assessment import AssessedFine
from portal.law.deadlines import plus_years
from portal.law.notice_check import check_notice
from portal.vehicle.fines import read_fines
from tests.factories import HIDDEN
from tests.factories import fine as sent_fine

TODAY = date(2026, 11, 21)
WEDNESDAY = date(2026, 11, 18)
COMMITTED = date(2024, 8, 18)
DAYS = st.none() | st.dates()


def after(days: int) -> date:
    return COMMITTED + timedelta(days=days)


def test_sample_fine_was_notified_on_day_22_of_30() -> None:
    deadline = deadlines.notice_of_infraction(COMMITTED, date(2024, 9, 9), TODAY)
    assert deadline.verdict == "in_time"
    assert (deadline.days_used, deadline.limit_days) == (22, 30)
    assert deadline.ends_on == date(2024, 9, 17)
    assert deadline.article == "art. 281, § 1º, II, do CTB"


@pytest.mark.parametrize(
    ("days", "verdict"), [(0, "in_time"), (30, "in_time"), (31, "late"), (-1, "unknown")]
)
def test_notice_deadline_is_thirty_days(days: int, verdict: str) -> None:
    deadline = deadlines.notice_of_infraction(COMMITTED, after(days), TODAY)
    assert deadline.verdict == verdict


@pytest.mark.parametrize(
    ("days", "verdict"),
    [
        (0, "in_time"),
        (180, "in_time"),
        (181, "unknown"),
        (360, "unknown"),
        (361, "late"),
        (-1, "unknown"),
    ],
)
def test_penalty_deadline_is_180_days_or_360_with_defence(days: int, verdict: str) -> None:
    deadline = deadlines.notice_of_penalty(COMMITTED, after(days), TODAY)
    assert deadline.verdict == verdict


@pytest.mark.parametrize(
    ("first", "second", "what"),
    [
        (date(2030, 8, 18), date(2030, 9, 9), "infraction"),
        (date(2026, 11, 1), date(2026, 11, 22), None),
    ],
)
def test_future_date_starts_no_deadline(first: date, second: date, what: str | None) -> None:
    for deadline, event in (
        (deadlines.notice_of_infraction(first, second, TODAY), what or "notice"),
        (deadlines.notice_of_penalty(first, second, TODAY), what or "penalty"),
        (deadlines.prescription(first, second, TODAY), what or "penalty"),
    ):
        assert (deadline.verdict, deadline.why, deadline.event) == ("unknown", "in_future", event)
        assert deadline.ends_on is None


def test_penalty_limit_does_not_apply_to_older_fines() -> None:
    old = date(2021, 4, 11)
    assert deadlines.notice_of_penalty(old, date(2023, 1, 1), TODAY).verdict == "unknown"
    new = date(2021, 4, 12)
    assert deadlines.notice_of_penalty(new, date(2023, 1, 1), TODAY).verdict == "late"


def test_missing_penalty_is_never_late() -> None:
    deadline = deadlines.notice_of_penalty(COMMITTED, None, TODAY)
    assert (deadline.verdict, deadline.why, deadline.days) == ("unknown", "awaited_long", 825)


def test_defence_and_appeal_deadlines_are_minimums() -> None:
    for deadline_of in (deadlines.prior_defence, deadlines.appeal):
        assert deadline_of(WEDNESDAY - timedelta(days=30), WEDNESDAY).verdict == "in_time"
        assert deadline_of(WEDNESDAY - timedelta(days=31), WEDNESDAY).verdict == "unknown"


def test_driver_nomination_deadline_is_thirty_days() -> None:
    deadline_of = deadlines.driver_nomination
    assert deadline_of(WEDNESDAY - timedelta(days=30), WEDNESDAY).verdict == "in_time"
    assert deadline_of(WEDNESDAY - timedelta(days=31), WEDNESDAY).verdict == "late"
    assert deadline_of(WEDNESDAY + timedelta(days=1), WEDNESDAY).verdict == "unknown"


def test_prescription_starts_at_the_earliest_end_of_the_case_after_a_penalty() -> None:
    assert deadlines.prescription(COMMITTED, None, TODAY).ends_on == date(2029, 8, 18)
    deadline = deadlines.prescription(COMMITTED, date(2025, 1, 10), TODAY)
    assert deadline.ends_on == date(2030, 2, 10)
    assert (deadline.why, deadline.event) == ("lapse_ahead", "penalty")


@pytest.mark.parametrize(
    ("penalty_on", "state", "due_on"),
    [
        (date(2021, 6, 10), "", date(2021, 7, 12)),  # 10/07/2021 was a Saturday
        (date(2021, 8, 8), "MG", date(2021, 9, 8)),  # a national holiday
        (date(2021, 6, 9), "SP", date(2021, 7, 12)),  # a holiday of the state, then a weekend
    ],
)
def test_prescription_of_collection_starts_when_the_time_to_pay_ends(
    penalty_on: date, state: str, due_on: date
) -> None:
    """Both are drawn in one picture, and once they were up to four days apart."""
    assert deadlines.appeal(penalty_on, TODAY, state).ends_on == due_on
    deadline = deadlines.prescription(COMMITTED, penalty_on, TODAY, state)
    # A period of years ends on its own day, working day or not.
    assert deadline.ends_on == due_on.replace(year=due_on.year + 5)


def test_passed_prescription_is_unknown() -> None:
    deadline = deadlines.prescription(date(2018, 1, 1), None, TODAY)
    assert (deadline.verdict, deadline.why) == ("unknown", "may_have_lapsed")


def test_five_years_from_a_leap_day_end_on_march_1() -> None:
    assert plus_years(date(2020, 2, 29), 5) == date(2025, 3, 1)
    assert plus_years(date(2020, 2, 29), 4) == date(2024, 2, 29)


@given(DAYS, DAYS, st.dates())
def test_deadlines_never_raise(first: date | None, second: date | None, today: date) -> None:
    computed = [
        deadlines.notice_of_infraction(first, second, today),
        deadlines.notice_of_penalty(first, second, today),
        deadlines.prior_defence(first, today),
        deadlines.driver_nomination(first, today),
        deadlines.appeal(first, today),
        deadlines.prescription(first, second, today),
    ]
    for deadline in computed:
        assert deadline.article
        if first is None and second is None:
            assert deadline.verdict == "unknown"


@pytest.mark.parametrize(
    ("code", "infraction", "notice", "penalty", "whys"),
    [
        # A transfer that is late, a write-off, a false residence: found out in the register.
        ("69201", "10/01/2025", "10/06/2025", "10/03/2026", ("not_caught", "not_caught")),
        ("6920", "10/01/2025", "10/06/2025", "10/09/2025", ("not_caught", "not_caught")),
        ("69980", "10/01/2025", "10/06/2025", "", ("not_caught", "not_caught")),
        ("70131", "10/01/2025", "20/01/2025", "10/03/2025", ("in_time", "in_time")),
        ("7455", "10/01/2025", "10/06/2025", "10/03/2026", ("late", "late")),
    ],
)
def test_day_of_an_infraction_that_nobody_sees_starts_no_term(
    code: str, infraction: str, notice: str, penalty: str, whys: tuple[str, str]
) -> None:
    """CTB, art. 282, § 6º-A: the term runs from the day on which the authority learned of it."""
    sent = sent_fine(
        codigoInfracao=code,
        descricao="",
        dataInfracao=infraction,
        dataEmissaoNotificacao=notice,
        dataEmissaoPenalidade=penalty,
        valor="",
    )
    (record,) = read_fines([sent], HIDDEN)
    fine = AssessedFine(record, date(2026, 11, 28))
    assert (fine.notice.why, fine.penalty.why) == whys
    if whys[0] == "not_caught":
        assert not fine.notice.is_doubtful and not fine.penalty.is_doubtful
        assert fine.notice.ends_on is fine.penalty.ends_on is None
        points = check_notice(fine, None)
        assert "against" not in {point.kind for point in points if point.code == "deadline"}


@pytest.mark.parametrize(("committed_on", "event"), [(None, "infraction"), (COMMITTED, "notice")])
def test_missing_day_of_a_notices_deadline_is_named(committed_on: date | None, event: str) -> None:
    found = deadlines.notice_of_infraction(committed_on, None, TODAY)
    assert (found.why, found.event) == ("no_date", event)
