"""Judges what stands beside the records of an answer, or in place of them.

Vendors put texts, codes, flags and counts beside the empty list of a clean vehicle and beside the
list of an outage, and also into an element that holds no record. An empty list of an outage must
never read like a clean record. Each value is judged by the kind of its name, which is found by the
words inside the name, and by what it says (``portal.vehicle.statements``). A value that no rule
knows confirms nothing if its name is about the answer, or if it stands in place of a record.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import lru_cache
from itertools import islice
from typing import Any, Final, Literal, NamedTuple

from portal.vehicle.content import DENYING, is_member, is_of_order, recorded_flag
from portal.vehicle.denials import (
    RECORDS,
    Asked,
    denies,
    denies_more,
    is_of_another_thing,
    without_subject,
)
from portal.vehicle.field import scalar_text
from portal.vehicle.statements import (
    is_blank,
    is_switched_off,
    says,
    value_says,
    vehicle_says,
)
from portal.vehicle.wire import read_decimal, read_flag
from portal.wording import bare

# "partial" leaves out sources or records, or comes before its end.
Kind = Literal["success", "failure", "partial", "unknown"]
# "nothing" is a flag that is false or a count of zero, which denies records. A "code" of the
# source's own, and the "absence" of HTTP (400, 404), need a text that says what they mean.
_Found = Literal[Kind, "denial", "nothing", "code", "absence"]
_OF_SAYING: Final[Mapping[str, _Found]] = {
    "success": "success",
    "denial": "denial",
    "failure": "failure",
    "working": "failure",  # the answer is yet to come
}
_GRAVEST_FIRST: Final[tuple[Kind, ...]] = ("failure", "partial", "unknown")
_CONFIRMING: Final = ("denial", "success", "nothing")

# Kinds of names, by what stands in the name without accents, case and separators.
_KINDS: Final = {
    kind: re.compile(pattern)
    for kind, pattern in {
        "error": r"erro|fail|falha|(?<!de)fault|unavail|indispon|partial|parcial|incomplet|excec"
        r"|excep",
        "success": r"sucess|success|^(is)?ok$|exito|complet|conclui|finaliz|^done$|online"
        r"|disponivel",
        "unfinished": r"processando|processing|pendente|pending|andamento|aguard|inprogress"
        r"|timeout|offline|foradoar|manutenc|maintenance|(?:tent[ae]r?|try)(?:novamente|again)"
        r"|reprocess|expirad|expired|instavel|sobrecarreg|overload",
        "missing": r"(nao|not)(encontr|localiz|found|cadastr|exist)|inexist|invalid|desconhec"
        r"|unknown",
        "present": r"encontr|localiz|found|exist|valid|cadastrad",
        # Something is done, and is not if the flag is false.
        "done": r"process(ad|ed)|consultad|respond|queried|checked|verificad|pesquisad|carregad"
        r"|(?:consulta|pesquisa|busca)(?:foi)?(?:(?:realiz|efetu|execut)ada|ok)$|^(?:is)?statusok$"
        r"|loaded|fetched|(?<!des)atualizad|ready|pront[oa]s?$|^(is)?final$|finished|^(is)?up$",
        "alive": r"(?:fonte|base|orgao|servico|source|service)s?(?:is|esta)?(?:ativ|activ|enabled)",
        "progress": r"progress|percent|cobertura|coverage|completude|completeness|etapa|^step",
        # What is not false, zero or blank says that the answer is a part.
        "part": r"truncad|truncat|skipped|omitid|omitted|faltant|faltando|missing|pulad[oa]s?$"
        r"|desatualiz|defasad|outdated|^(is)?stale"
        r"|(?:fontes|bases|orgaos|sources)(?:pendent|pending|ausent|ignorad|exclu)"
        r"|(?:^|links)(?:next|proxim[oa])(?:page|pagina|token|cursor|link|url|offset|lote)?$"
        r"|continuation|has(?:more|next)|(?:tem|ha)(?:mais|proxim)|^more",
        "denial": r"nada(?:const|ha$|encontr|localiz|registr|identific)"
        r"|(?:nao|not)(?:const[ae]m?|possu[ie]m?|tem|ha|has|have)$|^livre|livre$|^clean|^clear$"
        r"|^limp[oa]$|(?<!ir)regular$|isent[oa]s?$|desembarac|^negativ[oa]s?$"
        r"|(?:certidao|consulta|pesquisa)negativ",
        "record": r"irregular|(?<!de)fines|multa|infrac|debit(?!ad)|restric|restrict|autuac"
        r"|pendencia|bloquei|bloquead|blocked|gravame|restrit|penhor|impedid|roub|furt|stolen|alienad"
        r"|alienac|sinistr|leilao|apreen|arrest|sequestr|judicial"
        r"|ocorrencia|registros|records|result|renajud|renainf|penalidade|impediment|apontament"
        r"|notificac|pontuac|processos|ordens|ordemjud",
        # What holds the records, or should. A text in place of them is none that is known.
        "container": r"^(?:dados|itens|items|lista|list|autos?|payload|conteudo|content|rows"
        r"|linhas)$",
        "vehicle": r"veiculo|vehicle|placa|plate|renavam|chassi|estado|state$|uf$|^uf",
        "count": r"total|quant|qtd|(?<!ac)(?<!dis)count(?!r)|contagem|soma|valor|amount|numero"
        r"|^n[ur]m?"
        r"(?=[a-z])",
        "sources": r"fontes|bases(?!c)|orgaos|(?<!re)sources|servicos|services|provedores"
        r"|providers|etapas|steps",
        "text": r"messag|mensag|msg|warn|aviso|alert|reason|motivo|detail|detalhe|observ|situac"
        r"|resumo"
        r"|com+ent|summary|conclus|parecer|descri|retorno|return|respost|response|informac|^info$"
        r"|^obs$|^not[ae]s?$|^texto?$",
    }.items()
}
# Kinds of names by a whole word, which inside another word means something else.
_KINDS_OF_WORDS: Final[Mapping[str, str]] = {
    word: kind
    for kind, words in {
        "record": "fine fines points pontos hits",
        "has": "possui possuem tem has have existe existem consta constam ha contem contains",
        "code": "status code codigo cod statuscode httpstatus http",
        "alive": "ativo ativa ativos ativas active enabled habilitado habilitada",
        "identifier": "id ids uuid guid hash token protocolo trace",
        # Of the query itself, and not of what it found.
        "query": "page pages pagina paginas per por limit limite offset tamanho size max maximo "
        "version "
        "versao tempo time ms duracao duration elapsed custo cost preco price saldo balance "
        "credito "
        "creditos credits consulta consultas query queries request requests requisicao requisicoes "
        "tentativa tentativas retries ttl cache",
        # Of which vehicle, source and moment an element is.
        "subject": "data date hora datetime timestamp em at fonte source origem provedor "
        "provider base "
        "placa plate renavam chassi marca modelo ano cor municipio cidade uf estado veiculo "
        "vehicle "
        "proprietario",
    }.items()
    for word in words.split()
}
# What denies the kind that it stands before. "No" is also Portuguese for "in the".
_NEGATION: Final = re.compile(
    r"(?:sem|nao|not|without|nada|nenhuma?)"
    r"(?:possu[ie]m?|tem|ha|const[ae]m?|existe?m?|houve|has|have|any|foi|foram"
    r"|nenhuma?|qua(?:l|is)quer|outr[oa]s?|d[eao]s?)*$"
)
_ENGLISH_NO: Final = re.compile(r"^no(?:fines|records|results|restrictions|errors?|failures?)")
# What counts the records themselves, and no sources, points, queries or money.
_COUNT_OF_RECORDS: Final = re.compile(
    r"(?:total|geral|quant(?:idade|ity)?|qtde?|count|contagem|numero|num|d[eao]s?|of|hits|records?"
    r"|registros?|multas?|fines?|infrac(?:ao|oes)|restric(?:ao|oes)|restrictions?|bloqueios?"
    r"|ocorrencias?|resultados?|results?|ordens?|orders?|autuac(?:ao|oes)|itens|items"
    r"|elements?|elementos?|encontrad[oa]s|found)+"
)
_OF_USE: Final = re.compile(
    r"consult|quer|request|requisic|credit|saldo|balance|cust|cost|prec|price|usage|uso$",
    re.IGNORECASE,
)
# What a share counts, the words of its part, and the words of any count.
_SOURCES: Final = re.compile(
    r"(?:fonte|base|orgao|source|servico|service|provedore?|provider|etapa|step|tarefa|task|job"
    r"|parte|part|ite[mn])s?"
)
_SHARE: Final = re.compile(
    r"respond(?:id[oa]s?|eram|eu|ed)|answered|consultad[oa]s?|queried|checked|verificad[oa]s?"
    r"|pesquisad[oa]s?|process(?:ad[oa]s?|ed)|concluid[oa]s?|complet(?:ad[oa]s?|[oa]s?|ed)"
    r"|finaliz(?:ad[oa]s?|ed)|finished|done|feit[oa]s|recebid[oa]s?|received|obtid[oa]s?"
    r"|carregad[oa]s?|loaded|fetched|realizad[oa]s?|executad[oa]s?|executed|sucessos?"
    r"|success(?:es|ful)?|succeeded|ok|pront[oa]s?|ready|disponive(?:l|is)|available|online"
    r"|atua(?:l|is)|current|ativ[oa]s|active|up"
)
_COUNTING: Final = re.compile(
    r"totals?|totais|tot|overall|geral|expected|esperad[oa]s?|previst[oa]s?|quantidade|quantity"
    r"|quant|qtde?|counts?|numero|number|num|n[ur]?|d[eao]s?|of|com|with|que"
)
_PAIR: Final = 2
_MOST_COUNTS: Final = 50
_LONGEST_COUNT: Final = 3
# The number of pages of an answer, of which the portal asks for one.
_PAGES: Final = re.compile(
    r"(?:(?:total|numero|num|qtde?|quantidade|count|last|ultima)(?:d[eao]s?|of)?)?"
    r"(?:paginas?|pages?)(?:total|count)?"
)
_FRACTION: Final = re.compile(
    r"(?<![\w/.,-])(?P<part>\d{1,3})\s*(?:/|de|of|out of)\s*(?P<whole>\d{1,3})"
    r"(?![\w/.,-]*\d)",
    re.IGNORECASE,
)
_PERCENT: Final = re.compile(r"(\d{1,3}(?:[.,]\d+)?)\s*%")
_WHOLE: Final = 100
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_LONGEST_NAME: Final = 60
_MOST_VALUES: Final = 1_000
_LONGEST_TEXT: Final = 1_000
_NO_CODE: Final = frozenset({0, 200, 204})
_ABSENT: Final = frozenset({400, 404})
_TEXTUAL_CODE: Final = re.compile(r"[A-Za-z]{0,4}[-_ ]?[0-9]{1,6}[A-Za-z]?")  # such as "E07"
# The names of an error, as a whole or at an end: "msgErro", and not "carroceriaFerro".
_ERROR_NAME: Final = re.compile(
    r"^(?:erro(?:r|s|rs)?|falhas?|exce[pc])|(?<!f)(?:erro(?:r|s|rs)?|falhas?|exception)$"
    r"|^(?:msg|mensagem|message|descricao|ds|codigo|cod|code|status|texto|motivo)(?:de|do)?erro"
)
_PRICES: Final = re.compile(r"fipe|preco|price|tabela|cotac")
_NOT_READ: Final = ("failure", "working")
_SENTENCE: Final = re.compile(r"[^\W\d_]{2}.*[^\W\d_]{2}", re.DOTALL)


class Notice(NamedTuple):
    """What stands beside or in place of records, as the source sent it. ``text`` may be ""."""

    kind: Kind
    text: str


class Gap(NamedTuple):
    """A part of a vehicle's data that could not be read, in the source's words.

    ``is_of_prices`` is true if the words, or the names that lead to them, are of the price table.
    """

    text: str
    is_of_prices: bool


class _Value(NamedTuple):
    """A value of an answer, and what it says. None says nothing."""

    found: _Found | None
    text: str


def judge(
    members: Mapping[str, Any],
    elements: Iterable[Mapping[str, Any]] = (),
    asked: Asked | None = None,
) -> Notice | None:
    """Return the gravest of an answer's notices, or None without notices.

    ``members`` stand beside the result, and ``elements`` in place of records. A failure is graver
    than a partial answer, and that is graver than a value that confirms nothing. Where it is
    known what was ``asked``, a denial of anything else is such a value.
    """
    values = [*islice(_values(members, asked, in_record=False), _MOST_VALUES + 1)]
    for element in elements:
        if len(values) > _MOST_VALUES:
            break
        more = [*islice(_values(element, asked, in_record=True), _MOST_VALUES + 1)]
        values += [*more, *_left_open(element, more)]
    if len(values) > _MOST_VALUES:  # no real answer has as many
        values.append(_Value("unknown", values[0].text))
    return _gravest(values)


def is_working(document: Any) -> bool:
    """Return whether a text of an answer says that the answer is yet to come."""
    texts = (text for _, text in islice(_leaves(("",), document), _MOST_VALUES))
    return any(isinstance(text, str) and says(text[:_LONGEST_TEXT]) == "working" for text in texts)


def more_declared(
    members: Mapping[str, Any], count: int, sums: Collection[Decimal] = ()
) -> Notice | None:
    """Return the notice of more records than the ``count`` of the result, or None.

    ``sums`` are what the records amount to, in R$. A total that is one of them counts no records.
    """
    money = {
        amount.to_integral_value(way) for amount in sums for way in (ROUND_FLOOR, ROUND_CEILING)
    }
    for path, value in islice(_leaves((), members), _MOST_VALUES):
        number = None if isinstance(value, bool) else read_decimal(value)
        text = scalar_text(value)
        if (
            number is not None
            and text.isdigit()  # an amount has decimals
            and number > count
            and number not in money
            and _COUNT_OF_RECORDS.fullmatch(_squashed(path[-1]))
            and not any(_OF_USE.search(name) or "sources" in _kinds(name) for name in path)
        ):
            return Notice("partial", f"{path[-1]}: {text}")
    return None


def gap_in(beside: Mapping[str, Any], record: Mapping[str, Any]) -> Gap | None:
    """Return the part of an answer with a vehicle that could not be read, or None.

    ``beside`` are the members beside the result. ``record`` are those members of the result that
    the contract does not name, and what stands in place of the entries of the price table. They
    are the vehicle's own, so that only a name of an error, of the price table, or a value that
    names an outage is about the answer. A gap of more than the prices counts first.
    """
    gaps = [*_gaps(beside, in_record=False), *_gaps(record, in_record=True)]
    return next((gap for gap in gaps if not gap.is_of_prices), gaps[0] if gaps else None)


def _gaps(members: Mapping[str, Any], *, in_record: bool) -> Iterator[Gap]:
    for path, value in islice(_leaves((), members), _MOST_VALUES):
        text = str(value).lower() if isinstance(value, bool) else scalar_text(value)
        if _found(path, value, text, in_record=False) not in ("failure", "partial"):
            continue
        is_of_prices = any(map(_PRICES.search, (*map(_squashed, path), bare(text).lower())))
        is_of_error = any(map(_ERROR_NAME.search, map(_squashed, path)))
        is_unread = vehicle_says(text, _capitals(path)) in _NOT_READ
        if in_record and not (is_of_prices or is_of_error or is_unread):
            continue
        yield Gap(text if _SENTENCE.search(text) else f"{path[-1]}: {text}", is_of_prices)


def _gravest(values: Iterable[_Value]) -> Notice | None:
    first: dict[_Found | None, str] = {}
    for value in values:
        first.setdefault(value.found, value.text)
    confirmed = first.get("denial", first.get("success"))
    if "code" in first and confirmed is None:
        first.setdefault("unknown", first["code"])
    if "absence" in first and "denial" not in first:
        is_explained = confirmed is not None or "unknown" in first
        first.setdefault("unknown" if is_explained else "failure", first["absence"])
    for kind in _GRAVEST_FIRST:
        if kind in first:
            return Notice(kind, first[kind])
    return None if confirmed is None else Notice("success", confirmed)


def _left_open(element: Mapping[str, Any], values: list[_Value]) -> Iterator[_Value]:
    """Yield what an element as a whole leaves open, whatever its values say."""
    if recorded_flag(element) is False:
        return
    said = {value.found: value.text for value in reversed(values)}
    confirmed = [said[kind] for kind in _CONFIRMING if kind in said]
    # Only the flag says whether a court restricts the vehicle.
    if not confirmed or is_of_order(element):
        yield _Value("unknown", confirmed[0] if confirmed else "")


def _values(
    members: Mapping[str, Any], asked: Asked | None, *, in_record: bool
) -> Iterator[_Value]:
    for path, value in _leaves((), members):
        text = str(value).lower() if isinstance(value, bool) else scalar_text(value)
        meaning = _found_by(asked, path, value, text, in_record)
        if meaning is not None and not _SENTENCE.search(text):
            text = f"{path[-1]}: {text}"  # a flag or a count says nothing without its name
        yield _Value(meaning, text)


def _leaves(path: tuple[str, ...], value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    match value:
        case dict():
            for name, inner in _with_shares(path, value).items():
                yield from _leaves((*path, name), inner)
        case list():
            for inner in value:
                yield from _leaves(path, inner)
        case _:
            yield path, value


def _with_shares(path: tuple[str, ...], members: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an object's members, with "2/5" in place of the two counts of a share.

    Such a share is ``{"fontesRespondidas": 2, "fontesTotal": 5}``. A part of records is none: of
    three orders, two may be done.
    """
    counts = {name: count for name, raw in members.items() if (count := _count(raw)) is not None}
    if not _PAIR <= len(counts) <= _MOST_COUNTS or any("record" in _kinds(name) for name in path):
        return members
    parts = [name for name in counts if any(map(_SHARE.fullmatch, _words(name)))]
    shares: dict[str, Any] = dict(members)
    for part in parts:
        about = _counted(part)
        whole = next((key for key in counts if key not in parts and _is_whole(key, about)), "")
        is_flag = not about and counts[part] <= 1 and "success" in _words(part)
        if counts.get(whole) and not is_flag:
            share = f"{counts[part]}/{counts[whole]}"
            listed = members[part]
            shares[part] = [*listed, share] if isinstance(listed, list) else share
            if not (
                isinstance(members[whole], list) or _COUNT_OF_RECORDS.fullmatch(_squashed(whole))
            ):
                shares.pop(whole, None)
    return shares


def _is_whole(name: str, about: str) -> bool:
    """Return whether a name is that of all sources, of which a part is counted as ``about``."""
    counted = _counted(name)
    return (not about or counted == about) and (not counted or bool(_SOURCES.fullmatch(counted)))


def _count(value: Any) -> int | None:
    """Return the count that a value states, or None."""
    if isinstance(value, list):
        return len(value)
    text = "" if isinstance(value, bool) else scalar_text(value)
    return int(text) if len(text) <= _LONGEST_COUNT and text.isascii() and text.isdigit() else None


def _counted(name: str) -> str:
    """Return what a count counts, by its name: "fonte" of "totalFontesRespondidas", or ""."""
    others = (word for word in _words(name) if not _COUNTING.fullmatch(word))
    return "".join(word for word in others if not _SHARE.fullmatch(word)).removesuffix("s")


def _found(path: tuple[str, ...], value: Any, text: str, in_record: bool) -> _Found | None:
    if in_record and is_member(path[0]):
        return _of_member(path[0], text)
    own, around = _kinds(path[-1]), frozenset[str]().union(*map(_kinds, path))
    flag, number = read_flag(value), read_decimal(value)
    is_negated = "not" in own
    if "error" in around and not ("error" in own and is_negated):
        return _of_error(text, flag, number, is_code="code" in own)
    if (own & {"error", "success"} or _is_of_service(own, around)) and flag is not None:
        return None if flag != (is_negated and "error" not in own) else "failure"
    if is_blank(text):
        return None
    if _is_part(path, own, text, flag, number):
        return "partial"
    if "identifier" in own or _fraction(own, text) is not None or "progress" in own:
        return None
    if flag is not None and "unfinished" in own:
        return "failure" if flag else None
    if number is not None and ("code" in own or ("text" in own and "query" not in own)):
        return _of_code(number)
    if "container" in own and number:
        return "unknown"
    if flag is not None or number is not None:
        is_positive = bool(number) if flag is None else flag
        return _of_finding(own, around, is_positive, isinstance(value, bool), in_record)
    return _of_text(own, around, text, in_record)


def _found_by(
    asked: Asked | None, path: tuple[str, ...], value: Any, text: str, in_record: bool
) -> _Found | None:
    """Judge a value of an answer. If it is unknown what was asked, any denial counts."""
    records = None if asked is None else RECORDS.get(asked.operation)
    if asked is None or records is None:
        return _found(path, value, text, in_record)
    unnamed = without_subject(text, asked.subject)
    meaning = _found(path, value, unnamed, in_record)
    if meaning not in ("denial", "nothing"):
        return meaning
    if is_of_another_thing(_capitals(path), records):
        return None
    if meaning == "denial" and (
        not denies(unnamed, records, asked.subject, asked.state)
        or (not in_record and denies_more(unnamed))  # beside a list without records
    ):
        return "unknown"
    return meaning


def _of_text(
    own: frozenset[str], around: frozenset[str], text: str, in_record: bool
) -> _Found | None:
    """Judge a text that is neither a flag nor a number."""
    if is_switched_off(text):
        return _of_switch(own, around)
    if own & {"record", "count", "has"} and "not" not in own and value_says(text) == "denial":
        return "denial"
    said = _OF_SAYING.get(says(text), "unknown")
    if said != "unknown":
        is_told = in_record or own & {"text", "success", "record", "count", "code", "has"}
        return said if is_told or said == "failure" else None
    if "code" in own and _TEXTUAL_CODE.fullmatch(text):
        return "code"
    if own & {"text", "code", "success", "has", "count", "container"} or "record" in around:
        return None if "subject" in own and "record" not in own else "unknown"
    return "unknown" if in_record and not own & {"subject", "query"} else None


def _is_of_service(own: frozenset[str], around: frozenset[str]) -> bool:
    """Return whether a flag says that a source is up or has answered."""
    return "done" in own or ("alive" in own and not around & {"record", "vehicle"})


def _of_switch(own: frozenset[str], around: frozenset[str]) -> _Found | None:
    """Judge "INATIVO", which is the state of a source unless the name says of what else."""
    if around & {"record", "vehicle"}:
        return "unknown"
    return None if "query" in own else "failure"


def _is_part(
    path: tuple[str, ...], own: frozenset[str], text: str, flag: bool | None, number: Decimal | None
) -> bool:
    """Return whether a value says that sources, steps or records are left out."""
    if any("part" in words or {"done", "not"} <= words for words in map(_kinds, path)):
        return flag is not False and number != 0 and value_says(text) != "denial"
    if number is not None and number > 1 and _PAGES.fullmatch(_squashed(path[-1])):
        return True  # the portal asks for one
    share = _fraction(own, text)
    if share is None and "progress" in own and number is not None:
        share = number if number <= 1 else number / _WHOLE
    return share is not None and share < 1


def _fraction(own: frozenset[str], text: str) -> Decimal | None:
    """Read the share that a text such as "2/5", "3 de 5 fontes" or "40%" names."""
    if own & {"progress", "success", "done", "unfinished", "text"}:
        percent = _PERCENT.fullmatch(text)
        if percent is not None:
            return Decimal(percent[1].replace(",", ".")) / _WHOLE
    if "subject" in own and "progress" not in own:
        return None
    share = _FRACTION.search(text)
    if share is None or ("/" in share[0] and share[0] != text) or not int(share["whole"]):
        return None
    return Decimal(share["part"]) / Decimal(share["whole"])


def _of_error(
    text: str, flag: bool | None, number: Decimal | None, *, is_code: bool
) -> _Found | None:
    if is_blank(text) or flag is False or number == 0 or (is_code and number in _NO_CODE):
        return None
    said = _OF_SAYING.get(says(text))
    return said if said in _CONFIRMING else "failure"


def _of_code(number: Decimal) -> _Found | None:
    if number in _NO_CODE:
        return None
    if number in _ABSENT:
        return "absence"
    return "failure" if 400 <= number < 600 else "code"


def _of_finding(
    own: frozenset[str],
    around: frozenset[str],
    is_positive: bool,
    is_boolean: bool,
    in_record: bool,
) -> _Found | None:
    """Judge a flag or a number by what its name says was found."""
    is_of_sources = "sources" in around and "record" not in around
    if ("query" in own or is_of_sources) and not is_boolean:
        return None
    is_of_records = "record" in own or "count" in own
    if "denial" in own or ("not" in own and "missing" not in own and is_of_records):
        return "nothing" if is_positive else "unknown"
    if "missing" in own:
        if is_of_records:
            return "nothing" if is_positive else "unknown"
        return "unknown" if is_positive else None
    if own & {"present", "has"} and "vehicle" in own and not is_of_records:
        return None if is_positive else "unknown"
    if "present" in own and is_boolean and not is_of_records:
        return "unknown"  # of the vehicle, or of its records
    if own & {"present", "has"} or is_of_records or ("record" in around and "subject" not in own):
        return "unknown" if is_positive else "nothing"
    return "unknown" if in_record and is_positive and "subject" not in own else None


def _of_member(name: str, text: str) -> _Found | None:
    """Judge a member of the contract in an element that is no record."""
    said = value_says(text)
    if said == "unknown":
        return _OF_SAYING.get(says(text), "unknown") if name == "descricao" else None
    meaning = _OF_SAYING.get(said, "unknown" if said == "absent" else None)
    return meaning if name in DENYING or meaning == "failure" else None


def _kinds(name: str) -> frozenset[str]:
    return _kinds_of(name[:_LONGEST_NAME])


@lru_cache(2048)
def _kinds_of(name: str) -> frozenset[str]:
    squashed = _squashed(name)
    words = {squashed, *_words(name)}
    places = {kind: pattern.search(squashed) for kind, pattern in _KINDS.items()}
    kinds = {kind for kind, place in places.items() if place is not None}
    if _ENGLISH_NO.search(squashed) or any(
        place is not None and _NEGATION.search(squashed[: place.start()])
        for place in places.values()
    ):
        kinds.add("not")
    return frozenset(kinds | {_KINDS_OF_WORDS[word] for word in words if word in _KINDS_OF_WORDS})


def _words(name: str) -> list[str]:
    """Return the words of a name, without accents and case."""
    return [word.lower() for word in _WORD.findall(_plain(name[:_LONGEST_NAME]))]


def _capitals(path: tuple[str, ...]) -> str:
    return " ".join(word.upper() for name in path for word in _words(name))


def _squashed(name: str) -> str:
    return re.sub("[^a-z]", "", _plain(name[:_LONGEST_NAME]).lower())


def _plain(name: str) -> str:
    return "".join(bare(part) if part.isupper() else bare(part).lower() for part in name)
