"""Judges the texts that an answer carries beside an empty ``result``.

Vendors put "processada com sucesso" or "nenhum registro encontrado" beside the list of a clean
vehicle, and "base indisponível" beside the list of an outage. An empty list of an outage must never
read like a clean record. The tables below hold the words of both kinds, without accents and in
upper case. A text with a word that no table knows confirms nothing, unless it reports a failure.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final, Literal, NamedTuple

from portal.vehicle.field import fold, read_field
from portal.vehicle.plate import STATES

Kind = Literal["success", "failure", "unknown"]

_RECORDS: Final = (
    r"(?:REGISTROS?|MULTAS?|DEBITOS?|RESTRIC(?:AO|OES)|INFRAC(?:AO|OES)|BLOQUEIOS?|OCORRENCIAS?"
    r"|RESULTADOS?|PENDENCIAS?|GRAVAMES?|AUTUAC(?:AO|OES)|PENALIDADES?|IMPEDIMENTOS?"
    r"|APONTAMENTOS?|NOTIFICAC(?:AO|OES)|PROCESSOS?|ORDE(?:M|NS)|RECORDS?|RESULTS?|FINES?)"
)
# Words that may stand between a denial and the records that it denies. Other words are not allowed,
# because "sem dados sobre multas" denies the data and not the fines.
_FILL: Final = (
    r"(?:(?:QUALQUER|QUAISQUER|NENHUMA?|ALGUMA?|NOV[OA]S?|OUTR[OA]S?|MAIS|TIPOS?|D?[OA]S?|DE|N[OA]"
    r"|PARA|ESS[EA]|EST[EA]|VEICULO|PLACA|RENAVAM|INFORMAD[OA]|CONSULTAD[OA]|ATIV[OA]S?) ){0,6}"
)
_LISTED: Final = rf"{_FILL}{_RECORDS}(?: (?:(?:E|OU|NEM) )?{_FILL}{_RECORDS})*"
_FOUND: Final = (
    r"(?:ENCONTRAD|LOCALIZAD|IDENTIFICAD|CADASTRAD|REGISTRAD|RETORNAD|CONSTATAD)(?:O|A|OS|AS)"
)
_QUERY: Final = (
    r"(?:CONSULTA|PESQUISA|BUSCA|SOLICITACAO|REQUISICAO|OPERACAO|TRANSACAO|PROCESSAMENTO|PEDIDO)"
)
_CARRIED_OUT: Final = (
    r"(?:REALIZAD|EFETUAD|CONCLUID|FINALIZAD|PROCESSAD|EXECUTAD|ATENDID|COMPLETAD|EFETIVAD)[OA]S?"
)

# A denied failure. These words are removed before the other tables are searched.
_NO_FAILURE: Final = re.compile(
    r"\b(?:SEM|NENHUMA?|NAO HOUVE|NAO HA|NAO OCORREU|NAO OCORRERAM|ZERO|0) (?:(?:QUALQUER|QUAISQUER"
    r"|NENHUMA?) )?(?:ERROS?|FALHAS?|PROBLEMAS?|INTERRUPC(?:AO|OES)|INSTABILIDADES?)\b"
    r"|\b(?:WITHOUT|NO) (?:ERRORS?|FAILURES?)\b"
)

_FAILURE: Final = re.compile(
    "|".join(
        (
            # The service, or one of its sources, is out of order.
            r"INDISPON|UNAVAIL|FORA DO AR|OFFLINE|MANUTENC|MAINTENANCE|INSTAVEL|INSTABILIDADE"
            r"|SOBRECARREG|CONGESTION|OVERLOAD|LENTIDAO|CONTINGENCIA|INOPERANTE|TEMPORARI",
            r"\bERROS?\b|\bERROR|FALH|\bFAIL|PROBLEMA|EXCECAO|EXCEPTION|INSUCESSO|SEM EXITO",
            r"TIME ?OUT|TIMED OUT|TEMPO (?:\w+ ){0,3}?(?:ESGOT|EXCED|LIMITE|EXPIR)",
            r"\bTENTE\b|TENTAR NOVAMENTE|TRY (?:IT )?(?:AGAIN|LATER)|AGUARDE",
            r"PARCIAL|PARTIAL|INCOMPLET|RESSALVA|INTERROMP|ABORTAD|CANCELAD[OA] PEL",
            # Something was not done.
            r"IMPOSSIVEL|IMPOSSIBILI|NAO (?:\w+ ){0,2}?(?:POSSIVEL|CONSEGU|RESPOND|DISPONIVE"
            r"|AUTORIZAD|PERMITID|SUCESSO|CONSULTAD|REALIZAD|EFETUAD|CONCLUID|FINALIZAD|PROCESSAD|EXECUTAD"
            r"|ATENDID|COMPLETAD|RETORNOU)|(?:CANNOT|COULD NOT|UNABLE)",
            r"SEM (?:RETORNO|RESPOSTA|CONEXAO|COMUNICACAO|SISTEMA|SUCESSO|SALDO|CREDITOS?|ACESSO"
            r"|PERMISSAO|AUTORIZACAO)",
            r"NENHUMA? (?:RETORNO|RESPOSTA|FONTE|BASE|SERVICO|CONEXAO)",
            # The account has no right to the answer.
            r"INSUFICIENTE|INSUFFICIENT|SALDO (?:\w+ ){0,2}?(?:ESGOT|ZERAD|NEGATIV)",
            r"CREDITOS? (?:\w+ ){0,2}?(?:ESGOT|ACAB|EXPIR)|QUOTA|\bCOTA\b|TOO MANY|RATE LIMIT",
            r"LIMITE (?:\w+ ){0,4}?(?:ATINGI|EXCED|ESGOT|ULTRAPASS|ESTOUR)"
            r"|(?:ATINGI|EXCED|ESGOT|ULTRAPASS|ESTOUR)\w* (?:\w+ ){0,3}?LIMITE|LIMITE DIARIO$",
            r"ACESSO (?:\w+ )?(?:NEGAD|BLOQUEAD|SUSPENS|EXPIRAD)|UNAUTHORI|FORBIDDEN|DENIED",
            r"(?:TOKEN|SESSAO|CREDENCIAL|CONTRATO|PLANO|ASSINATURA) (?:\w+ )?"
            r"(?:INVALID|EXPIRAD|VENCID|SUSPENS|BLOQUEAD)",
            r"REJEITAD|RECUSAD|REJECTED|REFUSED",
        )
    )
)

# Nothing is on record. These words are removed too, because they contain the names of records.
_NOTHING: Final = re.compile(
    "|".join(
        (
            r"\b(?:NENHUMA?|SEM|ZERO|0|LIVRE DE|AUSENCIA DE|INEXISTENCIA DE|NAO (?:HA|HOUVE"
            rf"|EXISTEM?|CONSTAM?|POSSUI|TEM|APRESENTA)) {_LISTED}\b(?: FOI| FORAM)?(?: {_FOUND})?",
            rf"\bNAO (?:FOI |FORAM )?(?:{_FOUND}|ENCONTR\w+|LOCALIZ\w+) {_LISTED}\b",
            # "Registro do veículo não encontrado" says that the vehicle is unknown.
            rf"\b{_RECORDS} (?:(?!VEICULO|PLACA)\w+ ){{0,3}}?(?:NAO (?:FOI |FORAM )?(?:{_FOUND}"
            r"|CONSTAM?|EXISTEM?)|INEXISTENTES?|NENHUMA?|NADA CONSTA|NEGATIV[OA]S?|0|ZERO)(?!\w)",
            rf"\bNENHUMA? (?:DADO|INFORMACAO) (?:FOI )?{_FOUND}",
            rf"\b(?:DADOS|INFORMACOES) NAO {_FOUND}",
            rf"\bNADA (?:CONSTA|FOI {_FOUND}|{_FOUND}|A CONSTAR|HA)\b|^NAO CONSTAM?$",
            r"\bNO (?:DATA|RECORDS?|RESULTS?|FINES?)(?: (?:WAS|WERE))? FOUND\b",
            r"\b(?:RECORDS?|RESULTS?) NOT FOUND\b",
        )
    )
)
# "SER" and the like between the query and its end stay in the text, because a query that is to be
# carried out has not been.
_SUCCESS: Final = re.compile(
    rf"(?<!\bNO )\bSUCESSO\b|(?<!\bNO )\bSUCCESS(?:FUL|FULLY)?\b|\bEXITO\b|\bCOMPLETED\b"
    rf"|\b{_QUERY} (?P<between>(?:\w+ ){{0,3}}?){_CARRIED_OUT}\b|\b{_QUERY} OK\b"
    rf"|^{_CARRIED_OUT}$|^(?:OK|DONE|RETORNO OK)$"
)
# The words that may stand beside a success or a denial. With any other word the text confirms
# nothing: "consulta realizada com sucesso, base suspensa", "nada consta, veículo furtado".
_NEUTRAL: Final = re.compile(
    r"[OA]S?|D[EOA]S?|EM|N[OA]S?|AOS?|PARA|PEL[OA]S?|POR|COM|E|OU|QUE|NOME|PROPRIETARIO|UMA?|[DN]?ES[ST][EA]|SEU|SUA"
    r"|TOD[OA]S?|FOI|FORAM|ATE|MOMENTO|PRESENTE|DATA|HORA|OK|ABERTO"
    r"|CONSULTAS?|PESQUISAS?|BUSCA|SOLICITACAO|REQUISICAO|OPERACAO|TRANSACAO|PROCESSAMENTO|PEDIDO"
    r"|RESULTADO|RETORNO|RESPOSTA|MENSAGEM|STATUS|SITUACAO|CODIGO|VEICULOS?|PLACAS?|RENAVAM|CHASSI"
    r"|BASES?|SISTEMA|FONTE|SERVICO|DADOS|INFORMAC(?:AO|OES)|PARAMETROS|ESTADO|UF|NACIONAL|ESTADUAL"
    r"|FEDERAL|DETRAN|RENAINF|RENAJUD|SENATRAN|DENATRAN|SERPRO|BIN|JUDICIA(?:L|IS)|TRANSITO|FURTO"
    r"|ROUBO|(?:ADMINISTRATIV|FINANCEIR|ATIV|INFORMAD|CONSULTAD|PESQUISAD|SOLICITAD)[OA]S?"
    rf"|{_CARRIED_OUT}|{_FOUND}|THE|THIS|OF|FOR|IN|FROM|WITH|WAS|WERE|IS|ARE|QUERY|SEARCH|REQUEST"
    r"|RESPONSE|VEHICLE|PLATE|PROCESSED|FOUND|[A-Z]{3}\d[A-Z0-9]\d{2}|\d{9,11}|0+|200|;"
)

# The texts are in members of these names. A member named after an error reports one, unless its
# words say success. The names must not occur in harmless names, such as "total".
_ERROR_NAME: Final = re.compile(
    r"erro|fail|falha|fault|unavail|indispon|partial|parcial|incomplet", re.IGNORECASE
)
_TEXT_NAME: Final = re.compile(
    r"messag|mensag|msg|warn|aviso|alert|reason|motivo|detail|detalhe", re.IGNORECASE
)
_REMARK_NAME: Final = re.compile(
    r"observ|situac|com+ent|resumo|summary|conclus|parecer|descri|^(info(rmac\w*)?|obs|not[ae]s?)$"
)
_SUCCESS_NAMES: Final = frozenset({"success", "sucesso", "ok"})
_NEGATIVES: Final = frozenset({"FALSE", "0", "NO", "NAO", "N"})
_CODE_NAMES: Final = frozenset(
    {"status", "code", "codigo", "statuscode", "status_code", "httpstatus"}
)
# A count above zero beside an empty list contradicts the list. Nested counts may be of anything.
_COUNT_NAMES: Final = frozenset(
    {
        *("total", "quantidade", "qtd", "qtde", "count", "totalcount", "total_count"),
        *("totalregistros", "total_registros", "totalmultas", "total_multas", "totalresults"),
    }
)
_IDENTIFIER_ENDS: Final = ("Id", "ID", "_id")
_MOST_VALUES: Final = 1_000
_BLANK: Final = frozenset({"", "-", "0", "FALSE", "NULL", "NONE"})

_REMARK_MEMBERS: Final = (
    _SUCCESS_NAMES
    | _CODE_NAMES
    | {
        *("message", "messages", "mensagem", "mensagens", "msg", "aviso", "avisos"),
        *("erro", "erros", "error", "errors"),
    }
)


class Notice(NamedTuple):
    """A text beside an empty result, as the source sent it."""

    kind: Kind
    text: str


def kind_of(text: str) -> Kind:
    """Return what a text says about the answer that carries it."""
    # Sentences stay apart, so that "Não há. Consulta realizada" denies nothing of the query.
    words = re.sub(r"[^\w;]+", " ", re.sub(r"[.;!?|\n]", " ; ", fold(text)))
    words = words.strip(" ;")
    words, no_failures = _NO_FAILURE.subn("", words)
    if _FAILURE.search(words):
        return "failure"
    words, denials = _NOTHING.subn("", words)
    words, successes = _SUCCESS.subn(lambda found: found["between"] or "", words.strip(" ;"))
    if not (no_failures or denials or successes):
        return "unknown"
    is_neutral = all(word in STATES or _NEUTRAL.fullmatch(word) for word in words.split())
    return "success" if is_neutral else "unknown"


def judge(members: Mapping[str, Any]) -> Notice | None:
    """Return the gravest of the notices in the members of an answer, or None without notices.

    ``members`` are the members that carry texts. A failure is graver than an unknown text.
    """
    leaves = (leaf for name in members for leaf in _leaves(name, members[name]))
    first = list(islice(leaves, _MOST_VALUES + 1))
    if len(first) > _MOST_VALUES:  # no real answer has as many
        return Notice("unknown", str(read_field(first[0][1], "")))
    notices = (_notice(name, value) for name, value in first)
    found = {notice.kind: notice for notice in notices if notice is not None}
    return found.get("failure") or found.get("unknown") or found.get("success")


def is_remark(record: Mapping[str, Any]) -> bool:
    """Return whether a record holds a text about the answer in place of a record."""
    told = False
    for name, value in record.items():
        if _text(value) not in _BLANK:
            if name.casefold() not in _REMARK_MEMBERS:
                return False
            told = True
    return told


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    match value:
        case dict():
            for inner, each in value.items():
                yield from _leaves(f"{name}.{inner}", each)
        case list():
            for each in value:
                yield from _leaves(name, each)
        case _:
            yield name, value


def _notice(name: str, value: Any) -> Notice | None:
    text, folded = str(read_field(value, "")), _text(value)
    own_name = name.rpartition(".")[2].casefold()
    if own_name in _SUCCESS_NAMES:
        return Notice("failure", text) if folded in _NEGATIVES else None
    if folded in _BLANK or name.endswith(_IDENTIFIER_ENDS):
        return None
    is_error = any(map(_ERROR_NAME.search, name.split(".")))
    if own_name in _CODE_NAMES and folded.isdecimal() and not is_error:
        code = int(folded[:9])
        return None if code in (0, 200, 204) else Notice("failure", text)
    if name.casefold() in _COUNT_NAMES and folded.isdecimal():
        return Notice("unknown", f"{name}: {text}")
    kind = kind_of(text)
    if is_error:
        return Notice("success" if kind == "success" else "failure", text)
    is_text = any(map(_TEXT_NAME.search, name.split("."))) or _REMARK_NAME.search(own_name)
    return Notice(kind, text) if is_text or kind == "failure" else None


def _text(value: Any) -> str:
    match value:
        case bool() | None:
            return str(value).upper()
        case int() | float():
            return str(value) if value else "0"
        case str():
            return fold(read_field(value, "").value)
        case _:
            return "".join(map(str, value))  # blank if the list or object is empty
