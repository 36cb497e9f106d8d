"""What the vehicle's own data say against it, in its known members and in others."""

from collections.abc import Mapping
from datetime import date

import pytest

from portal.law.adverse import Subject
from portal.law.findings import AdverseData
from portal.law.identification import condition_findings
from portal.vehicle.decode import Decoded, read_decode
from tests.factories import HIDDEN as MARKER
from tests.factories import decoded

TODAY = date(2026, 11, 21)


def decoded_with(members: Mapping[str, object]) -> Decoded:
    return read_decode({**decoded("ABC1D23"), **members}, MARKER)


def subjects(**members: object) -> list[Subject]:
    found = condition_findings(decoded_with(members), TODAY)
    return [one.subject for one in found if isinstance(one, AdverseData)]


WORDS = [
    ("AL. FIDUC.", Subject.LIEN),
    ("AL FIDUC", Subject.LIEN),
    ("ALIEN FIDUC", Subject.LIEN),
    ("ALIENACAO FIDUCIARIA", Subject.LIEN),
    ("ARREND MERC", Subject.LIEN),
    ("ARRENDAMENTO MERCANTIL", Subject.LIEN),
    ("LEASING", Subject.LIEN),
    ("RES. DOMINIO", Subject.LIEN),
    ("RESERVA DE DOMINIO", Subject.LIEN),
    ("FINANCIADO", Subject.LIEN),
    ("GRAVAME", Subject.LIEN),
    ("PENHOR", Subject.LIEN),
    ("ROUB/FURT", Subject.THEFT),
    ("ROUBO", Subject.THEFT),
    ("FURTADO", Subject.THEFT),
    ("QUEIXA", Subject.THEFT),
    ("RENAJUD", Subject.COURT),
    ("PENHORA", Subject.COURT),
    ("BLOQUEIO JUDICIAL", Subject.COURT),
    ("INDISPONIBILIDADE DE BENS", Subject.COURT),
    ("APREENSAO", Subject.SEIZURE),
    ("APREENDIDO", Subject.SEIZURE),
    ("BUSCA E APREENSAO", Subject.SEIZURE),
    ("SUCATEADO", Subject.SCRAP),
    ("SUCATA", Subject.SCRAP),
    ("BAIXADO", Subject.SCRAP),
    ("IRRECUPERAVEL", Subject.SCRAP),
    ("GRANDE MONTA", Subject.SCRAP),
    ("SEM DIREITO A DOCUMENTACAO", Subject.SCRAP),
    ("MONTA MEDIA", Subject.DAMAGE),
    ("MEDIA MONTA", Subject.DAMAGE),
    ("SINISTRADO", Subject.DAMAGE),
    ("INDENIZADO", Subject.DAMAGE),
    ("LEILAO", Subject.AUCTION),
    ("BLOQUEADO", Subject.BLOCK),
    ("RESTRICAO ADMINISTRATIVA", Subject.BLOCK),
    ("COMUNICACAO DE VENDA", Subject.SALE_NOTICE),
    ("CLONADO", Subject.CHASSIS),
]


@pytest.mark.parametrize(("words", "subject"), WORDS)
def test_ill_word_is_read_in_any_text(words: str, subject: Subject) -> None:
    assert subjects(descricao=f"AUDI/A3 SEDAN {words}") == [subject]
    assert subjects(situacao=f"VEICULO COM {words}") == [subject]


def test_table_has_the_words_of_the_review() -> None:
    assert len(WORDS) == 38


@pytest.mark.parametrize(
    "chassis",
    [
        "9BRBLWHE0K0123456 (REM)",
        "9BRBLWHE0K0123456REM",
        "9BRBLWHE0K0123456 - REM",
        "9BRBLWHE0K0123456*REM",
        "REM 9BRBLWHE0K0123456",
        "9BRBLWHE0K0123456 REM",
        "9BRBLWHE0K0123456/REM",
        "9BRBLWHE0K0123456 REM.",
        "9BRBLWHE0K0123456-REMARCADO",
        "9BRBLWHE0K0123456 REMARC",
        "REMARCADO 9BRBLWHE0K0123456",
    ],
)
def test_restamped_chassis_is_read_in_any_form(chassis: str) -> None:
    assert subjects(chassi=chassis) == [Subject.CHASSIS]


@pytest.mark.parametrize(
    "words",
    ["PCD", "BLINDADO", "TAXI", "COLECAO", "AUTOESCOLA", "GNV", "ESPECIE PASSAGEIRO", "COR PRATA"],
)
def test_harmless_word_is_no_finding(words: str) -> None:
    assert subjects(descricao=f"AUDI/A3 {words}") == []
    assert subjects(especie=words) == []


@pytest.mark.parametrize(
    ("members", "shown"),
    [
        ({"situacao": "EM CIRCULACAO"}, (("situacao", "EM CIRCULACAO"),)),
        (
            {"restricao1": "ALIENACAO FIDUCIARIA"},
            (("restricao1", "ALIENACAO FIDUCIARIA"),),
        ),
        ({"restricoes": ["SEM", "RESTRICAO"]}, (("restricoes", "SEM; RESTRICAO"),)),
        ({"nomeProprietario": "JOSE DA SILVA", "cpfCnpj": "123"}, ()),
        ({"mensagem": "Consulta realizada com sucesso", "cor": ""}, ()),
        ({"quantidade": 3, "ativo": True}, ()),
    ],
)
def test_unknown_text_member_is_kept(
    members: dict[str, object], shown: tuple[tuple[str, str], ...]
) -> None:
    others = decoded_with(members).others
    assert tuple((name, str(text)) for name, text in others) == shown


def test_unknown_members_are_bounded() -> None:
    many = {f"membro{number}": "X" for number in range(100)}
    assert len(decoded_with(many).others) == 20
