"""Decide whether a fine is paid; no other module does.

A fine is excluded from the sums only if the source states a plausible payment day: readable, not
in the future, and not before the infraction. With any other content of that field ("VENCE EM
10/10/2026", a day in the future, "PAGO" without a day) the fine stays in the sums, with a note.
"""

import re
from dataclasses import dataclass
from datetime import date
from typing import Literal

from portal.law.wording import bare, day
from portal.vehicle import Fine

_SOME_DIGIT = re.compile(r"[1-9]")
_SOME_WORD = re.compile(r"[^\W\d_]{2}")
# "00/00/0000", "NAO PAGO", "EM ABERTO" and "-" mean unpaid. "PAGO" without a day is unclear.
_SAYS_PAID = re.compile(r"\b(PAG[AO]|QUIT|LIQUID|BAIXAD|SIM\b)")
_SAYS_NOT = re.compile(r"\b(NAO|SEM|A PAGAR)\b")

# Status words that contradict a payment.
_STILL_OWED = re.compile(
    r"^(?!.*\b(NAO (EXIGIVEL|VENCID|INSCRIT)|INEXIGIVEL)).*"
    r"\b(EXIGIVEL|VENCID[AO]|DIVIDA ATIVA|EM ABERTO|PENDENTE|NAO PAG[AO]|NAO QUITAD[AO]|A PAGAR)\b"
)


@dataclass(frozen=True, slots=True)
class Payment:
    """The payment state of a fine.

    "unclear": the field holds a text that is not a plausible payment day. ``note`` is a
    sentence, "" where nothing is stated.
    """

    state: Literal["none", "paid", "unclear"]
    note: str = ""


def payment_of(fine: Fine, today: date) -> Payment:
    """Return the payment state on ``today`` from the source's payment day."""
    if fine.paid_on_text.is_hidden:
        return _unclear("a fonte oculta a data do pagamento")
    # "10/10/2024 ESTORNADO": a day with a word beside it does not count as a payment day.
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
