"""What a record of a fine may mean: amounts, dates, speeds and notices, a row a case."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from portal.law.assessment import AssessedFine, totals
from portal.law.findings import FinesInStanding
from portal.law.identification import hints_of
from portal.law.record_findings import fine_findings
from tests.law.records import CHARGED, TODAY, fine, known

NO_PENALTY: dict[str, Any] = {"penalty_on": None, "penalty_on_text": ""}
NO_NOTICE: dict[str, Any] = {"notified_on": None, "notified_on_text": ""}


def assessed(today: date = TODAY, **given: Any) -> AssessedFine:
    fields = {name: value for name, value in {**CHARGED, **given}.items() if value != ""}
    return AssessedFine(fine(**fields), today)


@pytest.mark.parametrize(
    ("code", "sent", "exact", "why", "single", "steps"),
    [
        # The source sent the discounted amount: the discount is not applied twice.
        ("7455", "104", "130.16", "sent_at_80", None, 0),
        ("7455", "104.13", "130.16", "sent_at_80", None, 0),
        ("7455", "104.12", "130.16", "sent_at_80", None, 0),
        ("7455", "78", "130.16", "sent_at_60", None, 0),
        ("7455", "78.09", "130.16", "sent_at_60", None, 0),
        ("7455", "78.10", "130.16", "sent_at_60", None, 0),
        ("5010", "704", "880.41", "sent_at_80", None, 0),
        ("7463", "117.13", "195.23", "sent_at_60", None, 0),
        ("7463", "156.18", "195.23", "sent_at_80", None, 0),
        ("7455", "50", "130.16", "sent_too_low", None, 0),
        ("7455", "130", "130.16", "as_sent", None, 0),
        ("7455", "130.16", "130.16", "as_sent", None, 0),
        # A fine for not naming the driver is twice the first fine.
        ("5002", "176", "176.76", "nic_doubled", "88.38", 0),
        ("5002", "260", "260.32", "nic_doubled", "130.16", 0),
        ("5002", "260.32", "260.32", "nic_doubled", "130.16", 0),
        ("5002", "390", "390.46", "nic_doubled", "195.23", 0),
        ("5002", "586", "586.94", "nic_doubled", "293.47", 0),
        ("5002", "1173", "1173.88", "nic_doubled", "586.94", 0),
        ("5002", "1760", "1760.82", "nic_doubled", "880.41", 0),
        ("5002", "2934", "2934.70", "nic_doubled", "1467.35", 0),
        ("5002", "500", "500", "no_single_nic", None, 0),
        # Excess of weight: an amount for each fraction of 200 kg.
        ("6831", "130", "130.16", "as_sent", None, 0),
        ("6831", "135", "135.48", "overweight", "130.16", 1),
        ("6831", "146", "146.12", "overweight", "130.16", 3),
        ("6831", "172", "172.72", "overweight", "130.16", 4),
        ("6831", "236", "236.56", "overweight", "130.16", 5),
        ("6831", "236.56", "236.56", "overweight", "130.16", 5),
        ("68311", "321", "321.68", "overweight", "130.16", 6),
        ("6831", "608.96", "608.96", "overweight", "130.16", 15),
        ("6831", "250", "250", "outside_overweight", "130.16", 0),
    ],
)
def test_amount_that_the_source_means(
    code: str, sent: str, exact: str, why: str, single: str | None, steps: int
) -> None:
    found = assessed(code=code, amount=Decimal(sent)).amount
    assert (found.value, found.sent, found.why) == (Decimal(exact), Decimal(sent), why)
    assert (found.single, found.steps) == (Decimal(single) if single else None, steps)


@pytest.mark.parametrize("paid", ["78.09", "78.10", "104.12", "104", "130"])
def test_discounted_payment_settles_the_fine(paid: str) -> None:
    found = assessed(paid_on=date(2026, 7, 1), paid_amount=Decimal(paid))
    assert found.is_paid, found.status


UNDATED: dict[str, Any] = {**NO_NOTICE, **NO_PENALTY}
# The record, its standing, why, and the deadline of the penalty.
DATES: list[tuple[dict[str, Any], str, str, str]] = [
    # Without any notice: no charge is possible before two periods of 30 days.
    ({**UNDATED, "committed_on": date(2026, 11, 15)}, "notice", "unnotified", "awaited"),
    ({**UNDATED, "committed_on": date(2026, 10, 22)}, "notice", "unnotified", "awaited"),
    ({**UNDATED, "committed_on": date(2026, 10, 21)}, "notice", "unnotified_late", "awaited"),
    ({**UNDATED, "committed_on": date(2026, 9, 22)}, "notice", "unnotified_late", "awaited"),
    ({**UNDATED, "committed_on": date(2026, 9, 21)}, "unknown", "no_dates", "awaited"),
    (UNDATED, "unknown", "no_dates", "awaited_long"),
    ({}, "enforceable", "enforceable", "in_time"),
    # A penalty before the end of the prior defence.
    ({"penalty_on": date(2026, 4, 4)}, "enforceable", "enforceable", "before_defence"),
    ({"penalty_on": date(2026, 4, 23)}, "enforceable", "enforceable", "before_defence"),
    ({"penalty_on": date(2026, 3, 25)}, "enforceable", "enforceable", "before_defence"),
    # An infraction in the future, or steps before it.
    ({"committed_on": date(2026, 12, 1)}, "unknown", "infraction_in_future", "in_future"),
    ({"penalty_on": date(2026, 3, 1)}, "unknown", "penalty_before_infraction", "before_start"),
    ({"notified_on": date(2026, 3, 1)}, "unknown", "notice_before_infraction", "in_time"),
    ({"penalty_on": date(2026, 12, 1)}, "unknown", "penalty_in_future", "in_future"),
    # The notice of a fine for not naming the driver is compulsory, too.
    (
        {"code": "5002", **NO_PENALTY, "committed_on": date(2026, 10, 1)},
        *("unknown", "notice_before_infraction", "nic"),
    ),
    ({"code": "5002", **NO_PENALTY}, "notice", "notice", "nic"),
    ({"code": "5002", **UNDATED}, "unknown", "no_dates", "nic"),
]


@pytest.mark.parametrize(("given", "standing", "why", "penalty"), DATES)
def test_dates_of_a_fine(given: dict[str, Any], standing: str, why: str, penalty: str) -> None:
    found = assessed(**given)
    assert (found.standing, found.status.why, found.penalty.why) == (standing, why, penalty)


@pytest.mark.parametrize(
    ("given", "remarks"),
    [
        # Never notified: the debt may not hold the licensing.
        (NO_NOTICE, ("never_notified",)),
        ({**NO_NOTICE, "penalty_on": date(2026, 11, 10)}, ("never_notified",)),
        ({"notified_on": date(2026, 6, 25)}, ("penalty_before_notice",)),
        ({}, ()),
    ],
)
def test_steps_that_are_missing_or_in_disorder(
    given: dict[str, Any], remarks: tuple[str, ...]
) -> None:
    assert assessed(**given).status.remarks == remarks


@pytest.mark.parametrize("penalty_on", [date(2026, 3, 26), date(2026, 4, 4), date(2026, 4, 23)])
def test_penalty_within_the_defence_is_not_in_time(penalty_on: date) -> None:
    assert assessed(penalty_on=penalty_on).penalty.verdict == "unknown"
    assert assessed(penalty_on=date(2026, 4, 24)).penalty.verdict == "in_time"


def test_fine_with_a_description_of_another_code_has_no_points_of_its_own() -> None:
    found = assessed(amount=Decimal(195), description="DEIXAR O CONDUTOR DE USAR O CINTO SEGURANCA")
    assert found.points.counted is None
    assert found.points.why == "diverging"
    assert totals([found]).points_unknown == 1


@pytest.mark.parametrize(
    ("given", "lapses"),
    [
        ({"committed_on": date(2015, 3, 1), "penalty_on": date(2015, 6, 10)}, True),
        ({"committed_on": date(2019, 3, 1), **NO_PENALTY}, True),
        ({}, False),
    ],
)
def test_fine_that_may_have_lapsed_is_counted(given: dict[str, Any], lapses: bool) -> None:
    found = assessed(**{**given, **NO_NOTICE})
    [reason] = fine_findings([found])
    assert isinstance(reason, FinesInStanding)
    assert reason.lapsed == lapses


def test_one_notice_in_two_records_is_counted_once() -> None:
    first = assessed(notice="A123", **NO_PENALTY)
    second = assessed(notice="A123")
    sums = totals([first, second])
    assert sums.same_notice == (2,)
    assert (sums.open_count, sums.amount, sums.points) == (1, Decimal("130.16"), 4)
    assert totals([first, assessed(notice="A124")]).same_notice == ()
    assert totals([first, assessed(notice="A123", authority="PRF")]).same_notice == ()
    assert totals([assessed(notice="000"), assessed(notice="000", place="X")]).same_notice == ()
    paid = assessed(notice="A123", paid_on=date(2026, 7, 1), paid_amount=Decimal(130))
    assert totals([second, paid]).also_paid == 1
    assert paid.record.notice == known("A123")


def test_instalments_of_one_notice_are_one_fine() -> None:
    parcels = [
        assessed(notice="E5", kind=f"PARCELA {n}/3", paid_amount=Decimal("43.39"))
        for n in (1, 2, 3)
    ]
    sums = totals(parcels)
    assert (sums.open_count, sums.amount) == (1, Decimal("130.16"))
    assert sums.points + sums.points_to_come == 4
    unknown = [
        assessed(notice="E6", code="99999", kind=f"PARCELA {n} DE 2", amount=Decimal("50.10"))
        for n in (1, 2)
    ]
    assert totals(unknown).amount == Decimal("100.20")
    assert totals([unknown[0], unknown[0]]).amount == Decimal("50.10")


def test_paid_and_open_record_of_one_notice_are_one_fine() -> None:
    paid = assessed(notice="A1", paid_on=date(2026, 7, 1), paid_amount=Decimal(130))
    sums = totals([paid, assessed(notice="A1")])
    assert (sums.open_count, sums.paid_count, sums.points) == (1, 0, 4)


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("6610", "6610"),
        ("66102", "6610"),
        ("6920", "6920"),
        ("65992", "6599"),
        ("5002", "5002"),
        ("6408", "6408"),
        ("7455", None),
        ("XYZ", None),
    ],
)
@pytest.mark.parametrize("paid_on", [None, date(2026, 7, 1)])
def test_fine_says_something_about_the_vehicle(
    code: str, hint: str | None, paid_on: date | None
) -> None:
    fines = [assessed(code=code, amount=None, paid_on=paid_on)] * 2
    assert hints_of(fines) == ({hint: fines[0]} if hint else {})


def test_defence_runs_from_no_notice_before_the_infraction() -> None:
    found = assessed(committed_on=date(2026, 10, 20), notified_on=date(2026, 10, 1), **NO_PENALTY)
    assert found.prior_defence.ends_on is None
    assert found.driver_nomination.ends_on is None


def test_code_of_another_infraction_decides_no_amount() -> None:
    found = assessed(description="DIRIGIR SEM CINTO", amount=Decimal(100))
    assert found.wording.conflict
    assert (found.amount.value, found.amount.origin) == (Decimal(100), "sent")
