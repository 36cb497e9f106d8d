"""What stands beside records or in their place: success, failure, or neither."""

import pytest

from portal.vehicle.content import Contents
from portal.vehicle.doubts import doubt_of
from portal.vehicle.notices import Gap, Kind, gap_in, judge

FINE = {"dataInfracao": "01/02/2026", "valor": "130,16", "descricao": "ESTACIONAR"}


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
        ({"multas": {"fonte": "Detran"}}, None),
        ({"fonteMultas": "Detran"}, "unknown"),
        ({"total": 3}, "unknown"),
        ({"totalRegistros": "5", "message": "Sucesso"}, "unknown"),
        ({"quantidade": 0, "message": "Sucesso"}, "success"),
        ({"resumo": "Existem 3 multas"}, "unknown"),
        *(
            ({name: value}, "unknown")
            for name in ("bloqueado", "restrito", "penhorado", "impedido", "roubado", "alienado")
            for value in (True, "S", 2)
        ),
        ({"resumo": {"bloqueado": True}}, "unknown"),
        ({"dados": ["TRANSFERENCIA"]}, "unknown"),
        ({"dados": "293,47"}, "unknown"),
        ({"itens": ["x"]}, "unknown"),
        *(
            ({name: True}, "failure")
            for name in ("offline", "foraDoAr", "manutencao", "tentarNovamente", "expirado")
        ),
        *(({name: False}, "failure") for name in ("consultaRealizada", "consultaOk", "statusOk")),
        *(({name: False}, None) for name in ("bloqueado", "penhorado", "offline", "manutencao")),
        ({"dados": {"placa": "ABC1D23", "marca": "FIAT"}, "consultasRealizadas": 0}, None),
        ({"semBloqueio": True, "itens": [], "creditos": 100, "data": "29/11/2026"}, None),
        ({"avisos": ["Processada com sucesso"] * 1_001}, "unknown"),
    ],
    ids=str,
)
def test_gravest_notice_counts(members: dict[str, object], kind: Kind | None) -> None:
    found = judge(members)
    assert (found and found.kind) == kind


@pytest.mark.parametrize("code", [400, 404, 500, 599, 600, 7, 204, 200])
def test_code_of_http_needs_a_text_or_is_a_failure(code: int) -> None:
    """400 and 404 may mean that nothing was found; a server's error means no answer."""
    alone, denied, done = (
        (notice := judge({"codigo": code, **beside})) and notice.kind
        for beside in ({}, {"mensagem": "Nenhuma multa encontrada"}, {"mensagem": "Sucesso"})
    )
    match code:
        case 400 | 404:
            assert (alone, denied, done) == ("failure", "success", "unknown")
        case 500 | 599:
            assert (alone, denied, done) == ("failure", "failure", "failure")
        case 600 | 7:  # a code of the source's own
            assert (alone, denied, done) == ("unknown", "success", "success")
        case _:
            assert (alone, denied, done) == (None, "success", "success")


@pytest.mark.parametrize(
    "name",
    [
        "nadaConsta",
        "nada_consta",
        "semMultas",
        "sem_multas",
        "naoPossuiMultas",
        "semRestricao",
        "semRegistros",
        "no_fines",
        "noRecords",
        "withoutFines",
        "naoConsta",
        "livre",
        "regular",
        "isento",
        "certidaoNegativa",
        "clean",
        "naoHaRestricoes",
        "semQualquerRestricao",
        "nadaEncontrado",
        "livreDeRestricao",
    ],
)
@pytest.mark.parametrize("wrapped", [False, True])
def test_flag_that_denies_records_is_read_as_it_says(name: str, wrapped: bool) -> None:
    for value in (False, "N", "NAO", "false"):
        found = judge({"dados": {name: value}} if wrapped else {name: value})
        assert found is not None and found.kind == "unknown", (name, value)
    for value in (True, "S", "SIM"):
        assert judge({"dados": {name: value}} if wrapped else {name: value}) is None, (name, value)


PARTIAL: tuple[dict[str, object], ...] = (
    {"orgaosNaoConsultados": ["PRF", "DNIT"]},
    {"fontes_nao_respondidas": "PRF"},
    {"sourcesNotChecked": [{"name": "PRF"}]},
    {"progress": 40},
    {"progress": 0},
    {"progress": 0.4},
    {"progresso": "40%"},
    {"percentualConcluido": "99,5 %"},
    {"etapa": "2/5"},
    {"cobertura": "3 de 5 fontes"},
    {"coverage": "3 out of 5"},
    {"basesConsultadas": "2 de 5"},
    {"mensagem": "Consultadas 2 de 5 bases"},
    {"basesOmitidas": ["PRF"]},
    {"fontesFaltantes": ["PRF"]},
    {"fontesPendentes": ["PRF"]},
    {"skipped": ["PRF"]},
    {"skipped": 2},
    {"truncado": True},
    {"meta": {"nextToken": "YWJj"}},
    {"hasMore": True},
    {"links": {"next": "https://example.test/?p=2"}},
    {"desatualizado": True},
    {"fontesRespondidas": 2, "fontesTotal": 5},
    {"fontesRespondidas": 118, "fontesTotal": 120},
    {"total_fontes": "5", "fontes_com_sucesso": "0"},
    {"done": 2, "total": 5},
    {"progresso": {"concluidas": 3, "total": 4}},
    {"sources": {"answered": 0, "total": 3}},
    {"sourcesUp": 4, "sourceCount": 5},
    {"basesConsultadas": ["PRF"], "bases": ["PRF", "DNIT"]},
    {"respondidas": 1, "fontes": 2},
    {"etapaAtual": 2, "etapas": 3},
    {"totalPaginas": 3},
    {"page": 1, "pages": 2},
)
FAILED: tuple[dict[str, object], ...] = (
    {"final": False},
    {"isFinal": "N"},
    {"situacao": {"pronto": False}},
    {"processado": False},
    {"naoProcessado": True},
    {"ready": False},
    {"prfConsultada": "N"},
    {"sources": [{"name": "PRF", "up": 0}]},
    {"prf": "DOWN"},
    {"orgaos": {"PRF": "fora"}},
    {"http": 503},
    {"fonteAtiva": False},
    {"semErros": False},
    {"prf": "INATIVO"},
    {"fontesRespondidas": 1, "fontes": [{"nome": "PRF", "erro": "Tempo esgotado"}]},
    {"fontes": [{"orgao": "PRF", "situacao": "Inativa"}]},
    {"DNIT": "offline"},
    {"sourceStatus": "DISABLED"},
)


@pytest.mark.parametrize(
    ("members", "kind"),
    [*((each, "partial") for each in PARTIAL), *((each, "failure") for each in FAILED)],
    ids=str,
)
def test_unfinished_answer_is_in_doubt_with_records_and_without(
    members: dict[str, object], kind: Kind
) -> None:
    for result in ([], [FINE]):
        found = doubt_of(Contents.of(result), {"status": "ok", "result": result, **members})
        assert found is not None and found.kind == kind


@pytest.mark.parametrize(
    "members",
    [
        {"orgaosNaoConsultados": []},
        {"orgaosNaoConsultados": None},
        {"orgaosNaoConsultados": "nenhum"},
        {"orgaosNaoConsultados": 0},
        {"basesOmitidas": ""},
        {"fontesFaltantes": ["-"]},
        {"skipped": False},
        {"truncado": False},
        {"truncado": "N"},
        {"nextToken": None},
        {"links": {"next": None, "self": "https://example.test/"}},
        {"hasMore": False},
        {"nextUpdate": "2026-12-01"},
        {"final": True},
        {"isFinal": "S"},
        {"processado": True},
        {"processadoEm": "2026-11-28T10:00:00"},
        {"naoProcessado": False},
        {"ready": 1},
        {"progress": 100},
        {"progress": 1.0},
        {"progresso": "100%"},
        {"progresso": "100,0 %"},
        {"etapa": "5/5"},
        {"cobertura": "5 de 5 fontes"},
        {"basesConsultadas": "5 de 5"},
        {"basesConsultadas": ["PRF", "DNIT"]},
        {"sources": [{"name": "PRF", "up": 1}]},
        {"prf": "UP"},
        {"http": 200},
        {"fonteAtiva": True},
        {"restricaoAtiva": False},
        {"constaNoRenajud": False},
        {"irregular": False},
        {"multasNaoPagas": 0},
        {"desatualizado": False},
        {"dataAtualizacao": "01/11"},
        {"semErros": True},
        {"message": "No data"},
        {"quantidade": "zero"},
        {"multas": "nenhuma"},
        {"fontesRespondidas": 5, "fontesTotal": 5},
        {"sources": {"answered": 3, "total": 3}},
        {"etapaAtual": 3, "etapas": 3},
        {"basesConsultadas": ["PRF"], "bases": ["PRF"]},
        {"totalFontes": 5},
        {"page": 1, "totalPages": 1},
        {"prf": "ATIVO"},
        {"cache": "inativo"},
    ],
    ids=str,
)
def test_complete_answer_is_not_in_doubt(members: dict[str, object]) -> None:
    for result in ([], [FINE]):
        assert doubt_of(Contents.of(result), {"status": "ok", "result": result, **members}) is None


@pytest.mark.parametrize(
    ("members", "is_doubt"),
    [
        ({"total": 5}, True),
        ({"total": "4"}, True),
        ({"meta": {"totalRegistros": 2}}, True),
        ({"qtdMultas": 3}, True),
        ({"finesCount": 7}, True),
        ({"page": {"totalElements": 2}}, True),
        ({"total": 1}, False),
        ({"total": 0}, False),
        ({"total": "130,16"}, False),
        ({"valorTotal": 130}, False),
        ({"totalPontos": 7}, False),
        ({"totalFontes": 5}, False),
        ({"creditos": {"total": 500}}, False),
        ({"totalConsultas": 30}, False),
        ({"total": 130}, False),
        ({"total": "131"}, False),
        ({"total": 129}, True),
        ({"success": 1, "total": 1}, False),
        ({"restricao": "INATIVA"}, False),
    ],
    ids=str,
)
def test_count_of_more_records_than_these_is_a_doubt(
    members: dict[str, object], is_doubt: bool
) -> None:
    found = doubt_of(Contents.of([FINE]), {"status": "ok", "result": [FINE], **members})
    assert (found is not None) == is_doubt


@pytest.mark.parametrize(
    ("beside", "record", "gap"),
    [
        ({}, {}, None),
        ({"mensagem": "Consulta realizada com sucesso"}, {}, None),
        ({"erro": "FIPE indisponível"}, {}, Gap("FIPE indisponível", True)),
        ({"erroFipe": "E1"}, {}, Gap("erroFipe: E1", True)),
        ({"progresso": "40%"}, {}, Gap("progresso: 40%", False)),
        # A gap of more than the prices counts first.
        ({"erroFipe": "E1", "erro": "Base fora do ar"}, {}, Gap("Base fora do ar", False)),
        ({"erroFipe": "E1"}, {"erroBase": "E2"}, Gap("erroBase: E2", False)),
        # What stands in the record is the vehicle's own, unless it names an error or an outage.
        ({}, {"progresso": "40%"}, None),
        ({}, {"carroceriaFerro": "E12"}, None),
        ({}, {"situacao": "INATIVO"}, None),
        ({}, {"msgErro": "Tempo esgotado"}, Gap("Tempo esgotado", False)),
        ({}, {"observacao": "Sistema indisponível"}, Gap("Sistema indisponível", False)),
        ({}, {"tabelaFipe": "Indisponível"}, Gap("Indisponível", True)),
        ({}, {"fipe": [{"erro": "503"}]}, Gap("erro: 503", True)),
    ],
    ids=str,
)
def test_part_of_a_vehicle_that_could_not_be_read_is_found(
    beside: dict[str, object], record: dict[str, object], gap: Gap | None
) -> None:
    assert gap_in(beside, record) == gap
