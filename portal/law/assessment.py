"""What a fine means: official words, points, money, clocks, and whether it may be charged.

Pure: a fine and a day in, an assessment out. Nothing here raises for any fine.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Literal

from portal.law import deadlines
from portal.law.amounts import Amount, exact_amount, plausible
from portal.law.deadlines import Clock
from portal.law.infractions import GRAVITY_WORDS, Gravity, Infraction, find
from portal.law.points import Points, points_of
from portal.law.wording import bare, day
from portal.vehicle import Fine

Standing = Literal["paid", "enforceable", "due", "notice", "suspended", "unknown"]

STANDING_WORDS: dict[Standing, str] = {
    "paid": "paga",
    "enforceable": "exigível",
    "due": "no prazo de pagamento ou recurso",
    "notice": "em autuação",
    "suspended": "suspensa",
    "unknown": "situação não informada",
}
_SUSPENDING = re.compile(r"\b(SUSPENS[AO]|EFEITO SUSPENSIVO|EM RECURSO|EM DEFESA)\b")
_IN_NOTICE = re.compile(r"\bAUTUACAO\b")
_SOME_DIGIT = re.compile(r"[1-9]")


@dataclass(frozen=True, slots=True)
class FineAssessment:
    """A fine with what follows from it; every ``…_note`` is a Portuguese sentence.

    ``standing``: "enforceable" only after a recorded penalty and the shortest due date;
    "due" before that day; "notice" has no penalty on record; "unknown" is not "not owed".
    """

    code: str
    infraction: Infraction | None
    description: str
    article: str
    gravity: Gravity | None
    gravity_word: str
    points: Points
    amount: Amount
    discount_note: str
    standing: Standing
    standing_note: str
    notice: Clock
    penalty: Clock
    prior_defence: Clock
    driver_nomination: Clock
    appeal: Clock
    prescription: Clock
    committed_on: date | None

    @property
    def is_paid(self) -> bool:
        return self.standing == "paid"

    @property
    def is_open(self) -> bool:
        return not self.is_paid

    @property
    def standing_word(self) -> str:
        return STANDING_WORDS[self.standing]

    @property
    def lapses_on(self) -> date | None:
        """The earliest day on which it may prescribe; see ``prescription.sentence``."""
        return self.prescription.ends_on

    @property
    def clocks(self) -> tuple[Clock, ...]:
        return (
            self.notice,
            self.prior_defence,
            self.driver_nomination,
            self.penalty,
            self.appeal,
            self.prescription,
        )


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over the open fines; a paid one counts in ``paid_count`` alone. Money in reais.

    ``without_amount`` open fines have no known amount, so the sums are "at least" then.
    ``points`` are those that count by law; ``points_unknown`` fines leave them open.
    """

    open_count: int
    paid_count: int
    enforceable_count: int
    amount: Decimal
    amount_at_80: Decimal
    amount_at_60: Decimal
    enforceable_amount: Decimal
    without_amount: int
    points: int
    points_unknown: int
    by_gravity: tuple[tuple[str, int], ...]


def assess(fine: Fine, today: date) -> FineAssessment:
    """What is known and what follows on ``today``; careful where the record is silent."""
    infraction = find(str(fine.code))
    sent = plausible(fine.amount)
    if infraction is not None and sent is not None:
        infraction = infraction.narrowed_to(sent)
    standing, standing_note = _standing(fine, today)
    return FineAssessment(
        code=str(fine.code),
        infraction=infraction,
        description=infraction.description if infraction else str(fine.description),
        article=infraction.citation if infraction else "",
        gravity=infraction.gravity if infraction else None,
        gravity_word=infraction.gravity_word if infraction else "não identificada",
        points=points_of(infraction, fine.offender.points, fine.committed_on, today),
        amount=exact_amount(infraction, sent, fine.committed_on),
        discount_note=_discount_note(standing),
        standing=standing,
        standing_note=standing_note,
        notice=deadlines.notice_of_infraction(fine.committed_on, fine.notified_on),
        penalty=deadlines.notice_of_penalty(fine.committed_on, fine.penalty_on, today),
        prior_defence=deadlines.prior_defence(fine.notified_on, today),
        driver_nomination=deadlines.driver_nomination(fine.notified_on, today),
        appeal=deadlines.appeal(fine.penalty_on, today),
        prescription=deadlines.prescription(fine.committed_on, fine.penalty_on, today),
        committed_on=fine.committed_on,
    )


def totals(assessments: Sequence[FineAssessment]) -> Totals:
    """Sums of the open fines; discounts are what would be paid if all still had them."""
    owed = [a for a in assessments if a.is_open]
    enforceable = [a for a in owed if a.standing == "enforceable"]
    gravities = [a.gravity_word for a in owed]
    order = [*GRAVITY_WORDS.values(), "não identificada"]
    return Totals(
        open_count=len(owed),
        paid_count=len(assessments) - len(owed),
        enforceable_count=len(enforceable),
        amount=_sum(a.amount.value for a in owed),
        amount_at_80=_sum(a.amount.at_80 for a in owed),
        amount_at_60=_sum(a.amount.at_60 for a in owed),
        enforceable_amount=_sum(a.amount.value for a in enforceable),
        without_amount=sum(a.amount.value is None for a in owed),
        points=sum(a.points.counted or 0 for a in owed),
        points_unknown=sum(a.points.counted is None for a in owed),
        by_gravity=tuple((word, gravities.count(word)) for word in order if word in gravities),
    )


def _standing(fine: Fine, today: date) -> tuple[Standing, str]:
    kind = bare(str(fine.kind))
    if _states_payment(fine):
        when = f" em {day(fine.paid_on)}" if fine.paid_on else ""
        return "paid", f"Paga{when}, segundo a fonte."
    if fine.paid_on_text.is_hidden or fine.penalty_on_text.is_hidden:
        return "unknown", "Não é possível dizer se é exigível: a fonte oculta as datas."
    if _SUSPENDING.search(kind):
        return "suspended", (
            f"A fonte registra “{fine.kind}”: em regra, não pode ser cobrada enquanto durar. "
            "Confirme com o órgão autuador."
        )
    if fine.penalty_on is not None:
        return _after_penalty(fine.penalty_on, today)
    if fine.penalty_on_text:
        return "unknown", "Não é possível dizer se é exigível: a data da penalidade é ilegível."
    if fine.notified_on is not None or _IN_NOTICE.search(kind):
        return "notice", _notice_note(fine.committed_on, today)
    return "unknown", "Não é possível dizer se é exigível: faltam as datas das notificações."


def _notice_note(committed_on: date | None, today: date) -> str:
    only = "Só há notificação da autuação no registro, sem penalidade"
    limit = timedelta(days=deadlines.PENALTY_DAYS_WITH_DEFENCE)
    if committed_on is not None and today - committed_on > limit:
        return (
            f"{only}, embora tenham passado {(today - committed_on).days} dias: a data pode faltar "
            "na fonte, e não é possível dizer se já é exigível. Confirme com o órgão autuador."
        )
    return (
        f"{only}: em regra, ainda não é exigível e não bloqueia o licenciamento. "
        "Confirme com o órgão autuador."
    )


def _after_penalty(penalty_on: date, today: date) -> tuple[Standing, str]:
    if penalty_on > today:
        return "unknown", "Não é possível dizer se é exigível: a data da penalidade está no futuro."
    if today - penalty_on <= timedelta(days=deadlines.MINIMUM_DAYS):
        first = deadlines.day_of(deadlines.plus_days(penalty_on, deadlines.MINIMUM_DAYS))
        return "due", (
            f"Penalidade de {day(penalty_on)}: o vencimento, em regra, não é antes de {first}; "
            "até lá cabe recurso ou pagamento com desconto."
        )
    return "enforceable", (
        f"Penalidade de {day(penalty_on)}, com o prazo mínimo vencido: em regra, exigível, salvo "
        "recurso que a suspenda. Confirme com o órgão autuador."
    )


def _discount_note(standing: Standing) -> str:
    terms = "80 % até o vencimento; 60 % pelo SNE, sem defesa nem recurso (art. 284 do CTB)."
    match standing:
        case "paid":
            return "Já paga."
        case "enforceable":
            return (
                f"Em regra, o desconto acabou no vencimento, que o registro não traz: {terms} "
                "Depois dele, valor cheio com juros."
            )
        case _:
            return f"Em regra: {terms} O vencimento está na notificação."


def _states_payment(fine: Fine) -> bool:
    """A payment text without any digit ("00/00/0000", "NAO PAGO") states no payment day."""
    return fine.is_paid and (
        fine.paid_on is not None or bool(_SOME_DIGIT.search(str(fine.paid_on_text)))
    )


def _sum(values: Iterable[Decimal | None]) -> Decimal:
    return sum((value for value in values if value is not None), Decimal("0.00"))
