"""What a text of the source says: nothing, a success, a denial, a failure, or that it still works.

This is the one table of such words. The gateway judges by it what stands beside or in place of
records, and the readers of fines, orders and attributes what stands in a record's member. The
source documents none of its words. Vendors put "processada com sucesso" or "nenhum registro
encontrado" where a clean vehicle has no record, and "base indisponível" where a source is down. An
outage must never read like a clean record, so a text with a word that no table knows denies
nothing. The patterns have no accents and are in upper case.
"""

import re
from typing import Final, Literal

from portal.fragments import any_of
from portal.vehicle.field import fold
from portal.vehicle.plate import STATES

Says = Literal["blank", "success", "denial", "failure", "working", "absent", "unknown"]

_RECORDS: Final = (
    r"(?:REGISTROS?|MULTAS?|DEBITOS?|RESTRIC(?:AO|OES)|INFRAC(?:AO|OES)|BLOQUEIOS?|OCORRENCIAS?"
    r"|RESULTADOS?|PENDENCIAS?|GRAVAMES?|AUTUAC(?:AO|OES)|PENALIDADES?|IMPEDIMENTOS?|ANOTAC(?:AO"
    r"|OES)"
    r"|APONTAMENTOS?|NOTIFICAC(?:AO|OES)|PROCESSOS?|ORDE(?:M|NS)|CONSTRIC(?:AO|OES)|ONUS"
    r"|LANCAMENTOS?|DETERMINAC(?:AO|OES)|DETALHES?|COMUNICAC(?:AO|OES) DE VENDAS?|RECORDS?"
    r"|RESULTS?|FINES?|RESTRICTIONS?)"
)
# Words that may stand between a denial and the records that it denies. Other words are not allowed,
# because "sem dados sobre multas" denies the data and not the fines.
_FILL: Final = (
    r"(?:(?:QUALQUER|QUAISQUER|NENHUMA?|ALGUMA?|NOV[OA]S?|OUTR[OA]S?|MAIS|TIPOS?|D?[OA]S?|DE|N[OA]"
    r"|PARA|ESS[EA]|EST[EA]|VEICULO|PLACA|RENAVAM|INFORMAD[OA]|CONSULTAD[OA]|ATIV[OA]S?"
    r"|JUDICIA(?:L|IS)"
    r"|ABERT[OA]S?|VIGENTES?|PENDENTES?) ){0,6}"
)
_LISTED: Final = rf"{_FILL}{_RECORDS}(?: (?:(?:E|OU|NEM) )?{_FILL}{_RECORDS})*"
_FOUND: Final = (
    r"(?:ENCONTRAD|LOCALIZAD|IDENTIFICAD|CADASTRAD|REGISTRAD|RETORNAD|CONSTATAD|APURAD)[OA]S?"
)
# What may follow the records that a text denies. A neutral word may stand anywhere, and these may
# not: "nada consta, informações pendentes" denies nothing.
_DENIED_WHERE: Final = (
    r"(?: (?:A (?:PAGAR|EXIBIR|MOSTRAR)|PENDENTES?(?: DE PAGAMENTO)?|VIGENTES?|ALGUMA?"
    r"|EM NENHUMA? (?:ESTADO|UF|MUNICIPIO|ORGAO|DETRAN|BASE|SISTEMA)))"
)
_LAID: Final = r"(?:LANCAD|APLICAD|EMITID|IMPUTAD|VINCULAD|ASSOCIAD)[OA]S?"
_QUERY: Final = (
    r"(?:CONSULTA|PESQUISA|BUSCA|SOLICITACAO|REQUISICAO|OPERACAO|TRANSACAO|PROCESSAMENTO|PEDIDO)"
)
_CARRIED_OUT: Final = (
    r"(?:REALIZAD|EFETUAD|CONCLUID|FINALIZAD|PROCESSAD|EXECUTAD|ATENDID|COMPLETAD|EFETIVAD)[OA]S?"
)

# Blanks in words, in a member that should have a value. Accents and case do not matter.
_BLANK: Final = re.compile(
    r"[-–—./ ]+|n[aã]o (?:informad|cadastrad|identificad|definid|preenchid|especificad"
    r"|declarad)[oa]s?"
    r"|(?:valor|dado|campo|informa[cç][aã]o) n[aã]o informad[oa]|n[aã]o se aplica"
    r"|n[aã]o aplic[aá]vel"
    r"|sem (?:informa[cç](?:[aã]o|[oõ]es)|dados?|descri[cç][aã]o|especifica[cç][aã]o"
    r"|identifica[cç][aã]o)"
    r"|n[./]?[acdi]\.?|s/[din]|ignorad[oa]|desconhecid[oa]|indefinid[oa]|em branco|vazi[oa]"
    r"|a definir"
    r"|null|none|nan|nat|nil|undefined|unknown|not (?:informed|provided|available|applicable)",
    re.IGNORECASE,
)
_LONGEST_BLANK: Final = 30
# The first characters of _BLANK. Most texts begin otherwise, and need no search.
_BLANK_STARTS: Final = frozenset(
    (
        *("nã", "na", "n.", "n/", "nc", "nd", "ni", "nu", "no", "va", "da", "ca", "in", "se", "s/"),
        *("ig", "de", "em", "a ", "un"),
    )
)
_BLANK_SIGNS: Final = frozenset("-–—./ ")
# What a database writes for an attribute that it does not have. Of a fine or an order, these words
# say more: there is none, or the source is down.
_NO_ATTRIBUTE: Final = re.compile(
    r"NAO (?:DISPONIBILIZAD[OA]|ENCONTRAD[OA]|LOCALIZAD[OA]|CONSTA|HA|EXISTE)"
    r"|NADA CONSTA|INEXISTENTE|NENHUMA?"
)
# Stems of what says that a value could not be read. Most attributes have none, and need no search.
_MAY_BE_UNREAD: Final = re.compile(
    r"INDISPON|DISPONIVEL|UNAVAIL|\bFORA\b|OFFLINE|MANUTENC|INSTAB|\bERRO|FALH|\bFAIL|TIME ?OUT"
    r"|\bTEMPO|TENTE|TENTAR|\bNAO |SEM (?:RE|CO|SI)|SALDO|CREDITO|PROCESSA|AGUARD|CONSULTA"
)

# A denied failure. These words are removed before the other tables are searched.
_NO_FAILURE: Final = re.compile(
    r"\b(?:SEM|NENHUMA?|NAO HOUVE|NAO HA|NAO OCORREU|NAO OCORRERAM|ZERO|0) (?:(?:QUALQUER|QUAISQUER"
    r"|NENHUMA?) )?(?:ERROS?|FALHAS?|PROBLEMAS?|INTERRUPC(?:AO|OES)|INSTABILIDADES?)\b"
    r"|\b(?:WITHOUT|NO) (?:ERRORS?|FAILURES?)\b"
)

# The service is down, or too slow, wherever the words stand.
_DOWN: Final = (
    r"INDISPONIVE|UNAVAIL|FORA DO AR|OFFLINE|MANUTENC|MAINTENANCE|INSTAVEL|INSTABILIDADE"
    r"|SOBRECARREG|CONGESTION|OVERLOAD|LENTIDAO|CONTINGENCIA"
    r"|INDISPONIBILIDADE (?:\w+ ){0,3}?(?:SISTEMA|SERVICO|BASE|FONTE|CONSULTA|TEMPORARI|MOMENTANE)",
    r"TIME ?OUT|TIMED OUT|TEMPO (?:\w+ ){0,3}?(?:ESGOT|EXCED|LIMITE|EXPIR)",
)
# A failure of the service, wherever the words stand.
_OUTAGE: Final = (
    *_DOWN,
    r"\bERROS?\b|\bERROR|\bFALHAS?\b|\bFALHOU\b|\bFALHARAM\b|\bFAIL|EXCECAO|EXCEPTION|INSUCESSO"
    r"|SEM EXITO",
    r"\bTENTE\b|TENTAR NOVAMENTE|TRY (?:IT )?(?:AGAIN|LATER)",
    r"NAO (?:\w+ ){0,2}?(?:POSSIVEL|CONSEGU|RESPOND|DISPONIVE)|IMPOSSIBILIDADE DE CONSULT"
    rf"|CANNOT|COULD NOT|UNABLE|\b{_QUERY} (?:\w+ ){{0,3}}?NAO (?:FOI )?{_CARRIED_OUT}",
    r"SEM (?:RETORNO|RESPOSTA|CONEXAO|COMUNICACAO|SISTEMA|SUCESSO|SALDO|CREDITOS?)",
    r"SALDO (?:\w+ ){0,2}?(?:ESGOT|ZERAD|NEGATIV|INSUFICIENTE)|CREDITOS? (?:\w+ ){0,2}?(?:ESGOT"
    r"|ACAB"
    r"|EXPIR|INSUFICIENTE)|TOO MANY|RATE LIMIT|ACESSO (?:\w+ )?(?:NEGAD|BLOQUEAD|SUSPENS|EXPIRAD)",
    # The account has no right to the answer.
    r"LIMITE (?:\w+ ){0,3}?(?:CONSULTAS?|REQUISICOES|ACESSOS) (?:\w+ ){0,2}?"
    r"(?:ATINGI|EXCED|ESGOT|ULTRAPASS|ESTOUR)",
    rf"\b{_QUERY} (?:\w+ ){{0,3}}?NAO (?:AUTORIZAD|PERMITID|LIBERAD|HABILITAD|CONTRATAD)",
    r"(?:TOKEN|SESSAO|CREDENCIA(?:L|IS)|CONTRATO|PLANO|ASSINATURA|INSTALACAO|CHAVE|USUARIO|SENHA"
    r"|LOGIN|CLIENTE|LICENCA|CERTIFICADO|APLICACAO|AUTENTICACAO|ACESSO) (?:\w+ ){0,3}?"
    r"(?:INVALID|EXPIRAD|VENCID|SUSPENS|BLOQUEAD|INATIV|INCORRET|CANCELAD|INEXISTENTE|REVOGAD)",
    r"(?:INVALID|EXPIRED|REVOKED) (?:\w+ )?(?:TOKEN|KEY|CREDENTIAL|LICEN[CS]E|SESSION)",
)
# Words that report a failure in a text about the answer. In a record, they may be about the fine or
# the order: "CIRCULACAO NAO AUTORIZADA", "INDISPONIBILIDADE", "PENHORA PARCIAL".
_FAILURE_OF_A_TEXT: Final = (
    r"^(?:DOWN|FORA|OUT OF SERVICE)$|DESCONECTAD|DISCONNECTED",
    r"INDISPON|INOPERANTE|TEMPORARI|FALH|PROBLEMA",
    r"PARCIAL|PARTIAL|INCOMPLET|RESSALVA|INTERROMP|ABORTAD|ABORTED|CANCELAD[OA] PEL",
    # Something was not done.
    r"IMPOSSIVEL|IMPOSSIBILI|NAO (?:\w+ ){0,2}?(?:AUTORIZAD|AUTENTICAD|HABILITAD|CONTRATAD|LIBERAD"
    r"|PERMITID|SUCESSO|CONSULTAD|REALIZAD|EFETUAD|CONCLUID|FINALIZAD|PROCESSAD|EXECUTAD"
    r"|ATENDID|COMPLETAD|RETORN(?:OU|ARAM)|OBTID|OBTEVE|ACESSAD)",
    r"SEM (?:ACESSO|PERMISSAO|AUTORIZACAO|CONTATO)",
    r"NENHUMA? (?:RETORNO|RESPOSTA|FONTE|BASE|SERVICO|CONEXAO)",
    r"INSUFICIENTE|INSUFFICIENT|QUOTA|\bCOTA\b|EXCEEDED",
    r"LIMITE (?:\w+ ){0,4}?(?:ATINGI|EXCED|ESGOT|ULTRAPASS|ESTOUR)"
    r"|(?:ATINGI|EXCED|ESGOT|ULTRAPASS|ESTOUR)\w* (?:\w+ ){0,3}?LIMITE|LIMITE DIARIO$",
    r"UNAUTHORI|FORBIDDEN|DENIED|BLOQUEAD[OA] POR FALTA|INADIMPLEN",
    r"REJEITAD|RECUSAD|REJECTED|REFUSED|FAULT",
)
# A failure in place of a record's value, and a failure in a text about the answer.
_IS_DOWN: Final = re.compile("|".join(_DOWN))
_VALUE_FAILURE: Final = re.compile("|".join(_OUTAGE))
_FAILURE: Final = re.compile("|".join((*_OUTAGE, *_FAILURE_OF_A_TEXT)))

# In a member of the vehicle's own, these texts report no outage: the state of a matter that the
# text or a name tells ("IPVA: PENDENTE"), what a recall mends, a contract that has ended.
_OF_THE_ANSWER: Final = re.compile(
    rf"{_QUERY}|RESULTADO|RETORNO|RESPOSTA|\b(?:BASES?|FONTES?|SERVICOS?|SERVIDOR|API)\b"
)
_MATTER: Final = re.compile(
    r"RECALL|CAMPANHA|TRANSFERENCIA|VENDA|LICENCIAMENTO|IPVA|DPVAT|DEBITO|MULTA|TAXA|PAGAMENTO"
    r"|VISTORIA|INSPECAO|GRAVAME|EMISSAO|EMPLACAMENTO|CRLV|CRV|PROCESSO"
)
_STATE_OF_MATTER: Final = re.compile(
    r"\b(?:PENDENTES?|AGENDAD[OA]S?|EM ANDAMENTO|AGUARDANDO \w{4,})\b"
)
_OF_MATTERS: Final = (
    (
        re.compile(r"RECALL|CAMPANHA|DEFEITO"),
        re.compile(
            r"\b(?:FALHAS?|ERROS?) (?:N[OA]S?|D[EOA]S?) (?!SISTEMA(?! DE)|COMUNICAC|CONEXAO|REDE"
            r"|INTEGRAC|LEITURA|ACESSO|AUTENTIC|DADOS|INFORMAC|API)\w+"
        ),
    ),
    (
        re.compile(
            r"GRAVAME|CONTRATO|FINANCIAMENTO|SEGURO|LICENCIAMENTO|CRLV|CRV|CSV|GNV|INSPECAO"
        ),
        re.compile(
            r"\b(?:CONTRATO|PLANO|LICENCA|CERTIFICADO) (?:\w+ ){0,3}?"
            r"(?:EXPIRAD|VENCID|SUSPENS|INATIV|CANCELAD)[OA]\b"
        ),
    ),
)

# The state of something that does not work: of a source, or of an order that no longer holds.
_SWITCHED_OFF: Final = re.compile(
    r"(?:ESTA |IS )?(?:INATIV[OA]S?|INACTIVE|OFFLINE|OFF|DESATIVAD[OA]S?|DESLIGAD[OA]S?|DISABLED"
    r"|SUSPENS[OA]S?|SUSPENDED|PARAD[OA]S?|STOPPED)"
)

# The answer is not there yet.
_WORKING: Final = re.compile(
    r"\bEM (?:PROCESSAMENTO|ANDAMENTO|EXECUCAO|FILA|CURSO|PROGRESSO)\b|\bNA FILA\b|ENFILEIRAD"
    r"|AGENDAD"
    r"|\b(?:PROCESSANDO|CONSULTANDO|PESQUISANDO|BUSCANDO|EXECUTANDO|AGUARDANDO|CARREGANDO"
    r"|AGUARDE)\b"
    rf"|\b(?:{_QUERY}|RESULTADO|RETORNO|RESPOSTA) (?:\w+ ){{0,2}}?(?:PENDENTE|INICIAD|RECEBID"
    rf"|ACEIT)"
    rf"|^(?:PENDENTE|RECEBID[OA]|ACEIT[OA])$|\b{_QUERY} A SER |\b(?:SERA|SERAO"
    rf"|SENDO) {_CARRIED_OUT}"
    rf"|\bAINDA NAO {_CARRIED_OUT}"
    r"|\b(?:PROCESSING|PENDING|IN PROGRESS|QUEUED|RUNNING|ACCEPTED|STARTED|WAITING|SCHEDULED)\b"
)

# Nothing is on record. These words are removed too, because they contain the names of records.
_DENIAL: Final = re.compile(
    "|".join(
        (
            r"\b(?:NENHUMA?|SEM|ZERO|0|LIVRE DE|ISENT[OA] DE|AUSENCIA DE|AUSENTES?|INEXISTENCIA DE"
            r"|INEXISTEM?|NAO (?:HA|HOUVE|EXISTEM?|EXISTINDO|CONSTAM?|POSSUI|POSSUEM|TEM|APRESENTA"
            r"|REGISTRA|SOFREM?|SOFREU|RECAI|RECAEM|INCIDEM?|PESAM?|CONTEM|FIGURAM?|VERIFIC(?:OU|AMOS)"
            r"|SE ENCONTR(?:A|AM)"
            rf"|RETORN(?:OU|ARAM))) {_LISTED}\b(?: FOI| FORAM)?"
            rf"(?: {_FOUND}| {_LAID}(?: A[OS]? (?:VEICULO|PLACA))?)?{_DENIED_WHERE}{{0,2}}",
            rf"\bNAO (?:FOI |FORAM |SE )?(?:{_FOUND}|(?:ENCONTR|LOCALIZ|IDENTIFIC|CONSTAT"
            rf"|DETECT)\w+) {_LISTED}\b{_DENIED_WHERE}{{0,2}}",
            rf"\bNAO (?:FOI|FORAM) {_LAID} {_LISTED}\b{_DENIED_WHERE}{{0,2}}",
            # "Registro do veículo não encontrado" says that the vehicle is unknown.
            rf"\b{_RECORDS} (?:(?!VEICULO|PLACA)\w+ ){{0,3}}?(?:; )?(?:NAO (?:FOI "
            rf"|FORAM )?(?:{_FOUND}"
            r"|CONSTAM?|EXISTEM?|HA|POSSUI)|INEXISTENTES?|AUSENTES?|NENHUMA?|NADA CONSTA"
            r"|NEGATIV[OA]S?|0|ZERO|NAO(?= ;|$))(?!\w)",
            r"^(?:RENAJUD|RENAINF) ; NAO(?: POSSUI)?$",
            rf"\bNENHUMA? (?:DADO|INFORMACAO) (?:FOI )?{_FOUND}",
            rf"\b{_QUERY} NAO RETORNOU (?:NENHUMA? |QUALQUER )?(?:DADOS?|INFORMAC(?:AO|OES))\b",
            rf"\b(?:DADOS|INFORMACOES) NAO {_FOUND}",
            rf"\bNADA (?:CONSTA|FOI {_FOUND}|{_FOUND}|A (?:CONSTAR|DECLARAR|EXIBIR)|HA)\b"
            r"|^NAO CONSTAM?$",
            r"\bNAO CONSTAM? N[AO] (?:BASE|SISTEMA|RENAJUD|RENAINF)\b",
            r"\bNEGATIV[OA] (?:PARA|DE) " + _LISTED + r"\b|^NEGATIV[OA]$|\bNADA CONSTA\b",
            r"\bLIVRE E DESEMBARACAD[OA]\b|\bDESIMPEDID[OA]\b|\bDESEMBARACAD[OA]\b",
            r"\bNO (?:DATA|RECORDS?|RESULTS?|FINES?|RESTRICTIONS?)(?: (?:WAS|WERE))? FOUND\b",
            r"\b(?:RECORDS?|RESULTS?|FINES?) NOT FOUND\b"
            r"|^NO (?:DATA|RECORDS?|RESULTS?|FINES?|RESTRICTIONS?)$",
        )
    )
)
# In a member of a record, these words alone deny what the member would state.
_VALUE_DENIAL: Final = re.compile(
    r"NAO|N|FALSE|ZERO|NADA|SEM|NENHUMA?|INEXISTENTE|NAO (?:HA|POSSUI|EXISTE|ENCONTRAD[OA]"
    r"|LOCALIZAD[OA])"
    r"|NADA LOCALIZADO|LIVRE"
)
# The source does not know the vehicle, which denies nothing of it.
_ABSENT: Final = re.compile(
    rf"\b(?:VEICULO|PLACA|RENAVAM|CHASSI"
    rf"|REGISTRO DO VEICULO) (?:\w+ ){{0,3}}?(?:NAO (?:FOI )?{_FOUND}"
    r"|NAO CONSTA|NAO EXISTE|INEXISTENTE|INVALID[OA])\b|\bNENHUM VEICULO\b|\b(?:UF"
    r"|ESTADO) INVALID[OA]"
    r"|\b(?:VEHICLE|PLATE) NOT FOUND\b|\bINVALID (?:PLATE|VEHICLE|STATE)\b"
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
    r"[OA]S?|D[EOA]S?|EM|N[OA]S?|AOS?|PARA|PEL[OA]S?|POR|COM|E|OU|QUE|NOME|PROPRIETARIO|UMA?|SE"
    r"|[DN]?ES[ST][EA]|SEU|SUA|TOD[OA]S?|FOI|FORAM|ESTA|ENCONTRA|ATE|MOMENTO|PRESENTE|DATA|HORA"
    r"|OK|ABERTO"
    r"|CONSULTAS?|PESQUISAS?|BUSCA|SOLICITACAO|REQUISICAO|OPERACAO|TRANSACAO|PROCESSAMENTO|PEDIDO"
    r"|RESULTADO|RETORNO|RESPOSTA|MENSAGEM|STATUS|SITUACAO|CODIGO|VEICULOS?|PLACAS?|RENAVAM|CHASSI"
    r"|BASES?|SISTEMA|FONTE|SERVICO|DADOS|INFORMAC(?:AO|OES)|PARAMETROS|ESTADO|UF|NACIONAL|ESTADUAL"
    r"|FEDERAL|DETRAN|RENAINF|RENAJUD|SENATRAN|DENATRAN|SERPRO|BIN|INDICE|FEDERACAO|PAIS|TOTAL|QUANTIDADE|JUDICIA(?:L|IS)|TRANSITO|FURTO"
    r"|ROUBO|(?:ADMINISTRATIV|FINANCEIR|ATIV|INFORMAD|CONSULTAD|PESQUISAD|SOLICITAD)[OA]S?"
    rf"|{_CARRIED_OUT}|{_FOUND}|THE|THIS|OF|FOR|IN|FROM|WITH|WAS|WERE|IS|ARE|QUERY|SEARCH|REQUEST"
    r"|RESPONSE|VEHICLE|PLATE|PROCESSED|FOUND|[A-Z]{3}\d[A-Z0-9]\d{2}|\d{9,11}|0+|200|;"
)
# A plate in two parts. Without a hyphen or a label, "ate 2019" would be one.
_PARTED_PLATE: Final = re.compile(
    r"\b([A-Z]{3})(?:-|(?<=\bPLACA [A-Z]{3}) |(?<=\bVEICULO [A-Z]{3}) )([0-9][A-Z0-9][0-9]{2})\b"
)
_END_OF_SENTENCE: Final = re.compile(r"[.;:!?|\n]")
_BETWEEN_WORDS: Final = re.compile(r"[^\w;]+|_+")
_REGULAR: Final = re.compile(r"\bSITUACAO (?:REGULAR|NORMAL)\b")
_DENIED: Final = "§"  # stands in place of a denial that was found
# Words of a denial's own clause that say of which records it is, or until when it holds. In another
# clause they may tell of a record.
_OF_A_DENIAL: Final = re.compile(
    r"(?:DETERMINAD|INSERID|INCLUID|IMPOST|LANCAD|EXPEDID|EMITID|EMANAD|PROFERID|ORIUND|ORDENAD"
    r"|DECRETAD|VINCULAD|ASSOCIAD|RELACIONAD|ANOTAD|AVERBAD|REFERID|CITAD|MENCIONAD|ENVIAD"
    r"|COMUNICAD)[OA]S?"
    r"|PROVENIENTES?|DECORRENTES?|REFERENTES?|VIGENTES?|PENDENTES?|EXISTENTES?|CORRENTES?"
    r"|PODER|JUDICIARIO|JUSTICA|JUIZ(?:ES|AS?)?|JUIZOS?|MAGISTRAD[OA]S?|TRIBUNA(?:L|IS)|VARAS?"
    r"|ORGAOS?|AUTORIDADES?|COMPETENTES?|CNJ"
    r"|VIA|JUNTO|CONTRA|SOBRE|ATRAVES|MEIO|NEST[EA]|DEST[EA]|ATUA(?:L|IS)|ATUALMENTE|HOJE|INTERESTADUA(?:L|IS)"
    r"|AUTOMOVEL|AUTOMOTOR|CARRO|MOTO(?:CICLETA)?|CAMINHAO|BEM|MESM[OA]|QUALQUER|QUAISQUER|NENHUMA?"
)

# Most members state a value. One search of these fragments spares them all patterns: each denial,
# failure, success and the like has one of them.
_FRAGMENTS: Final = any_of(
    "NAO|SEM|NENHUM|NADA|NEGATIV|ZERO|0|NO |NOT|INEXIST|AUSEN|LIVRE|ISENT|DESIMPEDID|DESEMBARAC"
    "|INDISPON|INOPERANTE|UNAVAIL|FORA|DOWN|OUT OF|OFFLINE|MANUTENC|MAINTENANCE|INSTAB|INSTAVEL"
    "|SOBRECARREG|CONGESTION|OVERLOAD|LENTIDAO|CONTINGENCIA|TIME|TEMPO|ERRO|FALH|FAIL|FAULT|EXCE"
    "|INSUCESSO|TENTE|TENTAR|TRY|IMPOSSI|CANNOT|UNABLE|SALDO|CREDITO|TOO|ACESSO"
    "|LIMIT|COTA|QUOTA|INSUF|INVALID|EXPIR|VENCID|SUSPENS|BLOQUEAD|INATIV|INCORRET|CANCELAD|REVO"
    "|CONECTAD|CONNECTED|PROBLEMA|PARCIAL|PARTIAL|INCOMPLET|RESSALVA|INTERR|ABORT|UNAUTHORI"
    "|FORBIDDEN|DENIED|INADIMPLEN|REJEIT|REJECT|RECUSAD|REFUSED|PROCESSA|PROCESSING|ANDAMENTO"
    "|EXECUCAO|FILA|ENFILEIR|CURSO|PROGRES|AGENDAD|CONSULTANDO|PESQUISANDO|BUSCANDO|EXECUTANDO"
    "|AGUARD|CARREGANDO|PENDENTE|PENDING|INICIAD|RECEBID|ACEIT|ACCEPT|SER|SENDO|AINDA|QUEUED"
    "|RUNNING|STARTED|WAITING|SCHEDULED|SUCESSO|SUCCESS|EXITO|COMPLET|REALIZAD|EFETUAD|CONCLUID"
    "|FINALIZAD|EXECUTAD|ATENDID|EFETIVAD|OK|DONE"
)


def is_blank(text: str) -> bool:
    """Return whether the text of a member stands for no value, such as "NÃO INFORMADO"."""
    if not text:
        return True
    may_be = text[:2].lower() in _BLANK_STARTS or text[0] in _BLANK_SIGNS
    return may_be and len(text) <= _LONGEST_BLANK and _BLANK.fullmatch(text) is not None


def is_switched_off(text: str) -> bool:
    """Return whether a text is only the state "inactive"."""
    return bool(_SWITCHED_OFF.fullmatch(_words(text)))


def is_no_attribute(text: str) -> bool:
    """Return whether the text of a vehicle's attribute stands for no value."""
    return is_blank(text) or bool(_NO_ATTRIBUTE.fullmatch(fold(text)))


def attribute_says(text: str) -> Literal["value", "nothing", "unread"]:
    """Return what the text of a vehicle's attribute is: "unread" says that it could not be read."""
    if is_blank(text):
        return "nothing"
    folded = fold(text)
    if not _FRAGMENTS.search(folded):  # as most
        return "value"
    if _NO_ATTRIBUTE.fullmatch(folded):
        return "nothing"
    may_be = _MAY_BE_UNREAD.search(folded)
    return "unread" if may_be and value_says(text) in ("failure", "working") else "value"


def says(text: str) -> Says:
    """Return what a text about an answer says."""
    return _says(_words(text), _FAILURE)


def reports_outage(text: str) -> bool:
    """Return whether a text says that the service is down. An "erro" may be about the vehicle."""
    return bool(_IS_DOWN.search(_words(text)))


def value_says(text: str) -> Says:
    """Return what stands in a record's member. "unknown" is a value: the member's content."""
    if is_blank(text):
        return "blank"
    words = _words(text)
    return "denial" if _VALUE_DENIAL.fullmatch(words) else _says(words, _VALUE_FAILURE)


def vehicle_says(text: str, names: str) -> Says:
    """Return what stands in a member of the vehicle's own. ``names`` lead to it, in capitals."""
    said, words = value_says(text), _words(text)
    if said not in ("failure", "working") or _OF_THE_ANSWER.search(f"{names} {words}"):
        return said
    rest = words
    if _MATTER.search(f"{names} {words}"):
        rest = _STATE_OF_MATTER.sub("", rest)
    for named, own in _OF_MATTERS:
        if named.search(names):
            rest = own.sub("", rest)
    is_own = rest != words and _says(rest.strip(" ;"), _VALUE_FAILURE) not in ("failure", "working")
    return "unknown" if is_own else said


def _words(text: str) -> str:
    # Sentences stay apart, so that "Não há. Consulta realizada" denies nothing of the query.
    folded = fold(text)
    if folded.replace(" ", "").isalpha():  # as most members: neither signs nor a plate
        return folded
    folded = _PARTED_PLATE.sub(r"\1\2", folded)
    return _BETWEEN_WORDS.sub(" ", _END_OF_SENTENCE.sub(" ; ", folded)).strip(" ;")


def _says(words: str, failure: re.Pattern[str]) -> Says:
    if not words:
        return "blank"
    if not _FRAGMENTS.search(words):
        return "unknown"
    words, no_failures = _NO_FAILURE.subn("", words)
    # "A consulta não retornou registros" denies the records, and reports no failure.
    without_denials, denials = _DENIAL.subn(_DENIED, words)
    if failure.search(without_denials):
        return "failure"
    if _WORKING.search(without_denials):
        return "working"
    rest, successes = _SUCCESS.subn(
        lambda match: match["between"] or "", without_denials.strip(" ;")
    )
    if not denials and _ABSENT.search(words):
        return "absent"
    if not (no_failures or denials or successes):
        return "unknown"
    if not all(map(_adds_nothing, _REGULAR.sub("", rest).split(";"))):
        return "unknown"
    return "denial" if denials else "success"


def _adds_nothing(clause: str) -> bool:
    """Return whether the words of a clause, beside its denial, tell of no record."""
    words = clause.split()
    is_denial = _DENIED in words
    return all(
        word in STATES
        or _NEUTRAL.fullmatch(word)
        or (is_denial and (word == _DENIED or _OF_A_DENIAL.fullmatch(word)))
        for word in words
    )
