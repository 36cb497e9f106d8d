"""The words of the counts over fines, of their gravities and of their discounts."""

from datetime import date
from decimal import Decimal
from typing import Any, get_args

import pytest
from msgspec.structs import replace

from portal.law.assessment import AssessedFine, totals
from portal.law.infractions import Gravity
from portal.phrasebook import fines as say_fine
from portal.phrasebook import sums as say
from tests.law.records import TODAY, fine, known

OPEN = fine(
    code="7455",
    amount=Decimal(130),
    committed_on=date(2026, 3, 10),
    notified_on=date(2026, 3, 25),
    penalty_on=date(2026, 6, 10),
)
NOTICE = replace(OPEN, penalty_on=None)
OFF = replace(OPEN, kind=known("CANCELADA"))
PAID = replace(OPEN, paid_on=date(2026, 7, 1), paid_amount=Decimal(130))
A1, A2 = {"notice": known("A1")}, {"notice": known("A2")}
SPEEDING = ["7455", "7463", "7471", "9999"]


def assessed(record: Any, **changed: Any) -> AssessedFine:
    return AssessedFine(replace(record, **changed), TODAY)


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ((), ""),
        (((OPEN, A1),), "1 multa"),
        (((OPEN, A1), (OPEN, A2)), "2 multas"),
        (((OPEN, A1), (NOTICE, A2)), "1 multa e 1 autuação"),
        (((NOTICE, A1), (NOTICE, A2)), "2 autuações"),
        (((OPEN, A1), (NOTICE, A1)), "1 multa"),
    ],
)
def test_fines_and_notices_are_counted(records: tuple[Any, ...], words: str) -> None:
    found = [assessed(record, **changed) for record, changed in records]
    assert say.fines_in_words(found) == say.open_words(totals(found)) == words


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ((OPEN,), ""),
        ((OFF,), "1 dada como cancelada"),
        ((OFF, OFF), "2 dadas como canceladas"),
    ],
)
def test_fines_that_are_called_off_are_counted(records: tuple[Any, ...], words: str) -> None:
    assert say.called_off_words(totals([assessed(each) for each in records])) == words


@pytest.mark.parametrize(
    ("records", "words"),
    [
        (((OPEN, {}), (PAID, {})), ""),
        (
            ((OPEN, {}), (OPEN, {})),
            "2 registros idênticos: confirme se é a mesma multa; a soma conta todos.",
        ),
        (
            ((OPEN, {}), (OPEN, {}), *[(OPEN, {"place": known("X")})] * 3),
            "2 registros idênticos e 3 registros idênticos: confirme se cada grupo é uma multa só; "
            "a soma conta todos.",
        ),
        (
            ((OPEN, A1), (NOTICE, A1)),
            "O mesmo auto de infração em 2 registros: confirme se é um só; a soma conta cada auto "
            "uma vez.",
        ),
        (
            ((OPEN, A1), (PAID, A1)),
            "1 auto de infração consta pago e também em aberto: confirme qual registro vale; a "
            "soma conta o que está em aberto.",
        ),
        (
            ((OPEN, A1), (PAID, A1), (OPEN, A2), (PAID, A2)),
            "2 autos de infração constam pagos e também em aberto: confirme qual registro vale; a "
            "soma conta o que está em aberto.",
        ),
    ],
)
def test_repeated_records_are_said(records: tuple[Any, ...], words: str) -> None:
    assert say.repeated(totals([assessed(record, **given) for record, given in records])) == words


def test_gravities_are_counted() -> None:
    sums = totals([assessed(OPEN, code=known(code)) for code in [*SPEEDING, "7455"]])
    assert say.gravities(sums) == "2 médias, 1 grave, 1 gravíssima, 1 não identificada"


@pytest.mark.parametrize("gravity", [*get_args(Gravity), None])
def test_every_gravity_has_a_word_and_a_plural(gravity: Gravity | None) -> None:
    word = say_fine.gravity_word(gravity)
    assert say_fine.gravity_counted(gravity, 1) == f"1 {word}"
    assert say_fine.gravity_counted(gravity, 2).startswith("2 ")


def test_discount_names_the_law_before_the_practice() -> None:
    note = say_fine.discount_note(assessed(OPEN, penalty_on=date(2026, 11, 10)))
    assert "já usava o SNE quando a autuação saiu" in note
    law, practice = "a lei manda todo órgão dar os 40% (§ 6º)", "alguns só dão"
    assert note.index("20% de desconto") < note.index(law) < note.index(practice)
    assert note.endswith("Quem vai comprar não deve contar com os 40%.")


def test_ended_discount_is_said() -> None:
    assert say_fine.discount_note(assessed(OPEN)) == (
        "Em regra, esta multa não tem mais desconto: ele acaba no vencimento. Juros só correm "
        "depois do último recurso (art. 284, § 4º, do CTB)."
    )
    assert say_fine.discount_note(assessed(PAID)) == "Já paga."
