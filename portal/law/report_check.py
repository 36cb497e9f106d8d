"""Compares a written report with the records that it stands beside, in both directions.

What the report says better than the records is contradicted. What it warns of, and the records do
not show, is a finding.

The upstream writes the report. Its words may be better than the records: "nada consta" beside a
court order, "APROVADO" beside open fines. No list has all words of praise. A text about court
orders or fines therefore agrees with the records only if one of its clauses affirms an order or a
fine. A text that sends the reader elsewhere ("consulte o Detran") is vague and passes, as does a
text that is worse than the records.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import ClassVar, Final

from portal.law.adverse import (
    MAY_NAME_KINDS,
    Adverse,
    Subject,
    adverse_in,
    denied_in,
    denies,
    denies_all,
    denies_record,
    each_adverse_in,
    leaves_standing,
    names_subject,
    reads_clean,
    states_something,
)
from portal.law.assessment import Totals
from portal.law.findings import Finding, ReportAlert
from portal.law.orders import AssessedOrder, is_graver
from portal.law.restriction_kinds import Kind, kinds_in_prose
from portal.law.verdict import Cause, Verdict
from portal.vehicle.report import Report, Topic
from portal.vehicle.wire import read_decimal
from portal.wording import bare

_SENTENCE: Final = re.compile(r"[;!?\n]|\.(?=\s|$)")
_CLAUSE: Final = re.compile(r"[;!?\n(]|[.:,](?=\s|$)|\b(?:MAS|POREM)\b")
_ORDERS: Final = frozenset((Subject.COURT, Subject.SEIZURE, Subject.BLOCK))
# "Pendências" may be of either kind, and a debt may be of a fine. IPVA is none.
_MAY_BE_ORDERS: Final = re.compile(r"PENDENC")
_MAY_BE_FINES: Final = re.compile(r"PENDENC|DEBITO|DIVIDA|DEVE|ATRASO|INADIMPL")
# In their topics, these words name a fine or an order.
_OWED: Final = re.compile(r"\b(EM ABERTO|PENDENTES?|VENCIDAS?|A PAGAR|EM ATRASO)\b")
_FORBIDDEN: Final = re.compile(r"\b(TRANSFERENCIA|CIRCULACAO)\b")
_STATED: Final = re.compile(r"\W*CONSTAM?\W*")
# "Houve restrição no passado" warns, and says of none that it is in force.
_PAST: Final = re.compile(r"\b(HOUVE|NO PASSADO|(COMPENSAD|PRESCRIT|SUPERAD)[AO]S?)\b")
_IN_FORCE: Final = re.compile(r"\b(ATIV|VIGENT|EM (ABERTO|VIGOR))\w*")
# Without a record of its own, a text is vague: it sends the reader elsewhere. "Verificado e
# aprovado" and "veículo confiável" are not vague.
_VAGUE: Final = re.compile(
    r"INDISPON|NAO (FOI|E) POSSIVEL|NAO INFORMAD|\b(CONSULTE|CONSULTEM|CONSULTAR|CONFIRA|CONFIRAM"
    r"|CONFERIR|CONFIRME|CONFIRMAR|VERIFIQUE|VERIFIQUEM|VERIFICAR|AGUARDE)\b"
    r"|\bRECOMENDA\S* (A )?CONSULTA"
)
_CANNOT: Final = re.compile(r"\bNAO PODEM?\b(?! (DEIXAR|PERDER))")
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
# A praise in a sentence with one of these words, and what must end first, holds only later.
_CONDITION: Final = re.compile(
    r"\b(ANTES|APENAS|APOS|ATE|CASO|DEPEND\w*|DEPOIS|DESDE QUE|MEDIANTE|(?<!-)SE|SO|SOMENTE)\b"
)
_TO_END: Final = re.compile(
    r"\b(BAIX|CANCEL|DESBLOQ|LEVANT|LIBERA[CDR]|PAG|QUIT|REGULARIZ|RESOLV|RETIR|SOLU|REMOV)\w*"
    r"|\b(BLOQ|DEBITO|GRAVAM|MULTA|ORDE[MN]|PENDENC|PENHORA|RESTRIC)\w*"
)
# A sentence that says nothing of the vehicle, or only advises an inspection.
_NO_CONCLUSION: Final = re.compile(
    r"^\W*(FIM|FINAL|N/?A)?\W*$|\b(CAUTELAR|PERICIA|VISTORI\w+)\b|\bINSUFICIEN\w*|\bINCONCLUSIV"
)
_AMOUNT: Final = re.compile(
    r"R\$\s*([0-9][0-9.,]*)( MIL\b)?|(?<![0-9.,])([0-9][0-9.,]{0,19})( MIL)? REAIS\b"
)
_FINE_COUNT: Final = re.compile(r"(?<![\d.,/])(\d{1,4}) (?:\(\w+\) )?(?:MULTAS?|AUTUAC|INFRAC)")
_ORDER_COUNT: Final = re.compile(
    r"(?<![\d.,/])(\d{1,3}) (?:\(\w+\) )?(?:ORDE(?:M|NS)|PENHORAS?|(?:RESTRIC\w*|BLOQUEIOS?) JUDIC)"
)
_OPEN: Final = re.compile(r"\b(ABERTO|PENDENTES?|VENCIDAS?|A PAGAR|NAO PAGAS?|ATRASO)\b")
# Whether a subject with its words belongs to a kind of record.
_IsAbout = Callable[[Subject, str], bool]
# Right before an amount, these make it the sum of others: "TOTAL DE R$ 3.200,00".
_TOTAL: Final = re.compile(r"\b(TOTA(L|IS|LIZA\w*)|SOMA(M|NDO)?|AO TODO)\b[^;.!?\d]{0,24}$")
# A verdict for one of these causes is in no doubt by the records.
_OWN_CAUSES: Final[frozenset[Cause]] = frozenset({"stale", "report", "report_note"})
# A price in the report may be rounded or of the former month.
_NEAR: Final = Decimal("0.05")


# What the topics are about, if their text affirms something and does not name it.
_TOPIC_SUBJECTS: Final[Mapping[str, Subject]] = {
    "rouboFurto": Subject.THEFT,
    "leilao": Subject.AUCTION,
    "chassiMotor": Subject.CHASSIS,
    "restricoes": Subject.COURT,
    "multas": Subject.FINES,
}
# In these topics, "CONSTA" alone affirms the topic's subject, as does a text that nothing reads as
# clean: "Lote 45, Sodré Santoro". With a green mark, it must count records: "1 registro".
_AFFIRMED_ALONE: Final = ("rouboFurto", "leilao", "restricoes")
_COUNTED: Final = re.compile(
    r"(?<![\d.,])0*[1-9]\d{0,3} (REGISTR|OCORR|APONT|ALERT|RESTRIC|ORDE|BOLETI|B\.?O\b|PASSAG)"
)
_ADMINISTRATIVE: Final = re.compile(r"ADMINISTRATIV|DETRAN|BLOQ|TRIBUTARI|AMBIENTA")


@dataclass(frozen=True, slots=True)
class OrdersOmitted:
    """The text denies court orders. ``topic`` is its key, or "" for the summary and conclusion."""

    topic: str
    orders: int


@dataclass(frozen=True, slots=True)
class FinesOmitted:
    """The text denies open fines. ``notices`` of them are only a notice of infraction."""

    topic: str
    fines: int
    notices: int


@dataclass(frozen=True, slots=True)
class FinesDiffer:
    """The text states other amounts of fines, in R$, than the records' sum."""

    topic: ClassVar[str] = "multas"
    stated: tuple[Decimal, ...]
    known: Decimal


@dataclass(frozen=True, slots=True)
class PriceDiffers:
    """The text states another price, in R$, than those of the table."""

    topic: ClassVar[str] = "fipe"
    stated: Decimal
    low: Decimal
    high: Decimal


@dataclass(frozen=True, slots=True)
class DoubtOmitted:
    """The text finds no fault in the identification, which the records put in doubt."""

    topic: ClassVar[str] = "chassiMotor"
    doubt: Finding


@dataclass(frozen=True, slots=True)
class Praised:
    """The conclusion praises a vehicle whose verdict is doubted, or is silent on the doubt."""

    topic: ClassVar[str] = ""
    verdict: Verdict
    is_silent: bool


Contradiction = OrdersOmitted | FinesOmitted | FinesDiffer | PriceDiffers | DoubtOmitted | Praised


def alerts_of(
    report: Report, orders: Sequence[AssessedOrder] | None, fines: Totals | None, today: date
) -> Iterator[ReportAlert]:
    """Yield what the report warns of and the records do not show, each subject once.

    ``orders`` are the court orders. ``orders`` or ``fines`` is None if no readable answer is
    stored.
    """
    in_force = [order for order in orders or () if order.in_force]
    warned: dict[Subject, list[tuple[str, str, Adverse]]] = {}
    stated: dict[Subject, dict[Kind, None]] = {}
    for topic, label, one in _adverse(report):
        kinds = _kinds_of(one, today)
        if not _is_on_record(one, kinds, in_force, fines):
            warned.setdefault(one.subject, []).append((topic, label, one))
            stated.setdefault(one.subject, {}).update(dict.fromkeys(kinds))
    for subject, warnings in warned.items():
        topic, label, _ = warnings[0]
        amount = None
        if subject in (Subject.DEBTS, Subject.FINES):
            of_fines = Decimal(0) if fines is None else fines.amount
            amount = _sum_of([(where, one.sentence) for where, _, one in warnings], of_fines)
            if subject is Subject.FINES and fines is not None:
                # The records' own sum stands beside it.
                amount -= of_fines
            amount = amount if amount > 0 else None
        yield ReportAlert(subject, topic, label, amount, tuple(stated[subject]))


def _kinds_of(one: Adverse, today: date) -> tuple[Kind, ...]:
    """Return the kinds of a court's restriction that the text states, if it is about one."""
    return kinds_in_prose(one.sentence, today) if one.subject in MAY_NAME_KINDS else ()


def _sum_of(stated: Sequence[tuple[str, str]], of_fines: Decimal) -> Decimal:
    """Return the sum of what the topics state, in R$. A total stands for its parts.

    An amount that two topics state is one debt. In one topic, two equal amounts are two. What the
    summary or the conclusion states is a total if it is no less than what the topics do. If it is
    more by ``of_fines``, the sum of the records, it is a total with them.
    """
    by_topic: dict[str, Counter[Decimal]] = {}
    totals: list[Decimal] = []
    for topic, sentence in stated:
        amounts = by_topic.setdefault(topic, Counter())
        for start, amount in _amounts_at(sentence):
            if _TOTAL.search(sentence[:start]):
                totals.append(amount)
            else:
                amounts[amount] += 1
    in_topics = sum(
        (amount for where in by_topic if where for amount in by_topic[where].elements()), Decimal(0)
    )
    if in_topics:
        concluded = [*by_topic.get("", Counter()).elements()]
        totals += [amount for amount in concluded if in_topics <= amount != in_topics + of_fines]
        by_topic[""] = Counter(amount for amount in concluded if amount < in_topics)
    parts: Counter[Decimal] = Counter()
    for amounts in by_topic.values():
        parts |= amounts
    largest, whole = max(parts, default=Decimal(0)), sum(parts.elements(), Decimal(0))
    if largest * 2 == whole and len(parts) > 1:
        whole = largest
    return max([whole, *totals])


def _adverse(report: Report) -> Iterator[tuple[str, str, Adverse]]:
    """Yield the key and the label of a topic, and what its text warns of."""
    for topic in report.topics:
        if topic.text.state != "known" and topic.mark != "warning":
            continue
        text = topic.said
        adverse = [_in_topic(one, topic.key) for one in each_adverse_in(text)]
        if not adverse and (subject := _unnamed(topic, text)):
            adverse = [Adverse(subject, "", bare(text))]
        for one in adverse:
            yield topic.key, topic.label, one
    for part in (*report.said, *report.unshown):
        for one in each_adverse_in(part):
            yield "", "", one


def _in_topic(one: Adverse, topic: str) -> Adverse:
    """In the topic about court orders, a restriction is one of them unless the text says whose."""
    is_restriction = topic == "restricoes" and one.subject is Subject.BLOCK
    if not is_restriction or _ADMINISTRATIVE.search(one.sentence):
        return one
    return Adverse(Subject.COURT, one.words, one.sentence)


def _unnamed(topic: Topic, text: str) -> Subject | None:
    """Return what a topic warns of by its mark or by "CONSTA" alone, or None."""
    subject = _TOPIC_SUBJECTS.get(topic.key, Subject.OTHER)
    if topic.key in _AFFIRMED_ALONE and (states_something(text) or _says_unread(topic, text)):
        return subject
    if topic.mark != "warning" or _VAGUE.search(bare(text)):
        return None
    if denies_all(text):
        # "❌ Leilão: não consta" marks the answer no. "❌ Nada consta" contradicts itself.
        return None if names_subject(text) else Subject.OTHER
    return Subject.OTHER if denies(text) else subject


def _says_unread(topic: Topic, text: str) -> bool:
    """Return whether a text says something, and nothing in it reads as clean."""
    read = bare(text)
    if reads_clean(text) or not any(map(str.isalnum, read)):
        return False
    return topic.mark != "ok" or bool(_COUNTED.search(read))


def _is_on_record(
    one: Adverse,
    kinds: Sequence[Kind],
    orders: Sequence[AssessedOrder],
    fines: Totals | None,
) -> bool:
    """Return whether the records show what the report warns of, and as grave as it says."""
    if one.subject in MAY_NAME_KINDS:
        is_of_register = one.subject is not Subject.BLOCK or not _ADMINISTRATIVE.search(
            one.sentence
        )
        is_shown = is_of_register and bool(kinds or one.subject is not Subject.SEIZURE)
        is_counted = _most_counted(_ORDER_COUNT, one.sentence) <= len(orders)
        return bool(orders) and is_shown and is_counted and not is_graver(kinds, orders)
    if one.subject is not Subject.FINES or fines is None:
        return False
    has_others = bool(fines.paid_count or fines.called_off_count)
    if fines.open_count and _states_more(one.sentence, fines, has_others=has_others):
        return False
    return bool(fines.open_count) or (has_others and not _amounts(one.sentence))


def _states_more(sentence: str, fines: Totals, *, has_others: bool) -> bool:
    """Return whether a sentence states more fines, or a higher sum, than are on record."""
    known = fines.open_count
    if not _OPEN.search(sentence):
        known += fines.paid_count + fines.called_off_count
    if _most_counted(_FINE_COUNT, sentence) > known:
        return True
    highest = max(_amounts(sentence), default=Decimal(0))
    return not (has_others or fines.without_amount) and highest >= fines.amount + 1


def _most_counted(pattern: re.Pattern[str], sentence: str) -> int:
    return max((int(match[1]) for match in pattern.finditer(sentence)), default=0)


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
    texts = {key: topic.said for key, topic in topics.items()}
    overall = "\n".join(report.said)

    def is_clean(key: str) -> bool:
        topic = topics.get(key)
        return topic is not None and (topic.mark == "ok" or _misses(topic))

    if orders:
        if is_clean("restricoes"):
            yield OrdersOmitted("restricoes", orders)
        elif _denies(_is_of_order, overall):
            yield OrdersOmitted("", orders)
    if fines is not None:
        where = "multas" if is_clean("multas") else ""
        is_silent = bool(where) or _denies(_is_of_fine, overall)
        yield from _of_fines(texts.get("multas", ""), fines, where, is_silent=is_silent)
    if prices:
        yield from _of_prices(texts.get("fipe", ""), min(prices), max(prices))
    marks = topics.get("chassiMotor")
    doubt = next((one for one in verdict.reasons if one.about == "vehicle"), None)
    if marks is not None and doubt is not None and marks.mark == "ok":
        yield DoubtOmitted(doubt)
    if verdict.level not in ("clear", "limited") and verdict.cause not in _OWN_CAUSES:
        if _praises(overall):
            yield Praised(verdict, is_silent=False)
        elif _is_silent(report.said[1]):
            yield Praised(verdict, is_silent=True)


def _is_silent(conclusion: str) -> bool:
    """Return whether a conclusion affirms nothing against the vehicle, and concludes something.

    No list has all words of praise, so a conclusion is asked for what it warns of.
    """
    read = bare(conclusion)
    is_stated = leaves_standing(_OWED, conclusion) or bool(_STATED.fullmatch(read))
    if is_stated or _cannot(conclusion) or any(_amounts(conclusion)) or any(adverse_in(conclusion)):
        return False
    return any(map(_concludes, _SENTENCE.split(read)))


def _concludes(sentence: str) -> bool:
    """Return whether a sentence says something of the vehicle that holds now."""
    leaves_open = any(pattern.search(sentence) for pattern in (_NO_CONCLUSION, _VAGUE, _CANNOT))
    return not (leaves_open or _is_conditional(sentence))


def _is_conditional(sentence: str) -> bool:
    return bool(_CONDITION.search(sentence) and _TO_END.search(sentence))


def _of_fines(text: str, fines: Totals, where: str, *, is_silent: bool) -> Iterator[Contradiction]:
    if not fines.open_count:
        return
    if is_silent:
        yield FinesOmitted(where, fines.open_count, fines.open_notices)
        return
    stated = _amounts(text)
    sums = (fines.amount, fines.amount_at_80, fines.amount_at_60, fines.enforceable_amount)
    near = any(abs(amount - known) < 1 for amount in (*stated, sum(stated)) for known in sums)
    if stated and not near and not fines.without_amount:
        yield FinesDiffer(tuple(stated), fines.amount)


def _of_prices(text: str, low: Decimal, high: Decimal) -> Iterator[Contradiction]:
    stated = _amounts(text)
    if stated and not any(low * (1 - _NEAR) <= amount <= high * (1 + _NEAR) for amount in stated):
        yield PriceDiffers(stated[0], low, high)


def _amounts(text: str) -> list[Decimal]:
    return [amount for _, amount in _amounts_at(bare(text))]


def _amounts_at(read: str) -> Iterator[tuple[int, Decimal]]:
    """Yield where a text in capitals states amounts, and the amounts in R$."""
    for match in _AMOUNT.finditer(read):
        amount = read_decimal((match[1] or match[3]).rstrip(".,"))
        if amount is not None:
            yield match.start(), amount * 1000 if match[2] or match[4] else amount


def _is_of_order(subject: Subject, words: str) -> bool:
    is_either = subject is Subject.DEBTS and bool(_MAY_BE_ORDERS.search(bare(words)))
    return subject in _ORDERS or is_either


def _is_of_fine(subject: Subject, words: str) -> bool:
    is_debt = subject is Subject.DEBTS and bool(_MAY_BE_FINES.search(bare(words)))
    return subject is Subject.FINES or is_debt


def _misses(topic: Topic) -> bool:
    """Return whether a topic's text affirms nothing of its subject, and is not vague."""
    text, is_of_topic = topic.said, _is_of_order if topic.key == "restricoes" else _is_of_fine
    if _affirms(is_of_topic, text) or states_something(text):
        return False
    if topic.key == "multas" and (any(_amounts(text)) or leaves_standing(_OWED, text)):
        return False
    if topic.key == "restricoes" and leaves_standing(_FORBIDDEN, text):
        return False
    if topic.mark == "warning" and not denies(text):
        return False
    read = bare(text)
    if _VAGUE.search(read):
        return False
    is_denied = any(is_of_topic(*named) for named in denied_in(text))
    return is_denied or not any(map(_is_conditional, _SENTENCE.split(read)))


def _denies(is_about: _IsAbout, text: str) -> bool:
    """Return whether a text denies what ``is_about`` accepts, and affirms none of it."""
    if _affirms(is_about, text) or (is_about is _is_of_fine and any(_amounts(text))):
        return False
    return denies_record(text) or any(is_about(*named) for named in denied_in(text))


def _affirms(is_about: _IsAbout, text: str) -> bool:
    """Return whether a text says that something is in force. A warning may be of the past."""
    return _cannot(text) or any(
        is_about(one.subject, one.words)
        and (_IN_FORCE.search(one.sentence) or not _PAST.search(one.sentence))
        for one in each_adverse_in(text)
    )


def _cannot(text: str) -> bool:
    """Return whether a text says that the vehicle cannot be bought or transferred."""
    return bool(_CANNOT.search(bare(text)))


def _praises(text: str) -> bool:
    """Return whether a text praises the vehicle without a negation or a condition."""
    return any(
        (praise := _PRAISES.search(clause)) and not _NEGATED.search(clause[: praise.start()])
        for sentence in _SENTENCE.split(bare(text))
        if not _is_conditional(sentence)
        for clause in _CLAUSE.split(sentence)
    )
