"""The texts beside an empty list: success, failure, or neither."""

import pytest

from portal.gateway.notices import Kind, is_remark, judge, kind_of

TEXTS: dict[Kind, tuple[str, ...]] = {
    "success": (
        "OK",
        "Sucesso",
        "Success.",
        "Processada com sucesso",
        "Consulta processada com sucesso!",
        "Consulta realizada com sucesso.",
        "Consulta realizada",
        "CONSULTA EFETUADA COM EXITO",
        "Requisição concluída.",
        "Solicitação atendida com sucesso",
        "Dados retornados com sucesso.",
        "Concluído",
        "Request processed successfully",
        "Nada consta",
        "NADA CONSTA PARA O VEÍCULO INFORMADO",
        "Nada foi encontrado",
        "Não consta",
        "Nenhum registro encontrado",
        "Nenhum registro foi encontrado para os parâmetros informados.",
        "nenhuma multa encontrada",
        "Nenhuma infração localizada para este veículo",
        "Nenhum débito encontrado",
        "Nenhuma restrição encontrada.",
        "Nenhum tipo de restrição ativa",
        "Nenhum dado encontrado",
        "Nenhum resultado",
        "Sem registros",
        "Sem restrições judiciais",
        "Sem multas ou débitos",
        "Não há multas para o veículo.",
        "Não constam restrições",
        "Não consta nenhuma restrição para a placa informada",
        "Não existem débitos",
        "Não possui multas em aberto",
        "Não foram encontrados registros",
        "Não foram localizadas infrações para o veículo",
        "Não encontramos multas para esta placa",
        "Registro não encontrado",
        "Multas não localizadas",
        "Restrição judicial não encontrada.",
        "Registros encontrados: 0",
        "Multas: 0",
        "Veículo livre de restrições",
        "Inexistência de bloqueios",
        "No records found",
        "Records not found.",
        "Consulta realizada com sucesso. Nenhuma multa encontrada.",
        "Não há multas. Consulta realizada.",
        "Processado sem erros",
        "Nenhuma falha",
        "Consulta concluída; não houve erro.",
        "0 erros",
        "Processada com sucesso, sem qualquer falha",
    ),
    "failure": (
        "Base estadual indisponível",
        "BASE INDISPONIVEL NO MOMENTO",
        "Serviço temporariamente indisponível",
        "Sistema em manutenção",
        "DETRAN fora do ar",
        "Instabilidade no órgão de trânsito",
        "Erro",
        "Erro interno do servidor",
        "Erro no registro da consulta",
        "Houve no sistema erro 500",
        "Falha ao consultar o Renainf",
        "Houve um problema na consulta",
        "Timeout",
        "Time-out na base nacional",
        "Tempo de resposta excedido",
        "Tente novamente mais tarde",
        "Tente mais tarde.",
        "Aguarde alguns minutos",
        "Não foi possível consultar",
        "Nao foi possivel concluir a consulta",
        "Consulta não realizada",
        "Não processada",
        "A base do Detran não respondeu",
        "Nenhuma multa encontrada, porém a base do Detran não foi consultada",
        "Consulta parcial",
        "Resultado incompleto",
        "Consulta concluída com ressalvas",
        "Base do DETRAN sem retorno",
        "Sem resposta da fonte",
        "Sem comunicação com o Senatran",
        "Nenhuma resposta da base",
        "Saldo insuficiente",
        "Créditos esgotados",
        "Sem saldo",
        "Limite diário",
        "Limite de consultas atingido",
        "Você excedeu o limite do plano",
        "Cota excedida",
        "Acesso negado",
        "Não autorizado",
        "Token inválido",
        "Consulta rejeitada",
        "Service unavailable",
        "Internal server error",
        "Please try again later",
        "Too many requests",
        "Sem sucesso",
        "Nenhum registro encontrado: base indisponível",
        "Processada com sucesso, com 2 erros",
    ),
    "unknown": (
        "Aviso.",
        "Consulte o órgão autuador",
        "Veículo não encontrado",
        "Registro do veículo não encontrado",
        "Placa inválida",
        "Placa inexistente na base",
        "Em processamento",
        "Solicitação recebida",
        "Consta multa no registro",
        "3 multas encontradas",
        "Consulta realizada com sucesso: 3 multas",
        "Processada com sucesso, mas há restrições",
        "Sem dados sobre multas",
        "Nenhum veículo encontrado",
        "Veículo com irregularidade no registro",
        "Consulta realizada; resultado pendente",
        "Restrição",
        "Código 7",
        "Dados sujeitos a alteração",
        "Veículo regular",
    ),
}


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in TEXTS.items() for text in texts]
)
def test_text_beside_an_empty_list(kind: Kind, text: str) -> None:
    assert {kind_of(form) for form in (text, text.upper(), text.lower(), f"  {text}\n")} == {kind}


def test_table_is_long() -> None:
    assert sum(map(len, TEXTS.values())) >= 60


@pytest.mark.parametrize(
    ("members", "kind"),
    [
        ({}, None),
        ({"message": "Processada com sucesso"}, "success"),
        ({"mensagem": "Nenhuma multa encontrada", "fonte": "Base indisponível"}, "failure"),
        ({"msg": "Veja o edital"}, "unknown"),
        ({"meta": {"avisos": ["Consulta realizada", "Veja o edital"]}}, "unknown"),
        ({"erro": "Nenhum registro encontrado"}, "success"),
        ({"erro": "X12"}, "failure"),
        ({"codigo": 404}, "failure"),
        ({"codigo": 204, "total": 0}, None),
        ({"fonte": "Detran"}, None),
    ],
    ids=str,
)
def test_gravest_notice_counts(members: dict[str, object], kind: Kind | None) -> None:
    found = judge(members)
    assert (found and found.kind) == kind


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"mensagem": "Nenhum registro encontrado"}, True),
        ({"Message": "x", "code": 7, "valor": ""}, True),
        ({}, False),
        ({"detalheRenajud": "CONSTA"}, False),
        ({"message": "x", "valor": "130"}, False),
    ],
    ids=str,
)
def test_record_that_is_only_a_text(record: dict[str, object], expected: bool) -> None:
    assert is_remark(record) == expected
