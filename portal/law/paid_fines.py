"""Decide whether a fine is paid, and restore the exact amount that was paid.

A fine counts as paid only if the source (the upstream API) states a plausible payment day, and
nothing else in the record casts doubt on the payment. The day must be readable, and neither in the
future nor before the infraction. The status must be empty, name the kind of record ("PENALIDADE")
or say that the fine is paid in full. The paid amount, if stated, must be able to settle the fine. A
payment of zero needs a status that says "paid".
Any other sign of a payment, such as "PAGO" ("paid") without a day or "PAGAMENTO ESTORNADO"
("payment reversed"), makes the fine "talvez paga" ("maybe paid"). A fine that is "talvez paga"
stays in the sums of open fines, with a note.

A payment is the full amount of the fine, or 80 % until the due date, or 60 % through SNE, the
federal system of electronic notices (art. 284 of the CTB, the traffic code). For a fine of
R$ 293,47, a ``valorPago`` (paid amount) of "234" therefore means R$ 234,78, which is 80 %. A whole
number that matches none of these three amounts may have lost its cents, and is never presented as
exact. ``portal.phrasebook.fines`` says what this module finds.
"""

import re
from datetime import date
from decimal import Decimal
from typing import Literal

from msgspec import Struct

from portal.data_files import read_words
from portal.law.deadlines import PROBABLY_DUE_DAYS
from portal.law.fine_amounts import Amount, discounted, is_whole, plausible
from portal.law.infractions import stands_for
from portal.vehicle.fines import Fine
from portal.vehicle.wire import read_moment
from portal.wording import bare

_SOME_DIGIT = re.compile(r"[1-9]")
_SOME_WORD = re.compile(r"[^\W\d_]{2}")
_LETTERS = re.compile(r"[^\W\d_]{2,}")
# In the field of the payment day, "00/00/0000", "NAO PAGO" ("not paid"), "EM ABERTO" ("open") and
# "-" mean unpaid. "PAGO" ("paid") without a date makes the fine "talvez paga" ("maybe paid").
_SAYS_PAID = re.compile(r"\b(PAG[AO]|QUIT|LIQUID|BAIXAD|SIM\b)")
_SAYS_NOT = re.compile(r"\b(NAO|SEM|A PAGAR)\b")

_WORD = re.compile(r"\w+")
_WORDS = read_words(__package__, "payment_words.toml")
_CONSISTENT = frozenset(_WORDS["consistent"])
_MEANS = frozenset(_WORDS["means"])
# A status that names a payment, beside a means of paying.
_NAMES_PAYMENT = re.compile(r"\b(PAG[AO]|PAGAMENTO|QUIT|LIQUID|BAIXAD)")
_OF_A_STATE = frozenset(_WORDS["of_a_state"])
# "EM PAGAMENTO" and "NOTIFICACAO DE PAGAMENTO" state no payment.
_BEING_PAID = re.compile(r"\b(A|DA|DE|DO|E|EM|NA|NO|PARA) (PAGAMENTO|QUITACAO)\b")
# Numbers that limit no payment: a date, the number of a status ("3 - PAGA") and a discount of art.
# 284 of the CTB. Any other number may count instalments ("PAGO 1 DE 3") or state a part.
_DATE_OR_CODE = re.compile(
    r"\b\d{1,2}/\d{1,2}/\d{4}\b|\b\d{4}-\d{2}-\d{2}\b|^\d{1,3} ?[-:.](?= ?[^\W\d])"
    r"|\bDESCONTO (DE )?[24]0 ?%"
)
# An amount with a word, or below zero as of a reversal.
_ODD_AMOUNT = re.compile(r"[^\W\d_]{2}|^\W*[-\u2212] ?\d")
# A paid fine can no longer be charged.
_NOT_CHARGED = re.compile(r"(NAO EXIGIVEL|INEXIGIVEL)")


# Why a payment is what it is.
Why = Literal[
    # No sign of a payment, or only an amount that settles nothing.
    "none",
    "amount_alone",
    "paid",
    "paid_zero",
    "paid_short",
    # A sign of a payment, and a doubt about it.
    "day_hidden",
    "day_unread",
    "day_in_future",
    "day_before_infraction",
    "day_before_record",
    "registered_in_future",
    "contradicted",
    "zero",
    "too_little",
    "without_day",
]
# A sign of a payment whose day is missing: the paid amount, when it was registered, and its state.
Trace = Literal["amount", "registered", "state"]


class Payment(Struct, frozen=True):
    """Whether a fine is paid.

    The state "none" means that the record has no sign of a payment, or only an amount that settles
    nothing. ``why`` is the reason. ``on`` is the day that it concerns, and ``text`` the source's
    text that it concerns, or "". ``traces`` are the signs of a payment without its day.
    """

    state: Literal["none", "paid", "unclear"]
    why: Why = "none"
    on: date | None = None
    text: str = ""
    traces: tuple[Trace, ...] = ()


def payment_of(fine: Fine, owed: Amount, today: date) -> Payment:
    if fine.paid_on_text.is_hidden:
        return Payment("unclear", "day_hidden")
    # A day with a word beside it, such as "10/10/2024 ESTORNADO" ("reversed"), proves no payment.
    if fine.paid_on is None or _SOME_WORD.search(fine.paid_on_text.value):
        return _unread(fine.paid_on_text.value) or _without_day(fine, owed)
    if fine.paid_on > today:
        return Payment("unclear", "day_in_future", fine.paid_on)
    others = [day for day in (fine.registered_on, fine.notified_on, fine.penalty_on) if day]
    first = fine.committed_on or min(others, default=None)
    if first is not None and fine.paid_on < first:
        why: Why = "day_before_infraction" if fine.committed_on else "day_before_record"
        return Payment("unclear", why, fine.paid_on)
    registered = read_moment(fine.payment_registered_on_text.value)
    if registered is not None and registered.date() > today:
        return Payment("unclear", "registered_in_future", registered.date())
    if doubt := _doubt(fine):
        return Payment("unclear", "contradicted", fine.paid_on, doubt)
    if _is_zero(fine) and not _SAYS_PAID.search(bare(fine.kind.value)):
        return Payment("unclear", "zero", fine.paid_on)
    if not _can_settle(plausible(fine.paid_amount), owed, plausible(fine.amount)):
        return Payment("unclear", "too_little", fine.paid_on)
    if _is_zero(fine):
        return Payment("paid", "paid_zero", fine.paid_on)
    return Payment("paid", "paid_short" if shortfall(fine, owed) else "paid", fine.paid_on)


def _is_zero(fine: Fine) -> bool:
    return fine.paid_amount is not None and fine.paid_amount.is_zero()


def _doubt(fine: Fine) -> str:
    """Return the first text beside the payment day that casts doubt on the payment, or ""."""
    status = _DATE_OR_CODE.sub("", _NOT_CHARGED.sub("", bare(fine.kind.value)))
    words = _WORD.findall(status)
    if not _CONSISTENT.issuperset(words) or _BEING_PAID.search(status):
        return fine.kind.value
    if _MEANS.intersection(words) and not _NAMES_PAYMENT.search(status):
        return fine.kind.value
    if _SOME_WORD.search(fine.payment_registered_on_text.value):
        return fine.payment_registered_on_text.value
    if not _OF_A_STATE.issuperset(_LETTERS.findall(bare(fine.paid_state.value))):
        return fine.paid_state.value
    amount = fine.paid_amount_text.value
    return amount if fine.paid_amount is None and _ODD_AMOUNT.search(amount) else ""


def _can_settle(sent: Decimal | None, owed: Amount, asked: Decimal | None) -> bool:
    """Return whether a paid amount is the full amount, a discounted amount, or more.

    ``asked`` is the source's amount of the fine, of which 60 % of the table is the least.
    """
    if sent is None or owed.value is None or sent >= int(owed.value):
        return True
    if asked is not None and owed.at_60 is not None and sent >= asked >= owed.at_60:
        return True
    return discounted(sent, owed.at_80, owed.at_60) is not None


def shortfall(fine: Fine, owed: Amount) -> Decimal | None:
    """Return what is missing from a discounted payment that seems late for the discount, or None.

    The discount ends with the due date (art. 284 of the CTB), which the record does not state.
    """
    sent = plausible(fine.paid_amount)
    if fine.penalty_on is None or fine.paid_on is None or sent is None or owed.value is None:
        return None
    paid = discounted(sent, owed.at_80, owed.at_60)
    if paid is None or (fine.paid_on - fine.penalty_on).days <= PROBABLY_DUE_DAYS:
        return None
    return owed.value - paid


def _unread(text: str) -> Payment | None:
    words = bare(text)
    if _SOME_DIGIT.search(text) or (_SAYS_PAID.search(words) and not _SAYS_NOT.search(words)):
        return Payment("unclear", "day_unread", text=text)
    return None


def _without_day(fine: Fine, owed: Amount) -> Payment:
    traces: list[Trace] = []
    sent = plausible(fine.paid_amount)
    # A paid amount is a sign of payment only if it is 100, 80 or 60 % of the fine (CTB, art. 284).
    if sent is not None and stands_for(sent, owed.value, owed.at_80, owed.at_60) is not None:
        traces.append("amount")
    if _SOME_DIGIT.search(fine.payment_registered_on_text.value):
        traces.append("registered")
    if _SOME_WORD.search(fine.paid_state.value):
        traces.append("state")
    if traces:
        return Payment("unclear", "without_day", traces=tuple(traces))
    return Payment("none", "none" if sent is None else "amount_alone")


class PaidSum(Struct, frozen=True):
    """A paid amount.

    ``value`` is in R$, or None if the source states no plausible amount. ``is_exact`` is true if
    the cents are known. ``why`` says how the value follows from ``sent``, the source's amount: as
    it is ("as_sent"), read as cents, restored from the table's amount or a share of it in percent
    ("of_table", ``share``), or as it is, where its cents may be missing ("may_lack_cents").
    """

    value: Decimal | None
    is_exact: bool
    why: Literal["as_sent", "in_cents", "of_table", "may_lack_cents"] = "as_sent"
    sent: Decimal | None = None
    share: Literal[100, 80, 60] = 100


def paid_sum(sent: Decimal | None, owed: Amount) -> PaidSum:
    """Return the paid amount. ``sent``, the source's amount in R$, may lack cents."""
    if sent is not None and sent.is_zero():
        return PaidSum(Decimal(0), is_exact=True)
    sent = plausible(sent)
    if sent is None:
        return PaidSum(None, is_exact=False)
    if owed.origin == "table" and owed.value is not None and sent == owed.value * 100:
        return PaidSum(owed.value, is_exact=True, why="in_cents", sent=sent)
    if owed.origin != "table":
        return _uncompared(sent)
    for share, exact in _shares(owed):
        if stands_for(sent, exact) is not None:
            if sent == exact:
                return PaidSum(sent, is_exact=True)
            return PaidSum(exact, is_exact=True, why="of_table", sent=sent, share=share)
    return _uncompared(sent)


def _shares(owed: Amount) -> tuple[tuple[Literal[100, 80, 60], Decimal | None], ...]:
    return (100, owed.value), (80, owed.at_80), (60, owed.at_60)


def _uncompared(sent: Decimal) -> PaidSum:
    if is_whole(sent):
        return PaidSum(sent, is_exact=False, why="may_lack_cents")
    return PaidSum(sent, is_exact=True)
