"""What sixty texts of orders name, what of it is in force, and the marks of the four acts."""

from datetime import date
from typing import Any

import pytest

from portal.law.act_answers import ACTS
from portal.law.orders import AssessedOrder, conflicts_of, lifters_of
from portal.law.restriction_kinds import read_kinds
from portal.vehicle.content import is_record
from portal.vehicle.judicial import Restriction, read_restrictions
from tests.law.records import TODAY, effect_of, restriction

_LETTERS = {"no": "n", "unknown": "u", "careful": "c", "yes": "y"}


def letters(record: Restriction, today: date = TODAY) -> str:
    answers = effect_of(record, today=today).answers
    return "".join(_LETTERS[answers[act].mark] for act in ACTS)


# A text, the kinds in force that it states, and the marks of transfer, licence, drive and removal.
TEXTS = [
    # Any sign divides, and "E": only the kind beside the lifting or the denial is in doubt.
    ("TRANSFERENCIA. PENHORA BAIXADA", "transferencia", "nuuu"),
    ("TRANSFERENCIA - PENHORA BAIXADA", "transferencia", "nuuu"),
    ("TRANSFERENCIA – PENHORA LEVANTADA", "transferencia", "nuuu"),
    ("TRANSFERENCIA E PENHORA BAIXADA", "transferencia", "nuuu"),
    ("TRANSFERENCIA + PENHORA BAIXADA", "transferencia", "nuuu"),
    ("TRANSFERENCIA (PENHORA BAIXADA)", "transferencia", "nuuu"),
    ("TRANSFERENCIA [ARRESTO CANCELADO]", "transferencia", "nuuu"),
    ("TRANSFERENCIA\nPENHORA BAIXADA", "transferencia", "nuuu"),
    ("TRANSFERENCIA: PENHORA BAIXADA", "transferencia", "nuuu"),
    ("PENHORA BAIXADA E CIRCULACAO", "circulacao", "nnnn"),
    ("PENHORA (BAIXADA) TRANSFERENCIA", "transferencia", "nuuu"),
    ("TRANSFERENCIA, PENHORA - BAIXADA", "transferencia", "nuuu"),
    ("NAO CONSTA PENHORA. CONSTA TRANSFERENCIA", "transferencia", "nuuu"),
    ("SEM RESTRICAO DE LICENCIAMENTO. TRANSFERENCIA ATIVA", "transferencia", "nuuu"),
    ("NAO CONSTA CIRCULACAO E CONSTA TRANSFERENCIA", "transferencia", "nuuu"),
    # What a lifting or a denial goes on over.
    ("PENHORA E ARRESTO BAIXADOS", "", "uuuu"),
    ("NAO CONSTA PENHORA E ARRESTO", "", "uuuu"),
    ("BUSCA E APREENSAO BAIXADA", "", "uuuu"),
    ("BUSCA-E-APREENSAO BAIXADA", "", "uuuu"),
    ("TRANSFERENCIA - BAIXADA", "", "uuuu"),
    ("RENAJUD: TRANSFERENCIA. BAIXADA", "", "uuuu"),
    ("TRANSFERENCIA, PENHORA; BAIXADAS", "", "uuuu"),
    ("BAIXADA: PENHORA", "", "uuuu"),
    # Stated again, a kind is in force.
    ("TRANSFERENCIA BAIXADA; TRANSFERENCIA ATIVA", "transferencia", "nuuu"),
    ("TRANSFERENCIA EXCLUIDA; TRANSFERENCIA", "transferencia", "nuuu"),
    ("PENHORA LEVANTADA EM 10/10/2025 - PENHORA", "penhora", "nuuu"),
    ("CIRCULACAO CANCELADA E CIRCULACAO VIGENTE", "circulacao", "nnnn"),
    ("SEM PENHORA; PENHORA", "penhora", "nuuu"),
    # A permission is no ban.
    ("PENHORA, CIRCULACAO AUTORIZADA", "penhora", "nccy"),
    ("TRANSFERENCIA COM CIRCULACAO PERMITIDA", "transferencia", "nycy"),
    ("TRANSFERENCIA, LICENCIAMENTO PERMITIDO", "transferencia", "ncyy"),
    ("TRANSFERENCIA (AUTORIZADO O LICENCIAMENTO)", "transferencia", "ncyy"),
    ("TRANSFERENCIA; CIRCULACAO ESTA AUTORIZADA", "transferencia", "nycy"),
    ("CIRCULACAO AUTORIZADA", "", "nuuu"),
    ("TRANSFERENCIA AUTORIZADA", "", "uuuu"),
    ("CIRCULACAO AUTORIZADA; CIRCULACAO", "circulacao", "nnnn"),
    ("CIRCULACAO NAO AUTORIZADA", "circulacao", "nnnn"),
    ("PROIBIDA A CIRCULACAO AUTORIZADA", "circulacao", "nnnn"),
    ("RESTRICAO DE CIRCULACAO AUTORIZADA", "circulacao", "nnnn"),
    ("BUSCA E APREENSAO AUTORIZADA", "busca_e_apreensao", "nucn"),
    # Abbreviations and usual words.
    ("PENHORA REGISTRADA", "penhora", "ncyy"),
    ("LIC.", "licenciamento", "nncc"),
    ("CIRC.", "circulacao", "nnnn"),
    ("RESTR. TRANSF.", "transferencia", "nyyy"),
    ("CONSTA PENHORA", "penhora", "ncyy"),
    ("BUSCA E APREENSAO DEFERIDA", "busca_e_apreensao", "nucn"),
    ("APREENDER VEICULO", "busca_e_apreensao", "nucn"),
    ("RECOLHER AO PATIO", "circulacao", "nnnn"),
    # What the vehicle's next owner may say, and what no judge ordered.
    ("PERDIMENTO", "perdimento", "nucc"),
    ("ADJUDICACAO", "adjudicacao", "nucc"),
    ("ARREMATACAO", "arrematacao", "nucc"),
    ("LEILAO JUDICIAL", "leilao_judicial", "nucc"),
    ("HASTA PUBLICA", "leilao_judicial", "nucc"),
    ("REINTEGRACAO DE POSSE", "reintegracao_de_posse", "nucn"),
    ("VEICULO APREENDIDO", "apreendido", "nunn"),
    ("VEICULO DEVE SER APREENDIDO", "busca_e_apreensao", "nuun"),
    ("SEJA APREENDIDO E RECOLHIDO AO PATIO", "circulacao busca_e_apreensao", "nnnn"),
    ("ALIENACAO FIDUCIARIA", "alienacao_fiduciaria", "ncyy"),
    ("AL. FIDUC.", "alienacao_fiduciaria", "ncyy"),
    ("BLOQUEIO DETRAN", "bloqueio_administrativo", "nuuu"),
    ("BLOQUEIO ADMINISTRATIVO DO DETRAN", "bloqueio_administrativo", "nuuu"),
    ("PENHORA; LEILAO CANCELADO", "penhora", "nuuu"),
    ("PENHORA LEILAO CANCELADO", "penhora leilao_judicial", "nuuu"),
    ("OFICIO DETRAN", "", "nuuu"),
    ("PROIBIDA A ALIENACAO", "", "nuuu"),
]


@pytest.mark.parametrize(("text", "stated", "marks"), TEXTS)
def test_order_states_what_is_in_force(text: str, stated: str, marks: str) -> None:
    assert set(read_kinds(text, TODAY).stated) == set(stated.split())
    assert letters(restriction(text)) == marks


def test_table_has_sixty_texts() -> None:
    assert len({text for text, *_ in TEXTS}) >= 60


# The kind, other members, the marks. The others only make them worse.
FURTHER: list[tuple[str, dict[str, Any], str]] = [
    ("TRANSFERENCIA", {"detail": "RESTRICAO TOTAL - APREENDER VEICULO"}, "nnnn"),
    ("TRANSFERENCIA", {"detail": "CIRCULACAO"}, "nnnn"),
    ("TRANSFERENCIA", {"detail": "BUSCA E APREENSAO DEFERIDA"}, "nucn"),
    ("TRANSFERENCIA", {"judicial_code": "BUSCA E APREENSAO"}, "nucn"),
    ("TRANSFERENCIA", {"block_type": "CIRCULACAO"}, "nnnn"),
    ("TRANSFERENCIA", {"detail": "ALGO QUE NINGUEM LE"}, "nuuu"),
    ("AVERBACAO PREMONITORIA", {"detail": "PENHORA"}, "ncyy"),
    ("TRANSFERENCIA", {"detail": "CONSTA DETALHE RENAJUD"}, "nyyy"),
    ("TRANSFERENCIA", {"detail": "NADA CONSTA"}, "nyyy"),
    ("TRANSFERENCIA", {"detail": "VEICULO NAO POSSUI RESTRICAO"}, "nyyy"),
    ("TRANSFERENCIA", {"detail": "TRANSFERENCIA BAIXADA"}, "nyyy"),
    ("TRANSFERENCIA", {"detail": "PROCESSO 5001234-56.2025.8.13.0024"}, "nyyy"),
    ("TRANSFERENCIA", {"judicial_code": "12345"}, "nyyy"),
    ("TRANSFERENCIA", {"judicial_code": "TJ-0042A"}, "nyyy"),
    ("TRANSFERENCIA", {"block_type": "JUDICIAL"}, "nyyy"),
    ("TRANSFERENCIA", {"block_type": "BAIXADA"}, "nyyy"),
    ("TRANSFERENCIA BAIXADA", {"block_type": "TRANSFERENCIA"}, "nuuu"),
    ("TRANSFERENCIA BAIXADA", {"detail": "CIRCULACAO"}, "nnnn"),
    ("CIRCULACAO", {"detail": "CIRCULACAO AUTORIZADA"}, "nnnn"),
    ("", {"block_type": "TRANSFERENCIA BAIXADA"}, "uuuu"),
    ("", {"detail": "TRANSFERENCIA"}, "nuuu"),
    ("", {"recorded": False, "detail": "CIRCULACAO"}, "uuuu"),
]


@pytest.mark.parametrize(("kinds", "members", "marks"), FURTHER)
def test_other_texts_make_an_order_only_worse(
    kinds: str, members: dict[str, Any], marks: str
) -> None:
    assert letters(restriction(kinds, **members)) == marks


def test_kind_of_the_detail_is_a_kind_of_the_order() -> None:
    order = AssessedOrder(restriction("TRANSFERENCIA", detail="CIRCULACAO"), TODAY)
    assert order.effect.kinds == ("transferencia", "circulacao")


def test_lifting_or_denial_in_the_detail_is_found() -> None:
    for detail in ("TRANSFERENCIA BAIXADA", "VEICULO NAO POSSUI RESTRICAO"):
        order = AssessedOrder(restriction("TRANSFERENCIA", detail=detail), TODAY)
        assert [each.code for each in conflicts_of(order)] == ["detail_lifts"]


def test_lines_of_a_text_are_parts_of_it() -> None:
    (record,) = read_restrictions(
        [{"restricoes": "TRANSFERENCIA\nPENHORA BAIXADA", "constaRenajud": True}], ""
    )
    assert str(record.kinds_text) == "TRANSFERENCIA; PENHORA BAIXADA"
    assert letters(record) == "nuuu"


def test_permission_is_quoted_as_sent() -> None:
    answer = effect_of(restriction("PENHORA, CIRCULACAO AUTORIZADA")).answers["drive"]
    assert (answer.ground, answer.quoted) == ("permitted", "CIRCULACAO AUTORIZADA")


@pytest.mark.parametrize(
    ("texts", "lifters"),
    [
        (("TRANSFERENCIA",), ("judge",)),
        (("ALGO NOVO",), ("judge",)),
        (("ALIENACAO FIDUCIARIA",), ("alienacao_fiduciaria",)),
        (("BLOQUEIO DETRAN",), ("bloqueio_administrativo",)),
        (("TRANSFERENCIA", "ALIENACAO FIDUCIARIA"), ("judge", "alienacao_fiduciaria")),
        (("PENHORA, BLOQUEIO DETRAN",), ("judge", "bloqueio_administrativo")),
        ((), ("judge",)),
    ],
)
def test_only_orders_of_a_judge_are_lifted_by_one(
    texts: tuple[str, ...], lifters: tuple[str, ...]
) -> None:
    assert lifters_of([AssessedOrder(restriction(text), TODAY) for text in texts]) == lifters


def test_seizure_cites_its_own_article() -> None:
    """DL 911/1969: the caput of art. 3º is the seizure, § 9º lifts the restriction after it."""
    answers = effect_of(restriction("BUSCA E APREENSAO")).answers
    assert [answers[act].source for act in ("transfer", "drive", "removal")] == [
        "DL 911/1969, art. 3º, caput",
        "DL 911/1969, art. 3º, § 12",
        "DL 911/1969, art. 3º, caput e § 12",
    ]


SENT: list[tuple[dict[str, Any], str]] = [
    ({"observacao": "APREENDER O VEICULO E RECOLHER AO PATIO"}, "nnnn"),
    ({"complemento": ["CIRCULACAO"]}, "nnnn"),
    ({"observacao": "NADA CONSTA"}, "nyyy"),
    ({"observacao": "Consulta realizada com sucesso"}, "nyyy"),
    ({"idConsulta": "12345", "ativo": True, "uf": "MG"}, "nyyy"),
    ({"nomeAutor": "BUSCA E APREENSAO LTDA"}, "nyyy"),
]


@pytest.mark.parametrize(("members", "marks"), SENT)
def test_unknown_member_of_an_order_is_read_like_its_detail(
    members: dict[str, Any], marks: str
) -> None:
    sent = {"restricoes": "TRANSFERENCIA", "constaRenajud": True, **members}
    (record,) = read_restrictions([sent], "")
    assert letters(record) == marks


@pytest.mark.parametrize(
    ("members", "marks"),
    [
        ({"codigoJudicial": "BUSCA E APREENSAO"}, "uuuu"),
        ({"observacao": "CIRCULACAO PROIBIDA"}, "uuuu"),
        ({"codigoJudicial": "12345"}, "yyyy"),
        ({"codigoJudicial": "TJ-0042A"}, "yyyy"),
        ({"codigoJudicial": "NADA CONSTA"}, "yyyy"),
    ],
)
def test_flag_that_denies_beside_content_leaves_all_open(
    members: dict[str, Any], marks: str
) -> None:
    sent = {"constaRenajud": False, "placa": "ABC1D23", **members}
    assert letters(read_restrictions([sent], "")[0]) == marks
    if "codigoJudicial" in members:
        assert is_record(sent) is (marks == "uuuu")
