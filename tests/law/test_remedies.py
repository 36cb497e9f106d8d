"""The remedies against a fine and their deadlines, by the fine's standing."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import pytest

from portal.law.assessment import AssessedFine
from portal.law.deadlines import Deadline
from portal.vehicle.field import Field
from portal.vehicle.fines import Fine
from tests.law.records import fine

TODAY = date(2026, 11, 21)
SPEEDING, UNREGISTERED, ON_FOOT, UNKNOWN = "7455", "6599", "7382", "9999"
DEFENCE, NOMINATION, APPEAL = "prior_defence", "driver_nomination", "appeal"


def steps_of(found: Sequence[Deadline]) -> list[str]:
    return [deadline.step for deadline in found]


def issued(days_ago: int, code: str = SPEEDING, **given: Any) -> Fine:
    day = TODAY - timedelta(days=days_ago)
    return fine(**{"code": code, "committed_on": day, "notified_on": day, **given})


@pytest.mark.parametrize(
    ("record", "remedies"),
    [
        (issued(0), [DEFENCE, NOMINATION]),
        (issued(30), [DEFENCE, NOMINATION]),
        # 30 days are the minimum for a defence, but the limit for a nomination.
        (issued(32), [DEFENCE]),
        # An unknown code is assumed to be a driver's infraction.
        (issued(30, UNKNOWN), [DEFENCE, NOMINATION]),
        # These infractions have no driver to name.
        (issued(30, UNREGISTERED), [DEFENCE]),
        (issued(30, ON_FOOT), [DEFENCE]),
        # After a late notice, an appeal is added, because the source may have omitted a penalty.
        (issued(10, committed_on=TODAY - timedelta(days=500)), [DEFENCE, NOMINATION, APPEAL]),
        # The source's words say which steps were taken.
        (issued(10, kind="EM DEFESA"), [NOMINATION, APPEAL]),
        (issued(10, kind="DEFESA PRÉVIA INDEFERIDA"), [NOMINATION]),
        *(
            (issued(10, kind=word), [DEFENCE, NOMINATION])
            for word in (
                *("SEM DEFESA", "PRAZO DE DEFESA", "AGUARDANDO DEFESA PREVIA", "NAO HOUVE DEFESA"),
                *("DEFESA NAO APRESENTADA", "AGUARDANDO CONDUTOR INDICADO"),
            )
        ),
        (issued(10, kind="CONDUTOR INDICADO"), [DEFENCE]),
        # Against a penalty the remedy is an appeal.
        (issued(120, penalty_on=TODAY - timedelta(days=10)), [APPEAL]),
        (issued(120, penalty_on=TODAY - timedelta(days=90)), [APPEAL]),
        (issued(10, penalty_on_text=Field("", "hidden")), [APPEAL]),
        (issued(10, penalty_on_text="ontem"), [APPEAL]),
        # The record has no notification, or one in the future.
        (fine(code=SPEEDING), [APPEAL]),
        (issued(-1), [APPEAL]),
    ],
)
def test_remedies_follow_the_notice_then_the_penalty(record: Fine, remedies: list[str]) -> None:
    found = AssessedFine(record, TODAY)
    assert steps_of(found.remedies) == remedies
    assert steps_of(found.deadlines) == [
        *("notice", "penalty"),
        *remedies,
        "prescription",
    ]


def test_paid_fine_has_no_deadlines() -> None:
    found = AssessedFine(issued(10, paid_on=TODAY), TODAY)
    assert found.is_paid
    assert found.deadlines == found.remedies == ()
