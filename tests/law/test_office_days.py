"""A last day without office hours moves to the next working day, with the discount."""

from datetime import date, timedelta
from types import SimpleNamespace

import pytest

from portal.law import deadlines
from portal.law.assessment import AssessedFine
from portal.law.office_days import easter, holiday_name, next_office_day
from portal.vehicle.plate import STATES
from tests.law.records import fine


@pytest.mark.parametrize(
    ("thirtieth", "state", "last"),
    [
        # A working day stays, a Saturday and a Sunday move to Monday.
        ("2026-11-18", "", "2026-11-18"),
        ("2026-11-21", "", "2026-11-23"),
        ("2026-11-22", "MG", "2026-11-23"),
        # 20 November, a Friday in 2026: national since 2024, and before that of some states.
        ("2026-11-20", "", "2026-11-23"),
        ("2026-11-20", "SP", "2026-11-23"),
        ("2023-11-20", "RJ", "2023-11-21"),
        ("2023-11-20", "MG", "2023-11-20"),
        # Independence, a Monday in 2026 after a weekend.
        ("2026-09-05", "SP", "2026-09-08"),
        ("2026-09-07", "", "2026-09-08"),
        ("2026-09-06", "TO", "2026-09-09"),
        ("2027-09-07", "", "2027-09-08"),
        # Christmas and New Year.
        ("2026-12-24", "", "2026-12-24"),
        ("2026-12-25", "", "2026-12-28"),
        ("2026-12-31", "", "2026-12-31"),
        ("2027-01-01", "", "2027-01-04"),
        ("2028-12-25", "RS", "2028-12-26"),
        # Carnival: closed in practice until Ash Wednesday, which opens at noon.
        ("2026-02-14", "", "2026-02-18"),
        ("2026-02-16", "BA", "2026-02-18"),
        ("2026-02-17", "RJ", "2026-02-18"),
        ("2026-02-18", "", "2026-02-18"),
        ("2027-02-08", "", "2027-02-10"),
        # Good Friday and Corpus Christi follow Easter.
        ("2026-04-03", "", "2026-04-06"),
        ("2026-06-04", "", "2026-06-05"),
        # States: the day is a holiday only in its own.
        ("2026-07-09", "SP", "2026-07-10"),
        ("2026-07-09", "RJ", "2026-07-09"),
        ("2026-07-09", "", "2026-07-09"),
        ("2026-07-09", "sp ", "2026-07-10"),
        ("2026-04-23", "RJ", "2026-04-24"),
        ("2026-07-02", "BA", "2026-07-03"),
        ("2026-08-05", "PB", "2026-08-06"),
        ("2026-10-19", "PI", "2026-10-20"),
        ("2026-11-30", "DF", "2026-12-01"),
        ("2026-04-13", "ES", "2026-04-14"),
        ("2026-03-19", "CE", "2026-03-20"),
        # Acre moves a holiday of Tuesday to Thursday to Friday.
        ("2026-11-17", "AC", "2026-11-17"),
        ("2026-11-20", "AC", "2026-11-23"),
        ("2027-11-19", "AC", "2027-11-22"),
        # "BR" and an unknown state have the national holidays alone.
        ("2026-07-09", "BR", "2026-07-09"),
        ("2026-09-07", "XX", "2026-09-08"),
    ],
)
def test_last_day_moves_to_the_next_day_with_office_hours(
    thirtieth: str, state: str, last: str
) -> None:
    ends, issued = date.fromisoformat(last), date.fromisoformat(thirtieth) - timedelta(30)
    record = fine(
        code="7455",
        committed_on=issued,
        notified_on=issued,
        penalty_on=issued,
        authority_state=state,
    )
    for name in ("prior_defence", "driver_nomination", "appeal"):
        on_the_day = getattr(AssessedFine(record, ends), name)
        assert (on_the_day.ends_on, on_the_day.verdict) == (ends, "in_time"), name
        after = getattr(AssessedFine(record, ends + timedelta(1)), name)
        assert after.verdict == ("late" if name == "driver_nomination" else "unknown")
    assert AssessedFine(record, ends).has_discount
    assert AssessedFine(record, ends).standing == "due"
    assert not AssessedFine(record, ends + timedelta(1)).has_discount
    assert AssessedFine(record, ends + timedelta(1)).standing == "probably_due"


def test_day_near_the_end_of_the_calendar_has_no_last_day() -> None:
    assert deadlines.last_day(date(9999, 12, 1), 30) == date(9999, 12, 31)
    assert deadlines.last_day(date(9999, 12, 2), 30) is None
    assert deadlines.last_day(None, 30) is None


@pytest.mark.parametrize("day", ["2000-04-23", "2024-03-31", "2025-04-20", "2038-04-25"])
def test_easter_of_known_years(day: str) -> None:
    assert easter(int(day[:4])) == date.fromisoformat(day)


def test_holidays_agree_with_the_package_holidays() -> None:
    """The package "holidays" is the oracle. It lists carnival and Corpus Christi as optional."""
    oracle: SimpleNamespace = pytest.importorskip("holidays.countries.brazil")
    optional = {"segunda-feira de carnaval", "terça-feira de carnaval", "Corpus Christi"}
    for year in range(2021, 2041):
        days = [date(year, 1, 1) + timedelta(n) for n in range(365)]
        for state in STATES:
            theirs = {day for day in oracle.Brazil(years=[year], subdiv=state) if day in days}
            for day in days:
                name = holiday_name(day, state)
                if day.weekday() < 5 and not (name in optional and day not in theirs):
                    assert bool(name) == (day in theirs), (day, state, name)


def test_next_office_day_is_never_earlier() -> None:
    for n in range(800):
        day = date(2026, 1, 1) + timedelta(n)
        assert day <= next_office_day(day, "AC") <= day + timedelta(5)


def test_state_of_the_authoritys_code_counts_for_the_standing_too() -> None:
    """The note once called a fine overdue on the day that the calendar gave as its last."""
    record = fine(
        code="7455",
        committed_on=date(2026, 5, 1),
        notified_on=date(2026, 5, 10),
        penalty_on=date(2026, 6, 9),
        authority_code="126100",  # Detran/SP; 09/07 is a holiday of São Paulo
    )
    found = AssessedFine(record, date(2026, 7, 10))
    assert found.appeal.verdict == "in_time"
    assert found.has_discount
    assert found.standing == "due"
    assert found.status.until == date(2026, 7, 10)
