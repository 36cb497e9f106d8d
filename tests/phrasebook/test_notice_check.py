"""The words of a typed notice: what contradicts what, and nothing that calls a notice genuine."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.law.assessment import AssessedFine
from portal.law.notice_check import check_notice
from portal.phrasebook.notice_check import sentence
from portal.vehicle.fines import read_fines
from tests.law.records import NOTICE_MEMBERS, TODAY


def found(kind: str, due: str = "", **typed: str) -> list[str]:
    (fine,) = read_fines([{NOTICE_MEMBERS[name]: text for name, text in typed.items()}], "")
    due_on = date.fromisoformat(due) if due else None
    assessed = AssessedFine(fine, TODAY)
    points = [one for one in check_notice(assessed, due_on) if one.kind == kind]
    return [sentence(one, assessed, due_on).replace("\u00a0", " ") for one in points]


@pytest.mark.parametrize(
    ("typed", "part"),
    [
        ({"codigo": "7454"}, "O dígito do código 745-4 não confere: com 745, seria 745-5."),
        ({"orgao": "000100", "auto": "X123"}, "Os autos da PRF começam por B, E, R ou T"),
        ({"codigo": "7455", "valor": "250.00"}, "a tabela traz R$ 130,16 (com desconto, R$ 104,13"),
        ({"codigo": "7455", "valor": "250.00"}, "Juros só há depois do vencimento."),
        ({"codigo": "7455", "valor": "90.00"}, "a notificação pede R$ 90,00."),
        ({"infracao": "10/03/2026", "autuacao": "25/05/2026"}, "76 dias depois da infração"),
        (
            {"infracao": "10/03/2026", "autuacao": "01/03/2026"},
            "A notificação tem data anterior à da infração.",
        ),
        ({"infracao": "10/03/2025", "penalidade": "10/06/2026"}, "além dos 180 dias"),
        (
            {"infracao": "10/03/2026", "penalidade": "01/03/2026"},
            "A penalidade tem data anterior à da infração.",
        ),
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
def test_contradiction_is_said(typed: dict[str, str], part: str) -> None:
    sentences = found("against", **typed)
    assert any(part in each for each in sentences), sentences


def test_unknown_codes_are_left_open() -> None:
    assert found("open", orgao="999990", codigo="7994") == [
        "O código de órgão 999990 não está na tabela do portal, que é de 2021.",
        "O código 799-4 não está na tabela do portal: pode ser novo.",
    ]


def test_late_penalty_without_known_defence_is_left_open() -> None:
    (said,) = found("open", infracao="10/03/2025", penalidade="10/12/2025")
    assert "ou 360 se houve defesa prévia" in said
    assert "não se sabe se houve" in said


@pytest.mark.parametrize(
    ("typed", "kind", "said"),
    [
        (
            {"codigo": "50020", "valor": "260.32"},
            "agrees",
            "R$ 260,32 cabe na tabela: é o dobro de R$ 130,16 (art. 257, § 8º, do CTB).",
        ),
        ({"codigo": "50020", "valor": "999.99"}, "against", "não é o dobro de nenhum valor"),
        (
            {"codigo": "7455", "valor": "78.10", "autuacao": "20/10/2026"},
            "open",
            "cabe no desconto de 40% do SNE, que se paga já na autuação",
        ),
        ({"codigo": "7730"}, "open", "confira se ainda vale quitar só o pedágio"),
        ({"codigo": "7382"}, "agrees", "leve, 3 pontos, não contados"),
        ({"codigo": "5169"}, "agrees", "gravíssima, 7 pontos, não contados"),
        ({"codigo": "7455"}, "agrees", "média, 4 pontos): confira"),
        ({"codigo": "7455", "valor": "85.13"}, "agrees", "antes de 01/11/2016; desde então é R$"),
        ({"due": "2026-09-14"}, "open", "O vencimento, 14/09/2026, já passou"),
        (
            {"infracao": "10/03/2026", "autuacao": "25/03/2026"},
            "agrees",
            "dentro do prazo, pelas datas que você digitou",
        ),
        ({"codigo": "5002", "infracao": "10/03/2026"}, "open", "não se sabe se as datas são dela"),
    ],
)
def test_point_is_said(typed: dict[str, str], kind: str, said: str) -> None:
    sentences = found(kind, **typed)
    assert any(said in each for each in sentences), sentences


def test_no_sentence_speaks_of_a_source() -> None:
    """The visitor typed the values, and no source sent them."""
    for typed in (
        {"codigo": "7455", "valor": "130", "infracao": "10/03/2026", "autuacao": "25/03/2026"},
        {"codigo": "6831", "valor": "172.72"},
        {"codigo": "5169", "valor": "5869.40"},
        {"codigo": "5002", "infracao": "10/03/2025", "penalidade": "10/12/2025"},
    ):
        for kind in ("against", "agrees", "open"):
            for each in found(kind, **typed):
                assert "fonte" not in each
                assert "registr" not in each


@given(
    st.fixed_dictionaries({}, optional={name: st.text(max_size=12) for name in NOTICE_MEMBERS}),
    st.none() | st.dates(),
)
def test_no_notice_is_called_genuine(typed: dict[str, str], due_on: date | None) -> None:
    (fine,) = read_fines([{NOTICE_MEMBERS[name]: text for name, text in typed.items()}], "")
    assessed = AssessedFine(fine, TODAY)
    for one in check_notice(assessed, due_on):
        said = sentence(one, assessed, due_on)
        for word in ("verdadeir", "autêntic", "legítim", "genuín"):
            assert word not in said.replace(str(fine.notice) or "\0", "")
