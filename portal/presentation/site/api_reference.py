"""The API reference: every JSON path with a curl example, its fields and errors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from portal.presentation.site.public_pages import SamplePlate


@dataclass(frozen=True, slots=True)
class ResponseField:
    """A field of an answer, with its name in the API contract."""

    name: str
    type: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation; ``curl`` is a runnable command, except for its token."""

    anchor: str
    title: str
    method: str
    paths: tuple[str, ...]
    purpose: str
    curl: str
    answer: str
    fields: tuple[ResponseField, ...]


@dataclass(frozen=True, slots=True)
class ApiError:
    """An error status, its message and its cause.

    ``message`` is exact where the API contract defines it, else "".
    """

    status: int
    message: str
    when: str


@dataclass(frozen=True, slots=True)
class ApiPage:
    """``token`` is shown in the curl commands; ``samples`` are the sandbox's plates."""

    template: ClassVar[str] = "pages/api.html"
    base_url: str
    token: str
    operations: tuple[Operation, ...]
    errors: tuple[ApiError, ...]
    samples: tuple[SamplePlate, ...]


def api_page(*, base_url: str, token: str, samples: Sequence[SamplePlate]) -> ApiPage:
    """The API reference for a portal at ``base_url``."""
    base = base_url.rstrip("/")
    return ApiPage(base, token, _operations(base, token), _ERRORS, tuple(samples))


def _operations(base: str, token: str) -> tuple[Operation, ...]:
    def get(path: str) -> str:
        return f"curl -H 'Authorization: {token}' {base}{path}"

    report = (
        f"curl -H 'Authorization: {token}' -H 'Content-Type: application/json' "
        f"""-d '{{"plate": "ABC1D23", "data": {{}}}}' {base}/detran/v1/analytical-reports"""
    )
    return (
        Operation(
            "decode",
            "Dados do veículo e preços FIPE",
            "GET",
            ("/detran/v1/decode/{plate}",),
            "Atributos do registro e, para cada versão da tabela FIPE, o preço atual e o "
            "histórico mensal.",
            get("/detran/v1/decode/ABC1D23"),
            '{"status": "DONE", "result": {…}}',
            _DECODE_FIELDS,
        ),
        Operation(
            "renainf",
            "Multas (Renainf)",
            "GET",
            (
                "/detran/v1/restrictions/renainf/{plate}",
                "/detran/v1/restrictions/renainf/{plate}/{uf}",
            ),
            "As infrações do registro nacional; com a UF, só as de órgãos autuadores daquele "
            "estado. Aceita também um Renavam de onze algarismos.",
            get("/detran/v1/restrictions/renainf/ABC1D23/MG"),
            '{"status": "SUCCESS", "result": [{…}]}',
            _FINE_FIELDS,
        ),
        Operation(
            "renajud",
            "Restrições judiciais (Renajud)",
            "GET",
            ("/detran/v1/restrictions/renajud/{plate}",),
            "As ordens da Justiça sobre o veículo. Aceita também um Renavam de onze algarismos.",
            get("/detran/v1/restrictions/renajud/ABC1D23"),
            '{"status": "SUCCESS", "result": [{…}]}',
            _RESTRICTION_FIELDS,
        ),
        Operation(
            "laudo",
            "Laudo analítico",
            "POST",
            ("/detran/v1/analytical-reports",),
            "Um texto sobre o veículo, escrito a partir do que é enviado em data.",
            report,
            '{"status": "DONE", "result": {…}}',
            _REPORT_FIELDS,
        ),
    )


def _fields(*lines: tuple[str, str, str]) -> tuple[ResponseField, ...]:
    return tuple(ResponseField(*line) for line in lines)


_DECODE_FIELDS = _fields(
    ("marca, descricao", "texto", "marca e modelo, como no registro"),
    ("placa", "texto", "a placa"),
    ("anoModelo, anoFabricacao", "texto", "anos com quatro algarismos"),
    ("combustivel, tipoVeiculo, nacional", "texto", "como no registro"),
    ("chassi", "texto", "oculto pela fonte"),
    ("potencia, cilindradas, capacidadePassageiro", "texto", "números em texto"),
    ("capacidadeCarga, caixaCambio", "texto", "podem vir vazios"),
    ("informacoesFipe[]", "lista", "ano, fipeId, marca, modelo, versao, combustivel, valorAtual"),
    (
        "informacoesFipe[].historicoPreco[]",
        "lista",
        "mes (1 a 12), ano, valor em reais e predicao (booleano), do mês mais antigo ao mais novo",
    ),
)
_FINE_FIELDS = _fields(
    ("codigoInfracao, descricao", "texto", "código e descrição da infração"),
    ("dataInfracao, horaInfracao", "texto", "DD/MM/AAAA e HH:MM, às vezes com espaço à esquerda"),
    ("dataCadastroInfracao", "texto", "DD/MM/AAAA"),
    (
        "dataEmissaoNotificacao, dataEmissaoPenalidade",
        "texto",
        "DD/MM/AAAA, a segunda pode vir vazia",
    ),
    ("valor", "texto", "em reais; a fonte costuma cortar os centavos"),
    ("orgaoAutuador, codigoOrgaoAutuador, ufOrgaoAutuador", "texto", "quem autuou"),
    ("localInfracao, codigoMunicipioInfracao", "texto", "onde; podem vir vazios"),
    ("limitePermitido, medicaoReal, medicaoConsiderada", "texto", "medições; podem vir vazias"),
    ("tipo, marcaModelo", "texto", "podem vir vazios"),
    ("autoInfracao", "texto", "oculto pela fonte"),
    ("pagamento", "objeto", "dataPagamento, dataRegistro, ufPagamento, valorPago"),
    (
        "cnhCondutor, cnhInfrator",
        "objeto",
        "impedimento, pontos (número), portaria, registro (oculto)",
    ),
)
_RESTRICTION_FIELDS = _fields(
    ("tribunal, orgaoJudiciario", "texto", "de quem é a ordem"),
    ("processo", "texto", "oculto pela fonte"),
    ("restricoes", "texto", "o tipo: transferência, licenciamento, circulação, penhora"),
    ("dataInclusao", "texto", "DD/MM/AAAA HH:MM:SS"),
    ("constaRenajud", "booleano", "se há restrição registrada"),
    ("detalheRenajud, tipoBloqueio, codigoJudicial", "texto", "podem vir vazios"),
    (
        "numeroProtocolo, anoProtocolo, numeroOficio, anoOficio, anoProcesso",
        "texto",
        "podem vir vazios",
    ),
    ("placa, renavam, marcaModelo, anoModelo, anoFabricacao", "texto", "podem vir vazios"),
)
_REPORT_FIELDS = _fields(
    ("resumo", "texto", "a situação em poucas linhas"),
    (
        "topicos",
        "objeto",
        "documentacao, rouboFurto, leilao, fipe, chassiMotor, restricoes, multas, proprietarios",
    ),
    ("laudoFinal", "texto", "conclusão e recomendações"),
)
_ERRORS = (
    ApiError(400, "Por favor, informe uma placa válida.", "a placa não tem a forma de uma placa"),
    ApiError(
        401, "Não autorizado.", "sem credencial, com credencial desconhecida ou com mais de uma"
    ),
    ApiError(
        403, "Acesso negado!", "credencial revogada, vencida ou sem permissão para a operação"
    ),
    ApiError(404, "", "o caminho não existe, ou a fonte não conhece a placa"),
    ApiError(405, "", "o caminho não aceita o método; OPTIONS diz quais aceita"),
    ApiError(413, "", "corpo acima de 256 KiB"),
    ApiError(415, "", "o corpo do laudo não é application/json"),
    ApiError(429, "", "limite de uso atingido; Retry-After diz quando voltar"),
    ApiError(502, "", "a fonte respondeu com erro ou em formato que não se reconhece"),
    ApiError(503, "", "nenhuma fonte pode ser consultada agora; há Retry-After"),
    ApiError(504, "", "a fonte demorou demais"),
)
