"""The words of what a fine says otherwise than its codes: authority, town, wording, speeds."""

from datetime import date
from typing import Any, get_args

import pytest

from portal.law.assessment import AssessedFine
from portal.law.authorities import authority_of
from portal.law.identification import HintCode
from portal.law.source_wording import WordingConflict
from portal.law.speeding import SpeedConflict
from portal.phrasebook import infractions as say
from portal.phrasebook.authorities import appeal_body, code_conflict
from tests.law.records import TODAY, fine, infraction_of

CHECK = "confira na notificação"
NO_INFRACTION = "porque assim não haveria infração."
TOLERANCE = (
    "Descontada a tolerância do medidor (7 km/h até 100 km/h, 7% acima; Res. Contran 798/2020), a "
    "velocidade considerada seria 88 km/h"
)


@pytest.mark.parametrize(
    ("code", "body"),
    [
        ("000100", "JARI do órgão; depois, colegiado especial (art. 289, I, do CTB)"),
        ("113100", "JARI do órgão; depois, Cetran/MG (art. 289, II, do CTB)"),
        ("107200", "JARI do órgão; depois, Contrandife (art. 289, II, do CTB)"),
    ],
)
def test_appeal_body_is_said(code: str, body: str) -> None:
    authority = authority_of(code)
    assert authority is not None
    assert appeal_body(authority) == body


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        ({"authority_code": "113100", "authority": "DETRAN MG"}, ""),
        (
            {
                "authority_code": "113100",
                "municipality_code": "7107",
                "authority": "DETRAN SP",
                "authority_state": "SP",
            },
            "O código do órgão (113100) corresponde a Detran/MG, e o registro traz o órgão “DETRAN "
            f"SP”, a UF SP e o código do município de São Paulo/SP: {CHECK}.",
        ),
        (
            {"authority_code": "113100", "authority": "DETRAN", "authority_state": "SP"},
            "O código do órgão (113100) corresponde a Detran/MG, e o registro traz a UF SP: "
            f"{CHECK}.",
        ),
        (
            {"municipality_code": "7107", "authority_state": "MG"},
            f"O código do município (7107) é de São Paulo/SP, e o registro traz a UF MG: {CHECK}.",
        ),
    ],
)
def test_code_in_conflict_is_said(record: dict[str, Any], sentence: str) -> None:
    assert code_conflict(AssessedFine(fine(**record), TODAY)) == sentence


@pytest.mark.parametrize("code", get_args(HintCode))
def test_every_hint_has_its_words(code: HintCode) -> None:
    assert say.hint(code, AssessedFine(fine(code=code), TODAY)).endswith(" (multa).")


@pytest.mark.parametrize(
    ("description", "of_fine"),
    [
        ("ESTACIONAR NO PASSEIO", "multa de 10/03/2026, pelo código"),
        ("MULTA, POR NAO IDENTIFICACAO DO CONDUTOR INFRATOR, IMPOSTA", "multa de 10/03/2026"),
    ],
)
def test_hint_of_a_code_says_so_if_the_description_names_another(
    description: str, of_fine: str
) -> None:
    record = fine(code="5002", description=description, committed_on=date(2026, 3, 10))
    assert say.hint("5002", AssessedFine(record, TODAY)) == (
        "Já foi de empresa que não indicou quem dirigia: pergunte se era de locadora ou frota "
        f"({of_fine})."
    )


@pytest.mark.parametrize(
    ("conflict", "sentence"),
    [
        (
            WordingConflict(("5452",)),
            f"A descrição da fonte é a do código 545-2, e o registro traz o código 605-0: {CHECK}.",
        ),
        (
            WordingConflict(("5452", "5460")),
            "A descrição da fonte é a do código 545-2 ou 546-0, e o registro traz o código 605-0: "
            f"{CHECK}.",
        ),
        (
            WordingConflict(),
            f"A descrição da fonte não corresponde ao código 605-0: {CHECK}.",
        ),
    ],
)
def test_wording_in_conflict_is_said(conflict: WordingConflict, sentence: str) -> None:
    assert say.wording_conflict(conflict, infraction_of("6050")) == sentence


@pytest.mark.parametrize(
    ("conflict", "sentence"),
    [
        (
            SpeedConflict("within_limit"),
            "A velocidade considerada não passa do limite registrado: confira na notificação, "
            f"{NO_INFRACTION}",
        ),
        (
            SpeedConflict("other_range", fitting="7463"),
            "Pelas velocidades registradas, o código seria 746-3, e o registro traz 745-5: "
            f"{CHECK} (art. 218 do CTB).",
        ),
        (
            SpeedConflict("above_measured"),
            f"A velocidade considerada passa da medida: {CHECK}.",
        ),
        (SpeedConflict("above_fair", fair=88), f"{TOLERANCE}: {CHECK}."),
        (
            SpeedConflict("fair_within_limit", fair=88),
            f"{TOLERANCE}, dentro do limite: {CHECK}, {NO_INFRACTION}",
        ),
    ],
)
def test_speeds_in_conflict_are_said(conflict: SpeedConflict, sentence: str) -> None:
    assert say.speed_conflict(conflict, infraction_of("7455")) == sentence
