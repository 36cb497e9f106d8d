"""A typed notice: what contradicts what, row by row."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.law.assessment import AssessedFine
from portal.phrasebook.notice_check import check_notice
from portal.vehicle.fines import read_fines
from tests.law.records import TODAY

NAMES = {
    "orgao": "codigoOrgaoAutuador",
    "auto": "autoInfracao",
    "codigo": "codigoInfracao",
    "valor": "valor",
    "infracao": "dataInfracao",
    "autuacao": "dataEmissaoNotificacao",
    "penalidade": "dataEmissaoPenalidade",
}


def found(kind: str, due: str = "", **typed: str) -> list[str]:
    (fine,) = read_fines([{NAMES[name]: text for name, text in typed.items()}], "")
    due_on = date.fromisoformat(due) if due else None
    findings = check_notice(AssessedFine(fine, TODAY), due_on)
    return [one.sentence for one in findings if one.kind == kind]


@pytest.mark.parametrize(
    ("typed", "part"),
    [
        ({"codigo": "7454"}, "O dígito do código 745-4 não confere: com 745, seria 745-5."),
        ({"orgao": "000100", "auto": "X123"}, "Os autos da PRF começam por B, E, R ou T"),
        ({"codigo": "7455", "valor": "250.00"}, "a tabela traz R$ 130,16 (com desconto, R$ 104,13"),
        ({"codigo": "7455", "valor": "250.00"}, "Juros só há depois do vencimento."),
        ({"codigo": "7455", "valor": "90.00"}, "a notificação pede R$ 90,00."),
        ({"infracao": "10/03/2026", "autuacao": "25/05/2026"}, "76 dias depois da infração"),
        ({"infracao": "10/03/2026", "autuacao": "01/03/2026"}, "é anterior à da infração"),
        ({"infracao": "10/03/2025", "penalidade": "10/06/2026"}, "além dos 180 dias"),
        ({"infracao": "10/03/2026", "penalidade": "01/03/2026"}, "é anterior à da infração"),
        ({"infracao": "25/12/2026"}, "A data da infração está no futuro."),
        ({"penalidade": "25/12/2026"}, "A data da penalidade está no futuro."),
        ({"autuacao": "25/05/2026", "penalidade": "10/05/2026"}, "é anterior à da notificação"),
        (
            {"autuacao": "25/05/2026", "penalidade": "10/06/2026"},
            "antes de acabarem os 30 dias da defesa",
        ),
        ({"penalidade": "10/06/2026", "due": "2026-06-20"}, "não pode ser antes de 10/07/2026"),
        ({"autuacao": "10/11/2026", "due": "2026-12-20"}, "Só com a autuação ainda não há multa"),
    ],
)
def test_contradiction_is_found(typed: dict[str, str], part: str) -> None:
    sentences = found("against", **typed)
    assert any(part in sentence.replace("\u00a0", " ") for sentence in sentences), sentences


@pytest.mark.parametrize(
    "typed",
    [
        {"orgao": "271070", "codigo": "74550", "valor": "130.16"},
        {"orgao": "000100", "auto": "T123456789"},
        {"codigo": "7455", "valor": "104.13"},
        {"codigo": "7455", "valor": "78.10"},
        {"codigo": "7455", "valor": "130"},
        {"codigo": "7455", "valor": "85.13", "infracao": "10/10/2015"},
        {"codigo": "5169", "valor": "5869.40"},  # drunk driving again within 12 months
        {"infracao": "10/03/2026", "autuacao": "25/03/2026", "penalidade": "10/06/2026"},
        # The 30 days of defence are of 2021.
        {"infracao": "10/03/2019", "autuacao": "25/03/2019", "penalidade": "15/04/2019"},
        {"penalidade": "10/06/2026", "due": "2026-07-10"},
        {"codigo": "7670"},
        {"orgao": "999990"},
    ],
)
def test_plausible_notice_has_no_contradiction(typed: dict[str, str]) -> None:
    assert found("against", **typed) == []
    assert found("agrees", **typed) or found("open", **typed)


def test_unknown_codes_are_left_open() -> None:
    assert found("open", orgao="999990", codigo="7994") == [
        "O código de órgão 999990 não está na tabela do portal, que é de 2021.",
        "O código 799-4 não está na tabela do portal: pode ser novo.",
    ]


def test_late_penalty_without_known_defence_is_left_open() -> None:
    (sentence,) = found("open", infracao="10/03/2025", penalidade="10/12/2025")
    assert "ou 360 se houve defesa prévia" in sentence
    assert "não diz se houve" in sentence


@given(
    st.fixed_dictionaries({}, optional={name: st.text(max_size=12) for name in NAMES}),
    st.none() | st.dates(),
)
def test_no_notice_is_called_genuine(typed: dict[str, str], due_on: date | None) -> None:
    (fine,) = read_fines([{NAMES[name]: text for name, text in typed.items()}], "")
    for one in check_notice(AssessedFine(fine, TODAY), due_on):
        for word in ("verdadeir", "autêntic", "legítim", "genuín"):
            assert word not in one.sentence.replace(str(fine.notice) or "\0", "")
