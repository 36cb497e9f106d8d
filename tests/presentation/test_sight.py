"""What a page shows of a vehicle, as a caller's last sight keeps it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from portal.dossier.answers import Panels
from portal.dossier.dossier import Dossier
from portal.dossier.sight import sight_of
from portal.law.at_the_car import Seen
from portal.law.declared import Declared
from tests.factories import decode_body, fine, renainf_body, renajud_body
from tests.presentation.rendering import CONTEXT, NOW, PLATE, UNASKED, answered

CLEAN = Panels(
    answered(decode_body(str(PLATE))), answered(renainf_body()), answered(renajud_body()), UNASKED
)
SEEN: tuple[Declared, ...] = (Seen("cambio", "differs", "loja", NOW.date()),)


def dossier(answers: Panels = CLEAN) -> Dossier:
    return CONTEXT.dossier(PLATE, answers)


def test_equal_dossier_is_not_judged_again() -> None:
    former = sight_of(dossier(), NOW)
    again = dossier()
    later = sight_of(again, NOW + timedelta(minutes=5), former)
    assert former is not None and later is not None and later.at > former.at
    assert later == sight_of(dossier(), NOW + timedelta(minutes=5))
    assert "verdict" not in vars(again) and "verdict" in vars(_judged(dossier()))


def _judged(dossier: Dossier) -> Dossier:
    sight_of(dossier, NOW)
    return dossier


@pytest.mark.parametrize(
    "other",
    [
        dossier(replace(CLEAN, fines=answered(renainf_body(fine())))),
        dossier(replace(CLEAN, fines=replace(CLEAN.fines, state="stale"))),
        replace(dossier(), declarations=SEEN),
        replace(dossier(), today=NOW.date() + timedelta(days=1)),
        replace(dossier(), marker="OCULTO"),
    ],
)
def test_dossier_that_differs_is_judged(other: Dossier) -> None:
    former = sight_of(dossier(), NOW)
    shown = sight_of(other, NOW, former)
    assert former is not None and shown is not None
    assert shown.made_of != former.made_of and "verdict" in vars(other)
