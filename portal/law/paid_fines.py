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
exact.
"""

import re
from datetime import date
from decimal import Decimal
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from portal.data_files import read_words
from portal.law.deadlines import PROBABLY_DUE_DAYS
from portal.law.fine_amounts import Amount, discounted, is_whole, plausible
from portal.law.infractions import stands_for
from portal.vehicle.fines import Fine
from portal.vehicle.wire import read_moment
from portal.wording import bare, day, listed, money

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


class Payment(Struct, frozen=True):
    """Whether a fine is paid.

    The state "none" means that the record has no sign of a payment, or only an amount that settles
    nothing. ``note`` is a Portuguese explanation, or "" without any sign. ``quoted`` is the
    source's text that casts doubt on the payment, or "".
    """

    state: Literal["none", "paid", "unclear"]
    note: str = ""
    quoted: str = ""


def payment_of(fine: Fine, owed: Amount, today: date) -> Payment:
    if fine.paid_on_text.is_hidden:
        return _unclear("a fonte oculta a data do pagamento")
    # A day with a word beside it, such as "10/10/2024 ESTORNADO" ("reversed"), proves no payment.
    if fine.paid_on is None or _SOME_WORD.search(str(fine.paid_on_text)):
        return _unread(str(fine.paid_on_text)) or _without_day(fine, owed)
    stated = f"a data do pagamento ({day(fine.paid_on)})"
    if fine.paid_on > today:
        return _unclear(f"{stated} está no futuro")
    others = [each for each in (fine.registered_on, fine.notified_on, fine.penalty_on) if each]
    first = fine.committed_on or min(others, default=None)
    if first is not None and fine.paid_on < first:
        which = "à da infração" if fine.committed_on else "a todas as outras do registro"
        return _unclear(f"{stated} é anterior {which}")
    registered = read_moment(str(fine.payment_registered_on_text))
    if registered is not None and registered.date() > today:
        on = day(registered.date())
        return _unclear(f"a data do registro do pagamento ({on}) está no futuro")
    if doubt := _doubt(fine):
        why = f"a fonte traz {stated} e, mesmo assim, registra “{doubt}”"
        return replace(_unclear(why), quoted=doubt)
    sent = plausible(fine.paid_amount)
    if _is_zero(fine) and not _SAYS_PAID.search(bare(str(fine.kind))):
        return _unclear(f"a fonte traz {stated} e o valor pago de zero")
    if not _can_settle(sent, owed, plausible(fine.amount)):
        return _unclear(
            f"a fonte traz {stated} e o valor pago de {_shown(sent)}, que não quita a multa de "
            f"{_shown(owed.value)}; pode faltar o resto"
        )
    note = f"Paga em {day(fine.paid_on)}, segundo a fonte."
    if _is_zero(fine):
        note += " O valor pago consta como zero: confirme com o órgão autuador."
    elif shortfall(fine, owed):
        note += (
            " O valor pago é o do desconto, e o pagamento parece posterior ao vencimento: confirme "
            "com o órgão autuador se falta alguma diferença."
        )
    return Payment("paid", note)


def _is_zero(fine: Fine) -> bool:
    return fine.paid_amount is not None and fine.paid_amount.is_zero()


def _doubt(fine: Fine) -> str:
    """Return the first text beside the payment day that casts doubt on the payment, or ""."""
    status = _DATE_OR_CODE.sub("", _NOT_CHARGED.sub("", bare(str(fine.kind))))
    words = _WORD.findall(status)
    if not _CONSISTENT.issuperset(words) or _BEING_PAID.search(status):
        return str(fine.kind)
    if _MEANS.intersection(words) and not _NAMES_PAYMENT.search(status):
        return str(fine.kind)
    if _SOME_WORD.search(str(fine.payment_registered_on_text)):
        return str(fine.payment_registered_on_text)
    if not _OF_A_STATE.issuperset(_LETTERS.findall(bare(str(fine.paid_state)))):
        return str(fine.paid_state)
    amount = str(fine.paid_amount_text)
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


def _shown(amount: Decimal | None) -> str:
    return "" if amount is None else money(amount, 0 if is_whole(amount) else 2)


def _unread(text: str) -> Payment | None:
    words = bare(text)
    if _SOME_DIGIT.search(text) or (_SAYS_PAID.search(words) and not _SAYS_NOT.search(words)):
        return _unclear(f"a fonte traz “{text}” no lugar da data do pagamento")
    return None


def _without_day(fine: Fine, owed: Amount) -> Payment:
    traces = []
    sent = plausible(fine.paid_amount)
    # A paid amount is a sign of payment only if it is 100, 80 or 60 % of the fine (CTB, art. 284).
    if sent is not None and stands_for(sent, owed.value, owed.at_80, owed.at_60) is not None:
        traces.append(f"o valor pago ({paid_sum(sent, owed).words})")
    if _SOME_DIGIT.search(str(fine.payment_registered_on_text)):
        traces.append(f"o registro do pagamento ({fine.payment_registered_on_text})")
    if _SOME_WORD.search(str(fine.paid_state)):
        traces.append(f"a UF do pagamento ({fine.paid_state})")
    if traces:
        return _unclear(f"a fonte traz {listed(traces)}, sem a data do pagamento")
    if sent is None:
        return Payment("none")
    amount = f"o valor pago de {_shown(sent)}, sem a data do pagamento"
    return Payment("none", f"A fonte traz {amount}: segue nas somas; confirme.")


def _unclear(why: str) -> Payment:
    note = f"Não é possível dizer se foi paga: {why}. Segue nas somas; confirme."
    return Payment("unclear", note)


class PaidSum(Struct, frozen=True):
    """A paid amount.

    ``value`` is in R$, or None if the source states no plausible amount. ``is_exact`` is true if
    the cents are known. If the value differs from the sent amount, or may lack cents, ``note`` is a
    Portuguese clause that explains the value. Otherwise ``note`` is "".
    """

    value: Decimal | None
    is_exact: bool
    note: str = ""

    @property
    def words(self) -> str:
        """The amount as text: ``R$ 234,78 (80% do valor da tabela; …)``.

        Unknown cents are left out. If there is no amount, the text is "".
        """
        return f"{self.sum} ({self.note})" if self.note else self.sum

    @property
    def sum(self) -> str:
        """The amount alone: ``R$ 234,78``, or ""."""
        return "" if self.value is None else money(self.value, 2 if self.is_exact else 0)


def paid_sum(sent: Decimal | None, owed: Amount) -> PaidSum:
    """Return the paid amount. ``sent``, the source's amount in R$, may lack cents."""
    if sent is not None and sent.is_zero():
        return PaidSum(Decimal(0), is_exact=True)
    sent = plausible(sent)
    if sent is None:
        return PaidSum(None, is_exact=False)
    if owed.origin == "table" and owed.value is not None and sent == owed.value * 100:
        return PaidSum(owed.value, is_exact=True, note=f"a fonte enviou {sent:f}, em centavos")
    for share, exact in (("100%", owed.value), ("80%", owed.at_80), ("60%", owed.at_60)):
        if owed.origin == "table" and stands_for(sent, exact) is not None:
            if sent == exact:
                return PaidSum(sent, is_exact=True)
            note = f"{share} do valor da tabela; a fonte enviou {sent:f}, sem os centavos"
            return PaidSum(exact, is_exact=True, note=note)
    if is_whole(sent):
        return PaidSum(sent, is_exact=False, note="como a fonte enviou, talvez sem os centavos")
    return PaidSum(sent, is_exact=True)
