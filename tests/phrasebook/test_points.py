"""The words of a fine's points: why they do not count, or are not known."""

from datetime import date
from typing import get_args

import pytest

from portal.law.points import Points, Why
from portal.phrasebook import points as say

NOT_COUNTED = "Os pontos não são contados: "
SAID: dict[Why, str] = {
    "": "",
    "sent": "Pontos enviados pela fonte; não conferidos com a tabela.",
    "unknown": "Não é possível dizer os pontos desta infração.",
    "rule_changed": (
        "Não é possível dizer os pontos desta infração: a regra mudou entre 2016 e 2021."
    ),
    "in_future": "Não é possível dizer se contam: a data da infração está no futuro.",
    "none": "Esta infração não gera pontos.",
    "no_rule": "Não há norma clara sobre a contagem de pontos neste caso.",
    "expired": "Os pontos contam por 12 meses; em regra, saíram da contagem em 18/08/2025.",
    "suspends": (
        f"{NOT_COUNTED}a própria infração leva à suspensão do direito de dirigir (art. 259, § 4º, "
        "do CTB)."
    ),
    "other_person": f"{NOT_COUNTED}quem responde por ela não é condutor nem proprietário.",
    "excluded": f"{NOT_COUNTED}o art. 259, § 4º, do CTB a exclui da contagem.",
    "by_manual": (
        f"{NOT_COUNTED}o manual de fiscalização a trata como não computável (Res. CONTRAN "
        "985/2022)."
    ),
    "called_off": "Se foi cancelada ou virou advertência, não gera pontos.",
    "diverging": "Não é possível dizer os pontos: código e descrição são de infrações diferentes.",
}


@pytest.mark.parametrize("why", get_args(Why))
def test_reason_of_points_is_said(why: Why) -> None:
    found = Points(4, 0, why, left_on=date(2025, 8, 18))
    assert say.sentence(found) == SAID[why]


def test_infraction_before_the_rule_is_said() -> None:
    found = Points(4, 0, "excluded", is_before_law=True)
    assert say.sentence(found) == (
        f"{SAID['excluded']} A infração é anterior a 12/04/2021, quando a regra era outra."
    )


def test_fines_with_expired_points_share_a_sentence() -> None:
    assert say.expired(Points(4, 0, "expired")) == (
        "Os pontos desta multa contavam por 12 meses desde a infração: em regra, já não contam "
        "mais."
    )
    assert say.expired(Points(4, 0, "excluded")) == ""
