"""What the vehicle's own data say against it, in its known members and in others."""

from collections.abc import Mapping
from datetime import date

import pytest

from portal.law.adverse import Subject
from portal.law.assessment import AssessedFine
from portal.law.findings import AdverseData, UnreadData
from portal.law.further_findings import further_findings
from portal.law.identification import condition_findings, identification_findings
from portal.law.orders import AssessedOrder
from portal.vehicle.decode import Decoded, read_decode
from portal.vehicle.fines import read_fines
from portal.vehicle.further import NO_CONTRACT, further_of, joined
from portal.vehicle.judicial import read_restrictions
from portal.vehicle.names import mask_names
from tests.factories import HIDDEN as MARKER
from tests.factories import decoded, fine, restriction

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


# Names and values of members that the contract does not have, and what they warn of.
NAMED: list[tuple[dict[str, object], list[Subject]]] = [
    ({"indicadorRouboFurto": "S"}, [Subject.THEFT]),
    ({"indicadorRouboFurto": "CONSTA"}, [Subject.THEFT]),
    ({"indicador_roubo_furto": 1}, [Subject.THEFT]),
    ({"roubo": True}, [Subject.THEFT]),
    ({"furtado": "SIM"}, [Subject.THEFT]),
    ({"leilao": "SIM"}, [Subject.AUCTION]),
    ({"sinistro": 1}, [Subject.DAMAGE]),
    ({"remarcacaoChassi": "S"}, [Subject.CHASSIS]),
    ({"restricaoJudicial": "ATIVA"}, [Subject.COURT]),
    ({"historicoRoubo": "1 OCORRENCIA"}, [Subject.THEFT]),
    ({"gravame": {"status": "ATIVO"}}, [Subject.LIEN]),
    ({"gravame": {"status": "ATIVO", "baixado": False}}, [Subject.LIEN]),
    ({"gravames": [{"situacao": "ATIVO"}]}, [Subject.LIEN]),
    ({"gravame": {"nomeAgente": "BANCO DO POVO"}}, [Subject.LIEN]),
    ({"dataRoubo": "12/03/2024"}, [Subject.THEFT]),
    ({"bloqueado": True}, [Subject.BLOCK]),
    ({"stolen": "yes"}, [Subject.THEFT]),
    ({"semRestricao": False}, [Subject.BLOCK]),
    ({"naoRoubado": "N"}, [Subject.THEFT]),
    ({"roubo": False}, []),
    ({"roubo": None}, []),
    ({"roubo": ""}, []),
    ({"roubo": 0}, []),
    ({"roubo": "0"}, []),
    ({"roubo": []}, []),
    ({"stolen": "no"}, []),
    ({"indicadorRouboFurto": "N"}, []),
    ({"indicadorRouboFurto": "NÃO"}, []),
    ({"indicadorRouboFurto": "NADA CONSTA"}, []),
    ({"indicadorRouboFurto": "NÃO INFORMADO"}, []),
    ({"dataRoubo": "00/00/0000"}, []),
    ({"restricaoJudicial": "INATIVA"}, []),
    ({"gravame": "QUITADO"}, []),
    ({"gravame": {"status": "BAIXADO"}}, []),
    ({"rouboFurto": {"consta": False, "uf": "MG", "dataConsulta": "20/11/2026"}}, []),
    ({"roubo": {"dataConsulta": "20/11/2026"}}, []),
    ({"restricao1": "ALIENACAO FIDUCIARIA"}, [Subject.LIEN]),
    ({"semRestricao": True}, []),
    ({"naoRoubado": "S"}, []),
    ({"semRestricao": "NADA CONSTA"}, []),
    ({"nomeProprietario": "JOSE FURTADO"}, []),
    ({"quantidade": 3, "ativo": True, "cor": "PRATA"}, []),
]


@pytest.mark.parametrize(("members", "expected"), NAMED)
def test_name_is_judged_with_its_value(members: dict[str, object], expected: list[Subject]) -> None:
    assert subjects(**members) == expected


# An object, and what is said of it.
OBJECTS: list[tuple[dict[str, object], list[str]]] = [
    (
        {"gravame": {"status": "ATIVO", "banco": "BANCO X", "dataInclusao": "10/10/2024"}},
        ["gravame status: ATIVO"],
    ),
    ({"sinistro": {"indicador": "S", "ano": 2019}}, ["sinistro indicador: S"]),
    ({"gravame": {"situacao": "BAIXADO", "agente": "BANCO X"}}, []),
    ({"gravame": {"status": "QUITADO", "tipo": "ALIENACAO FIDUCIARIA", "contrato": "12"}}, []),
    (
        {"gravame": {"situacao": "ATIVO", "situacaoAnterior": "BAIXADO"}},
        ["gravame situacao: ATIVO"],
    ),
    ({"gravame": {"situacao": "BAIXADO", "aviso": "NOVO GRAVAME ATIVO"}}, ["NOVO GRAVAME ATIVO"]),
    ({"restricao": {"situacao": "BAIXADA", "motivo": "ROUBO"}}, ["ROUBO"]),
    ({"sinistro": {"indicador": "S", "monta": "MEDIA"}}, ["sinistro monta: MEDIA"]),
    ({"indicadorRouboFurto": {"roubo": True, "furto": True}}, ["roubo: SIM"]),
    # What names other things, or names them in words of its own, is kept.
    ({"ocorrencias": {"roubo": True, "leilao": True}}, ["roubo: SIM", "leilao: SIM"]),
    (
        {"restricoes": [{"tipo": "PENHORA", "processo": "1"}, {"tipo": "ALIENACAO", "uf": "MG"}]},
        ["PENHORA", "ALIENACAO"],
    ),
    ({"a": {"x": "PENHORA", "y": "ARRESTO"}}, ["PENHORA", "ARRESTO"]),
    # Two objects of one name are two things, and so are two members of the answer itself.
    (
        {"gravames": [{"status": "ATIVO"}, {"status": "VIGENTE"}]},
        ["gravames status: ATIVO", "gravames status: VIGENTE"],
    ),
    ({"gravame": "ATIVO", "gravame2": "ATIVO"}, ["gravame: ATIVO", "gravame2: ATIVO"]),
]


@pytest.mark.parametrize(("members", "words"), OBJECTS)
def test_members_of_an_object_are_one_finding(members: dict[str, object], words: list[str]) -> None:
    found = further_findings(further_of(members, NO_CONTRACT, ""), TODAY)
    assert [each.words for each in found if isinstance(each, AdverseData)] == words


def test_objects_of_two_records_stay_apart() -> None:
    both = joined(
        [further_of({"gravame": {"status": word}}, NO_CONTRACT, "") for word in ("ATIVO", "S")]
    )
    assert [each.within for each in both.statements] == [1, 2]


def test_warning_by_a_name_shows_the_name() -> None:
    (found,) = condition_findings(decoded_with({"indicadorRouboFurto": "S"}), TODAY)
    assert isinstance(found, AdverseData)
    assert found.words == "indicadorRouboFurto: S"
    assert found.ends_ceiling


UNREAD: list[tuple[dict[str, object], list[Subject]]] = [
    (
        {**{f"membro{n}": "X" for n in range(20)}, "observacao": "VEICULO COM REGISTRO DE ROUBO"},
        [Subject.THEFT],
    ),
    ({"linhas": [*["X"] * 4_990, "VEICULO COM REGISTRO DE ROUBO"]}, [Subject.THEFT]),
    ({"texto": "X " * 1_500 + "VEICULO COM REGISTRO DE ROUBO"}, [Subject.THEFT]),
    ({"a": {"b": {"c": {"d": {"e": {"f": "ROUBADO"}}}}}}, [Subject.THEFT]),
    ({"informacoesFipe": [{"marca": "AUDI", "observacao": "ROUBADO"}]}, [Subject.THEFT]),
    ({"informacoesFipe": [{"historicoPreco": [{"nota": "ROUBADO"}]}]}, [Subject.THEFT]),
    ({"chassi": {"numero": "9BR", "remarcado": True}}, [Subject.CHASSIS]),
]


@pytest.mark.parametrize(("members", "expected"), UNREAD)
def test_text_beyond_what_is_shown_is_judged(
    members: dict[str, object], expected: list[Subject]
) -> None:
    assert subjects(**members) == expected


@pytest.mark.parametrize("text", [["X"] * 5_001, "X " * 20_001])
def test_what_is_not_read_is_a_finding(text: object) -> None:
    (found,) = condition_findings(decoded_with({"linhas": text}), TODAY)
    assert found == UnreadData()
    assert found.ends_ceiling


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"observacao": "VEICULO COM QUEIXA DE ROUBO"}, [Subject.THEFT]),
        ({"indicadorRouboFurto": "S"}, [Subject.THEFT]),
        ({"situacaoMulta": "EM ABERTO", "numeroProcesso": "123/2025"}, []),
        ({"observacao": "MULTA COM EFEITO SUSPENSIVO", "uf": "MG"}, []),
        ({"observacao": "DEBITO EM ABERTO"}, []),
    ],
)
def test_unknown_member_of_a_fine_is_judged(
    members: dict[str, object], expected: list[Subject]
) -> None:
    (record,) = read_fines([{**fine(), **members}], MARKER)
    assessed = AssessedFine(record, TODAY, 2)
    found = [one for one in identification_findings([assessed], []) if isinstance(one, AdverseData)]
    assert [one.subject for one in found] == expected
    assert all((one.source, one.anchor) == ("renainf", "multa-2") for one in found)


@pytest.mark.parametrize(
    ("name", "subject"),
    [
        ("indicadorroubofurto", Subject.THEFT),
        ("INDICADORROUBOFURTO", Subject.THEFT),
        ("possuigravame", Subject.LIEN),
        ("comunicacaovenda", Subject.SALE_NOTICE),
        ("restricaojudicial", Subject.COURT),
        ("chassiremarcado", Subject.CHASSIS),
    ],
)
def test_name_without_signs_between_its_words_is_read(name: str, subject: Subject) -> None:
    assert subjects(**{name: "S"}) == [subject]
    assert subjects(**{name: "N"}) == []


@pytest.mark.parametrize("name", ["seminovo", "vendedor", "corpredominante"])
def test_other_glued_names_warn_of_nothing(name: str) -> None:
    assert condition_findings(decoded_with({name: "S"}), TODAY) == ()


@pytest.mark.parametrize("value", [MARKER, "INDISPONIVEL", "SISTEMA FORA DO AR", "NAO CONSULTADO"])
def test_withheld_value_of_a_warning_name_is_a_finding(value: str) -> None:
    for name in ("indicadorRouboFurto", "possuigravame"):
        (found,) = condition_findings(decoded_with({name: value}), TODAY)
        assert found == UnreadData(withheld=(name,))
    assert condition_findings(decoded_with({"corPredominante": value}), TODAY) == ()


def test_withheld_value_is_named_by_what_it_is_of() -> None:
    sent = {"roubo": {"mensagem": "Sistema fora do ar"}}
    (found,) = condition_findings(decoded_with(sent), TODAY)
    assert found == UnreadData(withheld=("roubo mensagem",))


@pytest.mark.parametrize(
    "text",
    [
        *("RESERVA DE DOMINIO", "COMUNICACAO DE VENDA ATIVA", "BENEFICIO TRIBUTARIO PCD"),
        *("PENHOR MERCANTIL", "USUFRUTO VITALICIO", "BAIXA SOLICITADA", "SUSPEITA DE CLONAGEM"),
        *("INDISPONIBILIDADE DE BENS", "CESSAO DE DIREITOS", "VISTORIA VENCIDA"),
    ],
)
def test_words_of_the_register_are_no_names(text: str) -> None:
    assert mask_names(text) == text


def order_findings(**members: object) -> list[tuple[str, set[str]]]:
    sent = {**restriction(), **members}
    (record,) = read_restrictions([sent], MARKER)
    found = identification_findings([], [AssessedOrder(record, TODAY)])
    return [(one.code, set(one.reach)) for one in found]


def test_member_of_an_order_that_warns_of_the_vehicle_is_a_finding() -> None:
    every = {"transfer", "licence", "drive", "removal"}
    assert order_findings(roubo=True) == [("vehicle_theft", every)]
    assert order_findings(observacao="VEICULO ROUBADO") == [("vehicle_theft", every)]
    assert order_findings(furto=MARKER) == [("data_unread", {"transfer"})]
    for members in ({"situacao": "BAIXADO"}, {"observacao": "DIVIDA EM EXECUCAO"}, {"total": 1}):
        assert order_findings(**members) == []


@pytest.mark.parametrize(
    ("members", "forbidden"),
    [
        ({"apreensao": True}, {"transfer", "removal"}),
        ({"ordemApreensao": "S"}, {"transfer", "removal"}),
        ({"bloqueioCirculacao": True}, {"transfer", "licence", "drive", "removal"}),
        ({"circulacao": "PROIBIDA"}, {"transfer", "licence", "drive", "removal"}),
        ({"apreensao": False}, {"transfer"}),
        ({"circulacao": "LIBERADA"}, {"transfer"}),
        ({"total": 1, "ativo": True}, {"transfer"}),
    ],
)
def test_flag_of_an_order_is_judged_by_its_name(
    members: dict[str, object], forbidden: set[str]
) -> None:
    (record,) = read_restrictions([{**restriction(), **members}], MARKER)
    answers = AssessedOrder(record, TODAY).effect.answers
    assert {act for act, answer in answers.items() if answer.mark == "no"} == forbidden


@pytest.mark.parametrize(
    ("beside", "is_denied"),
    [
        ({"meta": {"fontes": {"respondidas": 5, "total": 5}}}, True),
        ({"restricaoTotal": True}, False),
    ],
)
def test_count_of_sources_is_no_total_restriction(
    beside: dict[str, object], is_denied: bool
) -> None:
    denied = {"constaRenajud": "NAO", "restricoes": "-", "detalheRenajud": "", **beside}
    (record,) = read_restrictions([denied], MARKER)
    assert AssessedOrder(record, TODAY).in_force != is_denied


def test_flag_contradicts_the_denial_of_an_order() -> None:
    denied = restriction(constaRenajud=False, restricoes="", detalheRenajud="")
    (record,) = read_restrictions([{**denied, "apreensao": True}], MARKER)
    assert AssessedOrder(record, TODAY).is_doubtful


def test_words_of_a_member_say_what_it_is() -> None:
    for members, words in (
        ({"comunicacaoVenda": {"status": "ATIVA"}}, "comunicacao venda status: ATIVA"),
        ({"restricao1": "RESTRICAO TRIBUTARIA"}, "RESTRICAO TRIBUTARIA"),
        ({"indicadorRouboFurto": "S"}, "indicadorRouboFurto: S"),
    ):
        (found,) = condition_findings(decoded_with(members), TODAY)
        assert isinstance(found, AdverseData)
        assert found.words == words


def test_court_and_place_of_an_order_forbid_nothing() -> None:
    sent = {"vara": "2 VARA CIVEL", "comarca": "BH", "juiz": "FULANO DE TAL", "uf": "MG"}
    (record,) = read_restrictions([{**restriction(), **sent}], MARKER)
    marks = {a: answer.mark for a, answer in AssessedOrder(record, TODAY).effect.answers.items()}
    assert marks == {"transfer": "no", "licence": "yes", "drive": "yes", "removal": "yes"}
