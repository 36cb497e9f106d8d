"""Whether a fine is paid: the one place that decides it.

A fine leaves every sum only where the source states a payment day that can be one: it can be
read, it has come, and the infraction was before it. Anything else that stands in that field
("VENCE EM 10/10/2026", a day in the future, "PAGO" without a day) keeps the fine and says so.
"""

import re
from dataclasses import dataclass
from datetime import date
from typing import Literal

from portal.law.wording import bare, day
from portal.vehicle import Fine

_SOME_DIGIT = re.compile(r"[1-9]")
_SOME_WORD = re.compile(r"[^\W\d_]{2}")
# "00/00/0000", "NAO PAGO", "EM ABERTO" and "-" say that nothing was paid; "PAGO" might have been.
_SAYS_PAID = re.compile(r"\b(PAG[AO]|QUIT|LIQUID|BAIXAD|SIM\b)")
_SAYS_NOT = re.compile(r"\b(NAO|SEM|A PAGAR)\b")

# Status words that a paid fine would not bear.
_STILL_OWED = re.compile(
    r"^(?!.*\b(NAO (EXIGIVEL|VENCID|INSCRIT)|INEXIGIVEL)).*"
    r"\b(EXIGIVEL|VENCID[AO]|DIVIDA ATIVA|EM ABERTO|PENDENTE|NAO PAG[AO]|NAO QUITAD[AO]|A PAGAR)\b"
)


@dataclass(frozen=True, slots=True)
class Payment:
    """ "unclear": something is stated that is no payment day to believe. ``note`` is a sentence,
    "" where nothing is stated."""

    state: Literal["none", "paid", "unclear"]
    note: str = ""


def payment_of(fine: Fine, today: date) -> Payment:
    """What the source's payment day says on ``today``."""
    if fine.paid_on_text.is_hidden:
        return _unclear("a fonte oculta a data do pagamento")
    # "10/10/2024 ESTORNADO": a day that is followed by words is not the day alone.
    if fine.paid_on is None or _SOME_WORD.search(str(fine.paid_on_text)):
        return _unread(str(fine.paid_on_text))
    stated = f"a data do pagamento ({day(fine.paid_on)})"
    if fine.paid_on > today:
        return _unclear(f"{stated} está no futuro")
    if fine.committed_on is not None and fine.paid_on < fine.committed_on:
        return _unclear(f"{stated} é anterior à da infração")
    if _STILL_OWED.search(bare(str(fine.kind))):
        return _unclear(f"a fonte traz {stated} e, mesmo assim, registra “{fine.kind}”")
    note = f"Paga em {day(fine.paid_on)}, segundo a fonte."
    if fine.paid_amount is not None and fine.paid_amount.is_zero():
        note += " O valor pago consta como zero: confirme com o órgão autuador."
    return Payment("paid", note)


def _unread(text: str) -> Payment:
    words = bare(text)
    if _SOME_DIGIT.search(text) or (_SAYS_PAID.search(words) and not _SAYS_NOT.search(words)):
        return _unclear(f"a fonte traz “{text}” no lugar da data do pagamento")
    return Payment("none")


def _unclear(why: str) -> Payment:
    return Payment(
        "unclear", f"Não é possível dizer se foi paga: {why}. Segue nas somas; confirme."
    )
