"""Compares a written report with the records that it stands beside.

The upstream writes the report. Its words may be better than the records: "nada consta" beside a
court order, "APROVADO" beside open fines. Only a statement that contradicts a readable record is
reported, so a report that is right, vague or worse than the records passes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from portal.law.assessment import Totals
from portal.law.verdict import Verdict
from portal.vehicle import Report
from portal.vehicle.wire import read_decimal
from portal.wording import bare, counted, money

_DENIES: Final = re.compile(
    r"\b(NADA CONSTA|NENHUM[AO]?|INEXIST\w*|LIVRE|REGULAR|NEGATIV[AO]"
    r"|(NAO|SEM) (CONSTAM?|HA|POSSUI|EXISTEM?|TEM|FOI|FORAM|QUALQUER|RESTRIC\w*|PENDENC\w*"
    r"|IMPEDIMENT\w*|BLOQUEI\w*|MULTAS?|DEBITOS?|INFRAC\w*|REGISTROS?|ALERTAS?))\b"
)
_PRAISES: Final = re.compile(
    r"\b(APROVAD[AO]|PODE(M)? (SER )?(COMPR|NEGOCI|TRANSFERI)\w*|SEM MEDO|SEM RISCOS?"
    r"|(COMPRA|NEGOCIO|TRANSFERENCIA) SEGUR[AO]|APT[AO] (PARA|A)|RECOMENDAD[AO]"
    r"|RECOMENDA-SE A COMPRA)\b"
)
_NEGATED: Final = re.compile(r"\b(NAO|NUNCA|JAMAIS|NEM|DES|REPROVAD\w*)\W+(\w+\W+){0,2}$")
_AMOUNT: Final = re.compile(r"R\$\s*([0-9][0-9.,]*)")
# A price in the report may be rounded or of the former month.
_NEAR: Final = Decimal("0.05")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the page's records say. A member is None if no readable answer is stored.

    ``orders`` counts the court orders in force. ``prices`` are the lowest and the highest likely
    price in R$.
    """

    verdict: Verdict
    orders: int | None
    fines: Totals | None
    prices: tuple[Decimal, Decimal] | None


@dataclass(frozen=True, slots=True)
class Contradiction:
    """``topic`` is the key of a topic of the report, or "" for its summary and conclusion."""

    topic: str
    sentence: str


def contradictions(report: Report, evidence: Evidence) -> tuple[Contradiction, ...]:
    """Return what the report states better than, or otherwise than, the records."""
    marks = {topic.key: topic.mark for topic in report.topics}
    texts = {topic.key: str(topic.text) for topic in report.topics}

    def is_clean(key: str) -> bool:
        return marks.get(key) == "ok" or _affirms(_DENIES, texts.get(key, ""))

    found: list[Contradiction] = []
    if evidence.orders and is_clean("restricoes"):
        what = counted(
            evidence.orders, "restrição judicial em vigor", "restrições judiciais em vigor"
        )
        found.append(
            Contradiction(
                "restricoes",
                f"O texto não aponta restrição; os registros desta página trazem {what}.",
            )
        )
    if evidence.fines is not None:
        found += _of_fines(texts.get("multas", ""), evidence.fines, is_clean=is_clean("multas"))
    if evidence.prices is not None:
        found += _of_prices(texts.get("fipe", ""), evidence.prices)
    if evidence.verdict.level not in ("clear", "limited"):
        praise = any(_affirms(_PRAISES, str(text)) for text in (report.summary, report.conclusion))
        if praise:
            found.append(
                Contradiction(
                    "",
                    "O texto recomenda o veículo; os registros desta página dizem: "
                    f"{evidence.verdict.headline}.",
                )
            )
    return tuple(found)


def _of_fines(text: str, fines: Totals, *, is_clean: bool) -> Iterator[Contradiction]:
    if not fines.open_count:
        return
    if is_clean:
        yield Contradiction(
            "multas",
            f"O texto não aponta multa em aberto; os registros desta página trazem "
            f"{fines.open_words}.",
        )
        return
    stated = _amounts(text)
    sums = (fines.amount, fines.amount_at_80, fines.amount_at_60, fines.enforceable_amount)
    if (
        len(stated) == 1
        and not fines.without_amount
        and not any(abs(stated[0] - each) < 1 for each in sums)
    ):
        yield Contradiction(
            "multas",
            f"O texto fala em {money(stated[0])} de multas; os registros desta página somam "
            f"{money(fines.amount)} em aberto.",
        )


def _of_prices(text: str, prices: tuple[Decimal, Decimal]) -> Iterator[Contradiction]:
    low, high = prices
    stated = _amounts(text)
    if stated and not any(low * (1 - _NEAR) <= each <= high * (1 + _NEAR) for each in stated):
        table = money(low, 0) if low == high else f"{money(low, 0)} a {money(high, 0)}"
        yield Contradiction(
            "fipe", f"O texto fala em {money(stated[0])}; a tabela FIPE desta página traz {table}."
        )


def _amounts(text: str) -> list[Decimal]:
    read = [read_decimal(match[1].rstrip(".,")) for match in _AMOUNT.finditer(text)]
    return [amount for amount in read if amount is not None]


def _affirms(pattern: re.Pattern[str], text: str) -> bool:
    """Return whether a text contains the pattern without a negation before it."""
    words = bare(text)
    return any(
        not _NEGATED.search(words[max(0, found.start() - 40) : found.start()])
        for found in pattern.finditer(words)
    )
