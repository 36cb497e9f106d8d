"""Answers as real sources write them: records, remarks, codes, flags, denials, blanks and failures.

An answer is made of parts, and each part has its truth: what a person would understand. The words
are collected from manuals, forums and logs of such services, and not from the portal's own table.
"""

import random
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from tests import factories

# "plain" failures are understood by everybody and must end in a 502. "odd" ones may be taken for a
# text of unknown words, which confirms nothing. "aside" denies something else than was asked for:
# of another vehicle, of one state of many, or another kind of record.
Truth = Literal[
    "denial", "success", "plain", "odd", "working", "positive", "strange", "blank", "aside"
]
LookupKind = Literal["decode", "renainf", "renajud"]
PLATE = "ABC1D23"

DENIALS: dict[LookupKind, tuple[str, ...]] = {
    "decode": (
        *("Nada consta para o chassi informado", "nada consta", "Nenhum resultado para a consulta"),
    ),
    "renainf": (
        "Não foram localizados débitos para o veículo pesquisado.",
        "Sem registro de infrações no RENAINF",
        "Nenhuma penalidade localizada",
        "Veículo isento de multas",
        "0 multas encontradas",
        "Nenhuma multa para a placa ABC1D23",
        "ABC-1D23: não há multas",
    ),
    "renajud": (
        "Inexistem restrições para a placa consultada",
        "Não constam ordens judiciais ativas",
        "Não existe restrição RENAJUD para este veículo",
        "Veiculo sem restricoes judiciais na base RENAJUD",
        "Não há registro de bloqueios para a placa informada.",
        "Sem restrições",
        "Nenhuma restrição judicial para o veículo ABC1D23",
        "Placa ABC 1D23 sem bloqueios",
    ),
}
OF_ANY_RECORD = (
    "Veículo sem apontamentos",
    "Não há ocorrências",
    "Nada consta para o chassi informado",
    "A pesquisa não retornou registros.",
    "NADA CONSTA ATE A PRESENTE DATA",
    "Nenhum resultado para a consulta",
    "O veículo não possui pendências.",
    "nada consta",
    "Nenhum registro para a placa ABC1D23",
    "No records found for this vehicle.",
)
ASIDES: dict[LookupKind, tuple[str, ...]] = {
    "decode": ("Nada consta em SP",),
    "renainf": (
        *("Nenhuma multa em SP", "Não há multas no DETRAN/RJ", "Sem débitos na base estadual"),
        *("Nenhuma restrição judicial", "Sem bloqueios", "Nada consta no RENAJUD", "Sem gravames"),
        *("Nenhuma multa para a placa ZZZ9Z99", "ZZZ9Z99: sem infrações", "Nada consta no Detran"),
    ),
    "renajud": (
        *("Não há multas", "Nenhum débito localizado", "Nada consta no RENAINF", "Sem gravames"),
        *("Nenhuma restrição administrativa", "Sem restrição de roubo ou furto", "SP: nada consta"),
        *("Nenhuma restrição para a placa ZZZ9Z99", "Sem restrições no DETRAN/MG"),
    ),
}
SUCCESSES = (
    "Transação efetuada com sucesso",
    "Consulta concluída",
    "Operação realizada com êxito.",
    "OK",
    "Pesquisa finalizada com sucesso!",
    "Processamento concluído",
    "SUCESSO",
    "Solicitação processada com sucesso",
    "Request completed",
)
PLAIN_FAILURES = (
    "Ocorreu uma falha na comunicação com o órgão",
    "Erro ao acessar a base nacional",
    "O sistema do DETRAN está fora do ar",
    "Serviço do SENATRAN indisponível no momento",
    "Não foi possível obter os dados junto ao tribunal",
    "Tempo de espera esgotado",
    "Read timed out",
    "HTTP 503 Service Unavailable",
    "Sistema em manutenção programada",
    "Tente novamente em alguns instantes.",
    "Sem resposta do SERPRO",
    "Saldo insuficiente para a consulta",
    "Limite mensal de consultas excedido",
    "java.lang.NullPointerException: erro interno",
    "Token de acesso expirado",
    "Instabilidade na fonte de dados",
    "Consulta não realizada: órgão sem comunicação",
    "Falha de autenticação",
    "Acesso negado para o produto",
)
ODD_FAILURES = (
    "Host inacessível",
    "Repita a operação mais tarde",
    "Serviço suspenso pelo provedor",
    "Sem linha com o órgão",
    "Houve um imprevisto",
    "ORA-12541: TNS:no listener",
    "502 Bad Gateway",
    "Seu pacote não contempla esta pesquisa",
    "CAPTCHA não resolvido",
    "Retorno corrompido da origem",
    "Robô bloqueado pelo site do tribunal",
    "Franquia encerrada",
)
WORKING = (
    "Sua consulta está em processamento",
    "Pedido na fila",
    "Aguardando retorno do órgão",
    "Processing",
    "Consulta em andamento, volte em instantes",
    "Resultado pendente",
)
STRANGE = (
    "Veículo não localizado na base",
    "Procure o Detran",
    "UF não atendida",
    "Consta 1 registro",
    "Há pendências para o veículo",
    "Ver anexo",
    "Situação irregular",
    "COM RESTRICAO",
    "POSSUI MULTAS",
)
BLANKS: tuple[object, ...] = (
    *(
        "",
        " ",
        "-",
        "--",
        None,
        "null",
        "N/A",
        "NC",
        "NAO INFORMADO",
        "Não informada",
        "SEM INFORMACAO",
    ),
)
NO_DAYS: tuple[object, ...] = ("", "00/00/0000", "  /  /    ", "01/01/1900", None, "NAO INFORMADO")
NO_NUMBERS: tuple[object, ...] = ("", "0", "0,00", 0, None, "000000", "NC")

# What says that the price table, or another part of a vehicle's data, could not be read.
OUTAGES_OF_PRICES: tuple[dict[str, Any], ...] = (
    *({"erro": "FIPE fora do ar"}, {"msgErroFipe": "Tente novamente mais tarde"}),
    *({"observacao": "Tabela FIPE indisponível"}, {"mensagemFipe": "Em processamento"}),
    *({"fipeIndisponivel": True}, {"statusFipe": 503}, {"fipe": {"sucesso": False}}),
    *({"avisos": ["FIPE: falha na consulta"]}, {"retorno": {"fipe": {"msg": "Sem resposta"}}}),
    *({"statusFipe": "ERRO"}, {"dados": [{"precos": [{"erro": "tempo esgotado"}]}]}),
)
OUTAGES: tuple[dict[str, Any], ...] = (
    *({"erro": "Base BIN fora do ar"}, {"msgErro": "Tempo de espera esgotado"}),
    *({"avisos": ["SENATRAN sem resposta"]}, {"retorno": {"mensagem": "Falha na comunicação"}}),
    *({"erros": [{"fonte": "BIN", "descricao": "Serviço indisponível"}]}, {"erro": True}),
)

TEXTS: dict[Truth, tuple[str, ...]] = {
    "denial": OF_ANY_RECORD,
    "success": SUCCESSES,
    "plain": PLAIN_FAILURES,
    "odd": ODD_FAILURES,
    "working": WORKING,
    "strange": STRANGE,
}
TEXT_NAMES = (
    *(
        "mensagem",
        "message",
        "msg",
        "mensagemRetorno",
        "return_message",
        "ds_mensagem",
        "txtMensagem",
    ),
    *(
        "descricaoRetorno",
        "statusMessage",
        "Observacao",
        "observacoes",
        "informacao",
        "motivo",
        "xMotivo",
    ),
    *(
        "mensagem_retorno",
        "msgRetorno",
        "retorno",
        "resposta",
        "descricao_situacao",
        "situacaoConsulta",
    ),
    *("aviso", "alertas", "detalheRetorno", "mensagemSistema", "resultMessage"),
)
ERROR_NAMES = (
    *(
        "msgErro",
        "descricaoErro",
        "erro",
        "error",
        "errorMessage",
        "mensagem_erro",
        "ds_erro",
        "falha",
    ),
    *("erros", "codigoErro", "exception"),
)
CODE_NAMES = (
    "codigoRetorno",
    "codigo",
    "code",
    "cod_retorno",
    "returnCode",
    "statusCode",
    "nrCodigo",
)
POSITIVES: tuple[tuple[str, object], ...] = (
    *(("possuiMultas", True), ("temRestricao", "SIM"), ("has_fines", 1), ("existeDebito", "S")),
    *(("qtdMultas", 3), ("quantidade", "2"), ("totalRegistros", 1), ("numeroRegistros", 4)),
    *(("total_multas", "0003"), ("valorTotal", "130,16"), ("qtde_infracoes", 2), ("multas", 1)),
    *(("veiculoEncontrado", False), ("placaNaoEncontrada", True), ("ufInvalida", True)),
    *(("estadoInvalido", "S"), ("restricoesAtivas", "SIM"), ("constaRestricao", True)),
    *(
        ("vehicleFound", False),
        ("finesCount", 7),
        ("ocorrencias", "1"),
        ("possuiRestricaoJudicial", "S"),
    ),
    *(("nadaConsta", False), ("semMultas", "N"), ("naoPossuiRestricao", False), ("regular", "N")),
    *(("orgaosNaoConsultados", ["PRF"]), ("progresso", "40%"), ("cobertura", "3 de 5 fontes")),
    *(("fontes", {"respondidas": 2, "total": 5}), ("meta", {"done": 0, "total": 3})),
    *(("prf", "INATIVO"), ("situacaoFonte", "Desativada"), ("totalPaginas", 4)),
    *(("basesOmitidas", ["DNIT"]), ("truncado", True), ("nextToken", "YWJj"), ("ready", False)),
)
NEGATIVES: tuple[tuple[str, object], ...] = (
    *(("possuiMultas", False), ("temRestricao", "NAO"), ("has_fines", 0), ("existeDebito", "N")),
    *(("qtdMultas", 0), ("quantidade", "0"), ("totalRegistros", 0), ("valorTotal", "0,00")),
    *(("veiculoEncontrado", True), ("placaNaoEncontrada", False), ("ufInvalida", False)),
    *(("erro", False), ("erros", []), ("sucesso", True), ("success", "true"), ("error", None)),
    *(("nadaConsta", True), ("semMultas", "S"), ("naoPossuiRestricao", True), ("regular", "S")),
    *(("orgaosNaoConsultados", []), ("progresso", "100%"), ("cobertura", "5 de 5 fontes")),
    *(("fontes", {"respondidas": 5, "total": 5}), ("totalFontes", 7)),
    *(("basesOmitidas", None), ("truncado", False), ("nextToken", ""), ("ready", True)),
)
HARMLESS: tuple[tuple[str, object], ...] = (
    *(
        ("idConsulta", "8f2c"),
        ("protocolo", "2026112800012"),
        ("dataConsulta", "28/11/2026 10:00:00"),
    ),
    *(("tempoMs", 812), ("fonte", "SENATRAN"), ("versao", "2.1"), ("creditosRestantes", 98)),
    *(("custo", "0,35"), ("pagina", 1), ("requestId", "b1c2")),
)


CONTENT = "an unknown text in a member of the contract"


class Part(NamedTuple):
    """Members of one object, and what they say."""

    members: dict[str, Any]
    truth: Truth


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to a lookup, and the truths of its parts. ``holds`` are its real records."""

    lookup: LookupKind
    document: dict[str, Any]
    truths: frozenset[Truth]
    holds: tuple[
        Literal["vehicle", "unpriced", "unread", "paid", "open", "order", "unflagged"], ...
    ] = ()
    places: tuple[str, ...] = field(default=())

    @property
    def body(self) -> bytes:
        return factories.encode(self.document)


def answers(seed: int) -> Iterator[Answer]:
    """Yield answers without end, always the same for a seed."""
    chance = random.Random(seed)
    makers: tuple[Callable[[random.Random], Answer], ...] = (
        *(_fines, _orders, _vehicle, _partly_read),
    )
    while True:
        yield chance.choice(makers)(chance)


def _spelled(chance: random.Random, text: str) -> str:
    """Write a text as some program would."""
    forms: tuple[Callable[[str], str], ...] = (str, str.upper, str.lower, _without_accents)
    text = chance.choice(forms)(text)
    return chance.choice(("{}", "{}", " {} ", "{}.", "{}\n")).format(text)


def _without_accents(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


def _text(chance: random.Random, lookup: LookupKind, truth: Truth) -> str:
    texts = TEXTS.get(truth, ())
    if truth in ("denial", "aside"):
        texts += (DENIALS if truth == "denial" else ASIDES)[lookup]
    return _spelled(chance, chance.choice(texts))


def _part(chance: random.Random, lookup: LookupKind, truths: tuple[Truth, ...]) -> Part:
    truth = chance.choice(truths)
    if truth == "positive":
        name, value = chance.choice(POSITIVES)
        return Part({name: value}, truth)
    if truth == "blank":
        return Part({chance.choice(TEXT_NAMES): chance.choice(BLANKS)}, truth)
    name = chance.choice(TEXT_NAMES)
    members: dict[str, Any] = {name: _text(chance, lookup, truth)}
    if truth in ("plain", "odd") and chance.random() < 0.4:
        members = {chance.choice(ERROR_NAMES): members.pop(name)}
    if chance.random() < 0.3:
        members |= {chance.choice(CODE_NAMES): _code(chance, truth)}
    if chance.random() < 0.3:
        members |= dict([chance.choice(HARMLESS)])
    if truth in ("denial", "success") and chance.random() < 0.3:
        members |= dict([chance.choice(NEGATIVES)])
    return Part(members, truth)


def _code(chance: random.Random, truth: Truth) -> object:
    """Return a source's own code, which only its text explains."""
    if truth in ("denial", "success"):
        return chance.choice((0, "0", "00", 1, "001", "200", 612, "N001"))
    return chance.choice((8, "99", "E07", 500, "503", 612, "-1"))


def _nested(chance: random.Random, members: dict[str, Any]) -> tuple[dict[str, Any], str]:
    match chance.randrange(6):
        case 0:
            return {"meta": members}, "in an object"
        case 1:
            return {"retorno": {"status": members}}, "in two objects"
        case 2:
            return {"mensagens": [members]}, "in a list"
        case _:
            return members, "flat"


def _beside(
    chance: random.Random, parts: list[Part], places: list[str]
) -> tuple[dict[str, Any], list[Truth]]:
    """Return the members of the parts, and the truths of those whose names were free."""
    document: dict[str, Any] = {}
    said: list[Truth] = []
    for part in parts:
        members, place = _nested(chance, part.members)
        if not members.keys() & document.keys():
            document |= members
            said.append(part.truth)
            places.append(f"beside, {place}")
    return document, said


def _scatter(
    chance: random.Random, lookup: LookupKind, record: dict[str, Any], texts: tuple[str, ...]
) -> tuple[list[Any], list[Truth], list[str]]:
    """Return elements in place of records: remarks, or the contract's members without content."""
    truths: list[Truth] = []
    places: list[str] = []
    elements = []
    for _ in range(chance.choice((1, 1, 1, 2))):
        kinds: tuple[Truth, ...] = chance.choice(
            (
                ("denial",),
                ("denial",),
                ("success",),
                ("plain",),
                ("odd",),
                ("working",),
                ("strange",),
                ("aside",),
            )
        )
        element = dict(record) if chance.random() < 0.6 else {}
        part = _part(chance, lookup, kinds)
        if element and chance.random() < 0.5:
            name = chance.choice(texts)
            element[name] = _text(chance, lookup, part.truth)
            places.append(f"in {lookup}, {name}")
            if part.truth in ("odd", "strange"):  # a text of unknown words is a record's content
                places.append(CONTENT)
        else:
            members, place = _nested(chance, part.members)
            element |= members
            places.append(f"in an element, {place}")
        truths.append(part.truth)
        elements.append(element)
    return elements, truths, places


def _document(
    chance: random.Random, lookup: LookupKind, status: str, result: object, places: list[str]
) -> tuple[dict[str, Any], list[Truth]]:
    choices: tuple[tuple[Truth, ...], ...] = (
        *((), (), ("denial",), ("success",), ("plain",), ("odd",), ("working",), ("positive",)),
        *(("aside",), ("success", "aside")),
        *(
            ("strange",),
            ("blank",),
            ("denial", "plain"),
            ("success", "positive"),
            ("success", "odd"),
        ),
    )
    parts = [_part(chance, lookup, (truth,)) for truth in chance.choice(choices)]
    beside, said = _beside(chance, parts, places)
    return {"status": status, "result": result, **beside}, said


def _blank_fine(chance: random.Random) -> dict[str, Any]:
    record = factories.fine()
    for name in record:
        if name.startswith("data"):
            record[name] = chance.choice(NO_DAYS)
        elif name.startswith(("codigo", "valor", "limite", "medicao")):
            record[name] = chance.choice(NO_NUMBERS)
        elif isinstance(record[name], str):
            record[name] = chance.choice(BLANKS)
    record["autoInfracao"] = chance.choice(("", factories.HIDDEN, None))
    return record


def _fines(chance: random.Random) -> Answer:
    places: list[str] = []
    truths: list[Truth] = []
    holds: list[Literal["paid", "open"]] = []
    elements: list[Any] = []
    if chance.random() < 0.6:
        elements, truths, places = _scatter(chance, "renainf", _blank_fine(chance), ("descricao",))
    if chance.random() < 0.2:
        paid = factories.payment(dataPagamento="10/10/2025", valorPago="130,16")
        record = factories.fine(pagamento=paid, tipo="PAGA")
        if chance.random() < 0.4:
            record = factories.fine()
        holds.append("paid" if record["tipo"] else "open")
        elements.insert(chance.randrange(len(elements) + 1), record)
    document, more = _document(chance, "renainf", "SUCCESS", elements, places)
    return Answer("renainf", document, frozenset((*truths, *more)), tuple(holds), tuple(places))


def _blank_order(chance: random.Random) -> dict[str, Any]:
    record = {name: chance.choice(BLANKS) for name in factories.restriction()}
    return record | {"placa": chance.choice(("", PLATE)), "renavam": ""}


def _orders(chance: random.Random) -> Answer:
    places: list[str] = []
    truths: list[Truth] = []
    holds: list[Literal["order", "unflagged"]] = []
    elements: list[Any] = []
    if chance.random() < 0.6:
        blank = _blank_order(chance)
        names = ("detalheRenajud", "detalheRenajud", "restricoes")
        elements, truths, places = _scatter(chance, "renajud", blank, names)
        for element in elements:
            flag = chance.choice((False, False, False, "NAO", "N", 0, None, "", "missing"))
            if "tribunal" not in element:
                continue
            element["constaRenajud"] = flag
            if flag in (None, "") or flag == "missing":
                holds.append("unflagged")
            if flag == "missing":
                del element["constaRenajud"]
    if chance.random() < 0.15:
        elements.insert(chance.randrange(len(elements) + 1), factories.restriction())
        holds.append("order")
    document, more = _document(chance, "renajud", "SUCCESS", elements, places)
    return Answer("renajud", document, frozenset((*truths, *more)), tuple(holds), tuple(places))


def _partly_read(chance: random.Random) -> Answer:
    """A vehicle of which the source could not read the prices, or another part."""
    result = factories.decoded(PLATE, informacoesFipe=[])
    of_prices = chance.random() < 0.6
    told = chance.choice(OUTAGES_OF_PRICES if of_prices else OUTAGES)
    if of_prices and chance.random() < 0.3:
        told = {
            "informacoesFipe": chance.choice(("Serviço indisponível", [{"erro": "fora do ar"}]))
        }
    is_inside = "informacoesFipe" in told or chance.random() < 0.5
    document = {"status": "DONE", "result": result | (told if is_inside else {})}
    document |= {} if is_inside else told
    holds: tuple[Literal["vehicle", "unpriced", "unread"], ...] = ("vehicle", "unpriced")
    return Answer("decode", document, frozenset(), holds if of_prices else (*holds, "unread"))


def _vehicle(chance: random.Random) -> Answer:
    places: list[str] = []
    result: dict[str, Any] = factories.decoded(PLATE)
    truths: list[Truth] = []
    holds: tuple[Literal["vehicle"], ...] = ("vehicle",)
    if chance.random() < 0.7:
        holds = ()
        result = {name: chance.choice(BLANKS) for name in result}
        result |= {"placa": chance.choice(("", PLATE, None)), "informacoesFipe": []}
        result |= {"chassi": chance.choice(("", factories.HIDDEN))}
        if chance.random() < 0.7:
            part = _part(
                chance,
                "decode",
                (chance.choice(("plain", "odd", "working", "strange", "success")),),
            )
            members, place = _nested(chance, part.members)
            result |= members
            truths.append(part.truth)
            places.append(f"in decode, {place}")
    document, more = _document(chance, "decode", "DONE", result, places)
    return Answer("decode", document, frozenset((*truths, *more)), holds, tuple(places))
