"""Answers that were once read wrongly, each with the verdict that it must have."""

from typing import Any

import pytest

from tests import factories
from tests.hostile.source_answers import Answer, LookupKind
from tests.hostile.test_source_answers import level_of, panel_of

NO_ORDER = {**dict.fromkeys(factories.restriction(), ""), "detalheRenajud": "Nada consta"}
NO_FINE = {
    name: value if isinstance(value, dict) else "" for name, value in factories.fine().items()
}
UNDESCRIBED = dict.fromkeys(factories.decoded(""), None)
PAID = factories.fine(
    tipo="PAGA", pagamento=factories.payment(dataPagamento="10/10/2025", valorPago="130,16")
)
WHOLE_DENIAL = "VEICULO SEM RESTRICAO NO RENAJUD"

Row = tuple[LookupKind, object, dict[str, Any], str]
ROWS: dict[str, Row] = {
    # An order record without content whose detail denies in a whole sentence.
    **{
        f"denied, flag {flag!r}": (
            "renajud",
            [NO_ORDER | {"detalheRenajud": WHOLE_DENIAL, "constaRenajud": flag}],
            {},
            level,
        )
        for flag, level in {
            False: "clear",
            "NAO": "clear",
            None: "incomplete",
            "": "incomplete",
            True: "caution",
        }.items()
    },
    "denied, no flag": ("renajud", [{"detalheRenajud": WHOLE_DENIAL}], {}, "incomplete"),
    "dated denial, no flag": (
        "renajud",
        [{"detalheRenajud": WHOLE_DENIAL, "dataInclusao": "10/10/2025 10:00:00"}],
        {},
        "caution",
    ),
    "denied order, complete coverage": (
        "renajud",
        [
            NO_ORDER
            | {
                "constaRenajud": False,
                "meta": {"cobertura": "5 de 5 fontes", "etapas": "3 de 3 etapas"},
            }
        ],
        {},
        "clear",
    ),
    # A failure's words inside the record.
    **{
        f"failure in {name}": (
            "renajud",
            [NO_ORDER | {"constaRenajud": False, "detalheRenajud": "", name: "Serviço fora do ar"}],
            {},
            "outage",
        )
        for name in ("mensagem_retorno", "msgErro", "descricaoErro", "detalheRenajud", "qualquer")
    },
    "error flag in the record": ("renajud", [{"constaRenajud": False, "erro": True}], {}, "outage"),
    "failure deep in a record": (
        "renainf",
        [NO_FINE | {"retorno": {"itens": [{"txt": "Base nacional indisponível"}]}}],
        {},
        "outage",
    ),
    # A return code and its text in place of data.
    "code and success": (
        "renainf",
        [{"codigo": "1", "descricao": "Consulta efetuada"}],
        {},
        "clear",
    ),
    "code and failure": (
        "renainf",
        [{"codigo": "1", "descricao": "Falha na consulta"}],
        {},
        "outage",
    ),
    "code and riddle": ("renainf", [{"codigo": "1", "descricao": "Motivo B"}], {}, "incomplete"),
    "bare code, success beside": ("renainf", [], {"code": 7, "msg": "Consulta efetuada"}, "clear"),
    "bare code": ("renainf", [], {"codigoRetorno": 7}, "incomplete"),
    "code of no data": (
        "renainf",
        [],
        {"code": 612, "message": "Veículo não localizado"},
        "incomplete",
    ),
    "absent, and denied": (
        "renainf",
        [],
        {"code": 404, "message": "Nenhuma multa localizada"},
        "clear",
    ),
    "server error, and success": ("renainf", [], {"code": 500, "message": "Sucesso"}, "outage"),
    # Flags and counts beside an empty list.
    **{
        f"{name}={value!r}": ("renainf", [], {"resumo": {name: value}}, level)
        for name, value, level in (
            ("temMultasAtivas", True, "incomplete"),
            ("ind_possui_multa", "S", "incomplete"),
            ("qtdeRegistros", "03", "incomplete"),
            ("vlTotalMultas", "130,16", "incomplete"),
            ("veiculoLocalizado", False, "incomplete"),
            ("placaInexistente", True, "incomplete"),
            ("ufInvalida", "SIM", "incomplete"),
            ("temMultasAtivas", False, "clear"),
            ("qtdeRegistros", 0, "clear"),
            ("veiculoLocalizado", True, "clear"),
            ("saldoConsultas", 120, "clear"),
            ("registrosPorPagina", 50, "clear"),
            ("country", "BR", "clear"),
        )
    },
    # Decode's own object.
    "decode with an error alone": (
        "decode",
        UNDESCRIBED | {"codigoRetorno": "8", "mensagemRetorno": "Instalação inválida para a API"},
        {},
        "outage",
    ),
    "decode with an error and the plate": (
        "decode",
        UNDESCRIBED | {"placa": "ABC1D23", "retorno": {"msg": "Erro na base"}},
        {},
        "outage",
    ),
    "decode of an unknown vehicle": (
        "decode",
        UNDESCRIBED | {"descricao": "VEICULO NAO ENCONTRADO"},
        {},
        "incomplete",
    ),
    # "Nothing" as one element of the fines.
    "no fine": ("renainf", [NO_FINE | {"descricao": "NENHUMA INFRACAO LOCALIZADA"}], {}, "clear"),
    "no fine, of a body": (
        "renainf",
        [NO_FINE | {"descricao": "NADA CONSTA", "orgaoAutuador": "DETRAN", "valor": "0,00"}],
        {},
        "clear",
    ),
    "blank fine": ("renainf", [NO_FINE], {}, "incomplete"),
    "unknown members": (
        "renainf",
        [{"numeroAuto": "X12", "valorMulta": "130,16"}],
        {},
        "incomplete",
    ),
    # A failure beside records.
    "failure beside a paid fine": (
        "renainf",
        [PAID],
        {"aviso": "Base estadual fora do ar"},
        "incomplete",
    ),
    "failure after a paid fine": (
        "renainf",
        [PAID, {"msg": "Erro na base do Detran"}],
        {},
        "incomplete",
    ),
    "denial after a paid fine": (
        "renainf",
        [PAID, {"msg": "Nada mais consta: OK"}],
        {},
        "incomplete",
    ),
    "success after a paid fine": ("renainf", [PAID, {"msg": "Consulta realizada"}], {}, "clear"),
    "failure beside an order": (
        "renajud",
        [factories.restriction()],
        {"erro": "timeout"},
        "blocked",
    ),
    # The source still works.
    "still working": ("renainf", [], {"mensagem": "Processando sua solicitação"}, "outage"),
    "named order": ("renajud", [{"restricoes": "INDISPONIBILIDADE"}], {}, "blocked"),
}


@pytest.mark.parametrize("name", ROWS)
def test_answer_has_its_verdict(name: str) -> None:
    lookup, result, beside, level = ROWS[name]
    status = "DONE" if lookup == "decode" else "SUCCESS"
    document = {"status": status, "result": result, **beside}
    assert level_of(Answer(lookup, document, frozenset())) == level


@pytest.mark.parametrize("status", ["PROCESSING", "EM PROCESSAMENTO", "PENDENTE"])
def test_status_of_unfinished_work_opens_no_circuit(status: str) -> None:
    document = {"status": status, "result": []}
    assert level_of(Answer("renainf", document, frozenset())) == "outage"


def test_doubtful_answer_shows_its_records_and_the_sources_words() -> None:
    document = {"status": "SUCCESS", "result": [PAID, {"msg": "Erro na base do Detran"}]}
    panel = panel_of(factories.encode(document))
    assert (panel.state, panel.result, panel.cause) == ("fresh", [PAID], "unconfirmed")
    assert "Erro na base do Detran" in panel.reason
