"""Compares a written report with the records that it stands beside.

The upstream writes the report. Its words may be better than the records: "nada consta" beside a
court order, "APROVADO" beside open fines. No list has all words of praise. A text about court
orders or fines therefore agrees with the records only if one of its clauses affirms an order or a
fine. A text that sends the reader elsewhere ("consulte o Detran") is vague and passes, as does a
text that is worse than the records.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from portal.law.assessment import Totals
from portal.law.verdict import Verdict
from portal.vehicle.report import Report, Topic
from portal.vehicle.wire import read_decimal
from portal.wording import bare, counted, listed, money

_SENTENCE: Final = re.compile(r"[;!?\n]|\.(?=\s|$)")
_CLAUSE: Final = re.compile(r"[;!?\n(]|[.:,](?=\s|$)|\b(?:MAS|POREM)\b")
_DENIES: Final = re.compile(
    r"\b(NAO|SEM|NADA|NENHUM\w*|NEM|ZERO|AUSEN\w*|INEXIST\w*|ISENT\w*|NEGATIV[AO]S?|DESIMPEDID\w*"
    r"|NO (RESTRIC|FINE|RECORD|ISSUE|LIEN|OUTSTAND)\w*|(BAIXAD|CANCELAD|LEVANTAD|LIBERAD|LIMP|PAG"
    r"|QUITAD|REMOVID|RETIRAD|RESOLVID|ANULAD|ARQUIVAD|COMPENSAD|DESBLOQUEAD|ENCERRAD|EXCLUID|EXTINT"
    r"|INATIV|PRESCRIT|REGULARIZAD|REVOGAD|SOLUCIONAD|SUPERAD|ZERAD)[AO]S?|HOUVE|INEXIGIVE(L|IS))\b"
    r"|(?<![\d.,])0+(,0+)?(?![\d.,]*\d)"
)
# "Multa não paga" and "sem baixa" deny an end, and not the order or the fine.
_STILL_OPEN: Final = re.compile(
    r"\b(NAO|SEM|AGUARD\w*|PENDENTE DE|NENHUM[AO]?|A SER(EM)?)( (FOI|FORAM|ESTA|ESTAO))?"
    r" (BAIXAD?|CANCELAD|LEVANTA(D|MENTO)|LIBERAD|PAG|QUITAD|REGULARIZAD|REMOVID|RETIRAD)\w*"
    # Advice against the vehicle denies no record.
    r"|\bNAO (SE )?(ACONSELH|ADQUIR|COMPR|INDIC|RECOMEND|SUGER)\w*"
)
_ORDERS: Final = re.compile(
    r"RESTRIC|JUDICIA|RENAJUD|PENHORA|BLOQUE|IMPEDI|TRANSFERENCIA|CIRCULACAO|ARREST|SEQUESTR"
    r"|INDISPONIB|APREENSAO|PENDENC|^\W*CONSTAM?\W*$"
)
_FINES: Final = re.compile(r"MULTA|AUTUAC|INFRAC|DEBITO|ABERTO|PENDENC|^\W*CONSTAM?\W*$")
# Without a record of its own, a text is vague: it sends the reader elsewhere.
_VAGUE: Final = re.compile(
    r"INDISPON|NAO (FOI|E) POSSIVEL|NAO INFORMAD|\b(CONSULT|CONFI|VERIFI)\w*"
)
_LONGEST_END: Final = 2
_CANNOT: Final = re.compile(r"\bNAO PODE")
_PRAISES: Final = re.compile(
    r"\b(APROVAD[AO]|APPROVED|PODE(M)? (SER )?(COMPR|NEGOCI|TRANSFERI)\w*|FECHAR (O )?NEGOCIO"
    r"|COMPRE|SEM MEDO|SEM RISCOS?|(COMPRA|NEGOCIO|TRANSFERENCIA) SEGUR[AO]|APT[AO] (PARA|A)"
    r"|LIBERAD[AO]|TRANSFERIVEL|(COMPRA|NEGOCIO|VEICULO) RECOMENDAD[AO]"
    r"|RECOMENDAD[AO] (A|PARA) COMPRA|RECOMENDA-SE A COMPRA|NADA IMPEDE|TUDO (CERTO|OK|EM ORDEM)"
    r"|EXCELENTE|OTIM[AO]|BO[AM] (COMPRA|ESTADO|NEGOCIO|OPCAO)|FAVORAVEL|TRANQUIL\w*|INTEGR[AO]"
    r"|PERFEIT[AO]S?|SINAL VERDE|NOTA (9|10)|RISCO BAIXO|BAIXO RISCO|SITUACAO REGULAR|SEM OBICES?"
    r"|NADA QUE (O )?DESABON\w*|RECOMENDAMOS|OK (P|PARA) \w+|PECHINCHA|IMPERDIVEL"
    r"|(BOA|GRANDE) OPORTUNIDADE|VALE (A PENA|CADA CENTAVO|O INVESTIMENTO|O PRECO))\b"
    r"|^\W*(100 ?% )?(RECOMENDAD[AO]|OK)\W*$|\b100 ?% OK"
)
_NEGATED: Final = re.compile(r"\b(NAO|NUNCA|JAMAIS|NEM|DES|REPROVAD\w*)\b")
# A praise in a sentence with one of these words holds only later, or on a condition.
_CONDITION: Final = re.compile(
    r"\b(ANTES|APENAS|APOS|ATE|CASO|DEPEND\w*|DEPOIS|DESDE QUE|MEDIANTE|(?<!-)SE|SO|SOMENTE)\b"
)
_AMOUNT: Final = re.compile(
    r"R\$\s*([0-9][0-9.,]*)( MIL\b)?|(?<![0-9.,])([0-9][0-9.,]{0,19})( MIL)? REAIS\b"
)
# A price in the report may be rounded or of the former month.
_NEAR: Final = Decimal("0.05")


@dataclass(frozen=True, slots=True)
class Contradiction:
    """``topic`` is the key of a topic of the report, or "" for its summary and conclusion."""

    topic: str
    sentence: str


def contradictions(
    report: Report,
    verdict: Verdict,
    orders: int | None,
    fines: Totals | None,
    prices: Sequence[Decimal],
) -> Iterator[Contradiction]:
    """Yield what the report states better than, or otherwise than, the records.

    ``orders`` counts the court orders in force. ``orders`` or ``fines`` is None if no readable
    answer is stored. ``prices`` are the likely prices in R$.
    """
    topics = {topic.key: topic for topic in report.topics if topic.text.state == "known"}
    texts = {key: str(topic.text) for key, topic in topics.items()}
    overall = "\n".join(str(text) for text in (report.summary, report.conclusion))

    def is_clean(key: str, about: re.Pattern[str]) -> bool:
        topic = topics.get(key)
        return topic is not None and (topic.mark == "ok" or _misses(about, topic))

    if orders:
        what = counted(orders, "restrição judicial", "restrições judiciais")
        sentence = f"O texto não aponta restrição; os registros trazem {what}."
        if is_clean("restricoes", _ORDERS):
            yield Contradiction("restricoes", sentence)
        elif _denies(_ORDERS, overall):
            yield Contradiction("", sentence)
    if fines is not None:
        where = "multas" if is_clean("multas", _FINES) else ""
        is_silent = bool(where) or _denies(_FINES, overall)
        yield from _of_fines(texts.get("multas", ""), fines, where, is_silent=is_silent)
    if prices:
        yield from _of_prices(texts.get("fipe", ""), min(prices), max(prices))
    marks = topics.get("chassiMotor")
    doubt = next((reason for reason in verdict.reasons if reason.about == "vehicle"), None)
    if marks is not None and doubt is not None and marks.mark == "ok":
        yield Contradiction(
            "chassiMotor",
            f"O texto não aponta problema na identificação; os registros dizem: {doubt.finding}.",
        )
    is_doubted = verdict.level not in ("clear", "limited") and verdict.cause != "stale"
    if is_doubted and _praises(overall):
        sentence = f"O texto recomenda o veículo; os registros dizem: {verdict.headline}."
        yield Contradiction("", sentence)


def _of_fines(text: str, fines: Totals, where: str, *, is_silent: bool) -> Iterator[Contradiction]:
    if not fines.open_count:
        return
    if is_silent:
        open_words = fines.open_words
        sentence = f"O texto não aponta multa em aberto; os registros trazem {open_words}."
        yield Contradiction(where, sentence)
        return
    stated = _amounts(text)
    sums = (fines.amount, fines.amount_at_80, fines.amount_at_60, fines.enforceable_amount)
    near = any(abs(each - known) < 1 for each in (*stated, sum(stated)) for known in sums)
    if stated and not near and not fines.without_amount:
        shown = listed([money(each) for each in stated])
        total = money(fines.amount)
        sentence = f"O texto fala em {shown} de multas; os registros somam {total} em aberto."
        yield Contradiction("multas", sentence)


def _of_prices(text: str, low: Decimal, high: Decimal) -> Iterator[Contradiction]:
    stated = _amounts(text)
    if stated and not any(low * (1 - _NEAR) <= each <= high * (1 + _NEAR) for each in stated):
        table = money(low, 0) if low == high else f"{money(low, 0)} a {money(high, 0)}"
        sentence = f"O texto fala em {money(stated[0])}; a tabela FIPE traz {table}."
        yield Contradiction("fipe", sentence)


def _amounts(text: str) -> list[Decimal]:
    amounts = []
    for match in _AMOUNT.finditer(bare(text)):
        amount = read_decimal((match[1] or match[3]).rstrip(".,"))
        if amount is not None:
            amounts.append(amount * 1000 if match[2] or match[4] else amount)
    return amounts


def _clauses(text: str) -> list[str]:
    """Split a text. An end of one or two words belongs to the clause before: "penhora: baixada"."""
    clauses: list[str] = []
    for clause in _CLAUSE.split(_STILL_OPEN.sub(" ", bare(text))):
        is_end = len(clause.split()) <= _LONGEST_END and _DENIES.search(clause)
        if clauses and is_end and not (_ORDERS.search(clause) or _FINES.search(clause)):
            clauses[-1] += clause
        else:
            clauses.append(clause)
    return clauses


def _misses(about: re.Pattern[str], topic: Topic) -> bool:
    """Return whether a topic's text affirms nothing of ``about``, and is not vague."""
    text = str(topic.text)
    is_denied = any(map(_DENIES.search, _clauses(text)))
    if _affirms(about, text) or (topic.mark == "warning" and not is_denied):
        return False
    return not _VAGUE.search(bare(text))


def _denies(about: re.Pattern[str], text: str) -> bool:
    """Return whether a text denies what ``about`` names, and affirms none of it."""
    denied = any(about.search(each) and _DENIES.search(each) for each in _clauses(text))
    return (denied or "NADA CONSTA" in bare(text)) and not _affirms(about, text)


def _affirms(about: re.Pattern[str], text: str) -> bool:
    if _CANNOT.search(bare(text)) or (about is _FINES and any(_amounts(text))):
        return True
    return any(about.search(each) and not _DENIES.search(each) for each in _clauses(text))


def _praises(text: str) -> bool:
    """Return whether a text praises the vehicle without a negation or a condition."""
    return any(
        (found := _PRAISES.search(clause)) and not _NEGATED.search(clause[: found.start()])
        for sentence in _SENTENCE.split(bare(text))
        if not _CONDITION.search(sentence)
        for clause in _CLAUSE.split(sentence)
    )
