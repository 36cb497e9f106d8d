"""What the source's texts say, beside records and in their place."""

import re
from string import ascii_uppercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.vehicle import statements
from portal.vehicle.statements import says, value_says

TEXTS: dict[str, tuple[str, ...]] = {
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
        "Não existem débitos de infrações vinculados ao veículo em nenhum estado da federação.",
        "Placa sem infrações pendentes",
        "Total de registros: 0",
        "Não identificamos restrições para este veículo",
        "Sem multas a pagar no momento",
        "Não se localizou multa alguma",
        "Até o momento não foi lançada nenhuma multa para o veículo",
        "Não foram aplicadas penalidades ao veículo",
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
        "Consta multa no registro",
        "3 multas encontradas",
        "Consulta realizada com sucesso: 3 multas",
        "Processada com sucesso, mas há restrições",
        "Sem dados sobre multas",
        "Nenhum veículo encontrado",
        "Veículo com irregularidade no registro",
        "Restrição",
        "Código 7",
        "Dados sujeitos a alteração",
        "Veículo regular",
        "Consulta realizada com sucesso. Base RENAINF fora de operação",
        "Nada consta. DETRAN sem sinal",
        "Nada consta, veículo furtado",
        "Sem restrições judiciais: constam administrativas",
        "Nenhum registro retornado: convênio vencido",
        "Nenhum registro encontrado (HTTP 503)",
        "No results found: service down",
        "Nenhum sucesso na consulta",
        "Not successful",
        "no success",
        "Sucesso: false",
        "Nada consta; informações pendentes",
        "Sem multas nos estados que responderam",
        "Constam multas não lançadas no sistema",
        "Sem multas vigentes nos estados consultados até agora",
        "Nenhum estado respondeu",
        "Não há conexão com o Renajud",
    ),
    "working": (
        "Aguarde alguns minutos",
        "Em processamento",
        "Solicitação recebida",
        "Consulta realizada; resultado pendente",
        "Consulta a ser realizada",
        "Solicitação recebida com sucesso. Processamento em andamento",
        "Processando",
        "Consulta em andamento",
        "Aguardando retorno do Detran",
        "Pedido enfileirado",
        "Still processing",
        "PENDING",
    ),
}
# A success may deny records or not, and an unknown text may say that the vehicle is unknown.
KINDS = {"denial": "success", "absent": "unknown"}
# In a record's member, what is neither of these is the member's content.
VALUES = {
    "denial": (
        "VEICULO SEM RESTRICAO NO RENAJUD",
        "NÃO CONSTAM RESTRIÇÕES JUDICIAIS PARA O VEÍCULO",
        "Veículo não possui qualquer restrição judicial ativa na base do Renajud",
        "INEXISTE RESTRICAO JUDICIAL",
        "LIVRE E DESEMBARACADO",
        "Não há nenhuma ordem judicial registrada para este veículo",
        "O veículo consultado encontra-se sem restrições judiciais",
        "VEICULO NAO CONSTA NO RENAJUD",
        "RESTRICAO: NENHUMA",
        "NEGATIVO",
        "NAO",
        "NADA CONSTA NA BASE RENAINF ATE A PRESENTE DATA",
        "Inexistem bloqueios determinados pelo Poder Judiciário.",
        "NÃO CONSTAM BLOQUEIOS DETERMINADOS POR JUIZ",
        "VEÍCULO SEM ORDENS JUDICIAIS VIGENTES NESTA DATA",
        "Até o presente momento não há restrições inseridas via Renajud",
        "NENHUMA RESTRIÇÃO INCLUÍDA POR TRIBUNAL",
        "O veículo não possui nenhuma pendência com a justiça",
        "Não foram encontradas constrições judiciais",
        "Não localizamos ordens de juízes para este veículo",
        "Não encontramos nenhum bloqueio para o automóvel informado",
        "VEÍCULO NÃO SOFRE RESTRIÇÕES",
        "AUSENTE RESTRICAO JUDICIAL",
        "SEM ÔNUS JUDICIAIS",
        "VEICULO DESIMPEDIDO",
        "Situação regular: sem restrições",
        "Restrição judicial: não",
        "RENAJUD: NÃO",
        "Consulta efetuada; veículo sem infrações interestaduais",
    ),
    "blank": (
        "",
        "-",
        " / / ",
        "NÃO INFORMADO",
        "nao informada",
        "NC",
        "N/I",
        "N/A",
        "SEM INFORMAÇÃO",
        "null",
    ),
    "failure": ("Falha na consulta", "CONSULTA INDISPONIVEL", "Erro 500", "Instalação inválida"),
    "success": ("Consulta efetuada",),
    "absent": ("VEICULO NAO ENCONTRADO",),
    "unknown": (
        "TRANSFERENCIA",
        "INDISPONIBILIDADE",
        "INDISPONIBILIDADE DE BENS",
        "CIRCULACAO NAO AUTORIZADA",
        "PENHORA PARCIAL",
        "SEM RESTRICAO DE TRANSFERENCIA",
        "NAO CONSTA BAIXA DA RESTRICAO",
        "CONSTA DETALHE RENAJUD",
        "Não há informação de restrição judicial",
        "PROCESSO 0001234-56.2020.8.26.0100",
        "SEM PENHORA, ARRESTO OU SEQUESTRO",
        "Sem restrições administrativas. Determinado pelo juiz",
        "Não há multas; ordem vigente do tribunal",
        "Situação regular",
    ),
}


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in TEXTS.items() for text in texts]
)
def test_text_about_an_answer(kind: str, text: str) -> None:
    said = {says(form) for form in (text, text.upper(), text.lower(), f"  {text}\n")}
    assert {KINDS.get(each, each) for each in said} == {kind}


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in VALUES.items() for text in texts]
)
def test_text_in_a_member_of_a_record(kind: str, text: str) -> None:
    assert {value_says(form) for form in (text, text.upper(), text.lower())} == {kind}


def test_table_is_long() -> None:
    assert sum(map(len, TEXTS.values())) >= 60


@pytest.mark.parametrize(
    "pattern",
    [
        *(statements._NO_FAILURE, statements._DENIAL, statements._VALUE_FAILURE),
        *(statements._FAILURE, statements._WORKING, statements._SUCCESS, statements._ABSENT),
    ],
    ids=["no failure", "denial", "outage", "failure", "working", "success", "absent"],
)
def test_search_of_fragments_spares_no_statement(pattern: re.Pattern[str]) -> None:
    @given(st.from_regex(pattern, alphabet=st.sampled_from(ascii_uppercase + " ;0123456789")))
    def check(text: str) -> None:
        found = pattern.search(text)
        assert found is None or statements._FRAGMENTS.search(found[0])

    check()
