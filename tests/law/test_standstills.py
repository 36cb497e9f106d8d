"""Deadlines in the periods in which they did not run: never late, on their own steps and places."""

from datetime import date

import pytest

from portal.law.assessment import AssessedFine
from portal.law.standstills import standstill_of, standstills
from portal.vehicle.plate import STATES
from tests.law.records import fine

TODAY = date(2026, 11, 28)
RS_NOTICE = {"committed_on": date(2024, 5, 2), "notified_on": date(2024, 8, 20)}


def assessed(**given: object) -> AssessedFine:
    return AssessedFine(fine(code="7455", **given), TODAY)


def test_table_has_periods_of_known_states_and_steps() -> None:
    steps = {"notice", "penalty", "prior_defence", "driver_nomination", "appeal"}
    for each in standstills():
        assert each.since < each.until, each
        assert set(each.states.split()) <= set(STATES), each
        assert set(each.steps.split()) <= steps, each
        assert each.act in each.source, each


@pytest.mark.parametrize(
    ("dates", "body", "verdicts"),
    [
        # Rio Grande do Sul: infraction, notice or penalty in the period.
        (RS_NOTICE | {"penalty_on": date(2024, 12, 20)}, {"authority_state": "RS"}, "unknown"),
        (RS_NOTICE | {"penalty_on": date(2025, 12, 20)}, {"authority_state": "RS"}, "unknown"),
        (RS_NOTICE | {"penalty_on": date(2025, 12, 20)}, {"authority_code": "209520"}, "unknown"),
        (RS_NOTICE | {"penalty_on": date(2025, 12, 20)}, {"authority_code": "121100"}, "unknown"),
        # Where the state is unknown, it may be that one.
        (RS_NOTICE | {"penalty_on": date(2025, 12, 20)}, {}, "unknown"),
        # Bodies of other states and of the union went on.
        (RS_NOTICE | {"penalty_on": date(2025, 12, 20)}, {"authority_state": "SC"}, "late"),
        (RS_NOTICE | {"penalty_on": date(2025, 12, 20)}, {"authority_code": "000100"}, "late"),
        (
            RS_NOTICE | {"penalty_on": date(2025, 12, 20)},
            {"authority": "POLICIA RODOVIARIA FEDERAL", "authority_state": "RS"},
            "late",
        ),
    ],
)
def test_term_that_touches_a_period_is_never_late(
    dates: dict[str, date], body: dict[str, str], verdicts: str
) -> None:
    found = assessed(**dates, **body)
    assert (found.notice.verdict, found.penalty.verdict) == (verdicts, verdicts)
    if verdicts == "unknown":
        assert found.notice.act == found.penalty.act == "Deliberação Contran 274/2024 (RS)"
        assert found.penalty.ends_on is found.notice.ends_on is None


@pytest.mark.parametrize(
    ("committed_on", "notified_on", "verdict"),
    [
        (date(2020, 3, 10), date(2020, 9, 25), "unknown"),
        (date(2020, 4, 10), date(2021, 2, 10), "unknown"),
        (date(2020, 11, 30), date(2021, 9, 30), "unknown"),
        (date(2020, 12, 1), date(2021, 9, 30), "late"),
        # The term was over before the period began.
        (date(2019, 12, 1), date(2020, 5, 1), "late"),
        # Within the 30 days it is in time, whatever stood still.
        (date(2020, 4, 10), date(2020, 4, 20), "in_time"),
    ],
)
def test_notices_of_2020_are_judged_in_no_state(
    committed_on: date, notified_on: date, verdict: str
) -> None:
    for body in ({"authority_state": "SP"}, {"authority_code": "000100"}, {}):
        found = assessed(committed_on=committed_on, notified_on=notified_on, **body)
        assert found.notice.verdict == verdict


def test_defence_and_appeal_end_with_the_period_at_the_earliest() -> None:
    found = assessed(
        committed_on=date(2024, 2, 1),
        notified_on=date(2024, 4, 1),
        penalty_on=date(2024, 6, 1),
        authority_state="RS",
    )
    assert found.prior_defence.ends_on == found.appeal.ends_on == date(2024, 9, 17)
    assert found.driver_nomination.verdict == "unknown"
    # The time to collect starts when the appeal ends.
    assert found.prescription.ends_on == date(2029, 9, 17)


def test_missing_penalty_is_awaited_without_a_last_day() -> None:
    found = assessed(**RS_NOTICE, authority_state="RS")
    assert (found.penalty.why, found.penalty.ends_on) == ("standstill_awaited", None)


def test_a_running_term_becomes_longer() -> None:
    record = fine(code="7455", notified_on=date(2024, 8, 1), authority_state="RS")
    during = AssessedFine(record, date(2024, 9, 10)).prior_defence
    assert (during.verdict, during.ends_on) == ("in_time", date(2024, 9, 17))


@pytest.mark.parametrize("first", [date(2024, 8, 18), date(2024, 3, 1)])
def test_term_beside_a_period_is_not_touched(first: date) -> None:
    last = first if first.month == 8 else date(2024, 4, 18)
    assert standstill_of("notice", first, last, "RS", is_federal=False) is None
