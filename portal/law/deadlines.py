"""The deadlines of a traffic fine.

The cited articles are from the CTB, the traffic code (Lei 9.503/1997), as changed by Leis
14.071/2020, 14.229/2021 and 14.304/2022. The day of a notice is the day of its issue, not of its
receipt. If the record lacks a date that a deadline needs, the verdict is "unknown".
"""

from datetime import date, timedelta
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from portal.law.office_days import next_office_day
from portal.law.rules import CONSULTED
from portal.wording import counted, day

Verdict = Literal["in_time", "late", "unknown"]

NOTICE_DAYS = 30
PENALTY_DAYS = 180
PENALTY_DAYS_WITH_DEFENCE = 360
# The shortest time that a notice may grant for a defence, an appeal or the payment. The law says
# "não inferior a trinta dias" ("not less than thirty days").
MINIMUM_DAYS = 30
# From MINIMUM_DAYS to PROBABLY_DUE_DAYS after the penalty, a fine is only "probably_due", because
# the record has no due date, and authorities often grant more than the minimum.
PROBABLY_DUE_DAYS = 60
PRESCRIPTION_YEARS = 5
# Lei 14.071/2020 came into force on this day. The law introduced the limits of 180 and 360 days for
# a penalty. It changed the gravity (severity) of the infractions in item XIII of art. 220 and in
# art. 233. It removed some infractions from the count of points on a licence.
LEI_14071_SINCE = date(2021, 4, 12)

_ADVICE = "Confirme com um profissional."
_CANNOT_TELL = "Não é possível dizer"
_LATE = "fora do prazo"
_SIGNED = (
    "salvo se o auto foi assinado na hora, o que já vale como notificação (art. 280, VI, do CTB)"
)
# The enforcement manual calls it "em flagrante" if an agent sees the infraction, whether or not the
# agent stops the vehicle. No text says whether a camera is one.
_NOT_CAUGHT = (
    "Se ninguém viu a infração na hora, os dias contam de quando o órgão soube dela (art. 282, "
    "§ 6º-A): o prazo pode ser maior."
)
_NOT_BY_ITSELF = (
    "a multa não cai sozinha: é preciso pedir ao órgão ou à Justiça. Até lá, conte com ela."
)
_RESTARTS = "cada ato do órgão, como notificar ou decidir, recomeça a conta"
_LAPSES_EARLIER = (
    "Pode vir antes, se o processo ficar 3 anos parado ou se um recurso de 2024 em diante ficar 24 "
    "meses sem decisão (arts. 285, § 6º, 289 e 289-A do CTB)."
)


class Clock(Struct, frozen=True):
    """The state of one deadline.

    ``days_used`` are the days from the start of the period to the notice or penalty. For a
    defence, an appeal or the naming of the driver, they are the days from the start until today.
    ``days_used`` and ``limit_days`` are None if unknown or if the deadline is not measured in days.
    ``ends_on`` is the last day, or None if the record's dates do not determine this day. ``brief``
    is a short form of ``sentence`` for a table row ("8 dos 30 dias": 8 of the 30 days), or "" if
    nothing can be computed.

    If the authority broke the rule, or may have broken it, ``doubt`` says so in a few words ("fora
    do prazo": late). In all other cases, ``doubt`` is "".
    """

    name: str
    verdict: Verdict
    days_used: int | None
    limit_days: int | None
    ends_on: date | None
    article: str
    sentence: str
    brief: str = ""
    doubt: str = ""


RULES_NOTE = (
    f"contados pelas datas que a fonte registra, pela lei consultada em {CONSULTED}. Onde falta "
    "uma data, não é possível dizer se o prazo foi cumprido. Na defesa, na indicação, no recurso e "
    "no pagamento, o último dia sem expediente passa ao dia útil seguinte (Res. Contran 918/2022, "
    "art. 29); feriados do município não são conhecidos. A data exata do vencimento está na "
    "notificação e pode ser posterior. A data da prescrição é uma estimativa, em regra de 5 anos: "
    f"{_RESTARTS}, e o registro não mostra todos. {_LAPSES_EARLIER} {_ADVICE}"
)
_BEFORE_DEFENCE = (
    f"A penalidade saiu antes de acabarem os {MINIMUM_DAYS} dias da defesa prévia: em princípio, é "
    f"nula, se ninguém se defendeu antes (arts. 281-A e 282 do CTB). Mas {_NOT_BY_ITSELF} "
    f"{_ADVICE}"
)


def notice_of_infraction(committed_on: date | None, notified_on: date | None, today: date) -> Clock:
    """Check that the infraction notice was issued within 30 days of the infraction."""
    article, ends_on = "art. 281, § 1º, II, do CTB", plus_days(committed_on, NOTICE_DAYS)
    clock = Clock("Notificação da autuação", "unknown", None, NOTICE_DAYS, ends_on, article, "")
    used = _days_between(committed_on, notified_on)
    if used is None:
        missing = "infração" if committed_on is None else "notificação"
        text = f"{_CANNOT_TELL} se a notificação saiu no prazo: {_no_day(missing)}."
        return replace(clock, sentence=text)
    if future := _in_future(today, ("infração", committed_on), ("notificação", notified_on)):
        return replace(clock, ends_on=None, sentence=future)
    if used <= NOTICE_DAYS:
        return _measured(clock, "Notificação", used)
    text = (
        f"Notificação emitida {_days(used)} depois da infração; o limite é de {NOTICE_DAYS} "
        f"({article}). Em regra, o registro deveria ser arquivado, {_SIGNED}. Mas {_NOT_BY_ITSELF} "
        f"{_ADVICE}"
    )
    return replace(
        clock, verdict="late", days_used=used, sentence=text, brief=_days(used), doubt=_LATE
    )


def _measured(clock: Clock, what: str, used: int) -> Clock:
    """Judge a step that came in time, or before the infraction."""
    if used < 0:
        text = f"{_CANNOT_TELL}: a data da {what.lower()} é anterior à da infração."
        return replace(clock, sentence=text)
    brief = f"{used} dos {clock.limit_days} dias"
    text = f"{what} emitida em {brief} ({clock.article}): dentro do prazo, pelas datas registradas."
    return replace(clock, verdict="in_time", days_used=used, sentence=text, brief=brief)


def notice_of_penalty(
    committed_on: date | None,
    penalty_on: date | None,
    today: date,
    notified_on: date | None = None,
) -> Clock:
    """Check that the penalty was issued within 180 or 360 days of the infraction.

    The limit is 360 days if a defence was filed before the penalty. The record does not state
    whether a defence was filed. If the penalty was issued after 181 to 360 days, the verdict is
    therefore "unknown".
    """
    name, article = "Notificação da penalidade", "art. 282, §§ 6º e 7º, do CTB"
    ends_on = plus_days(committed_on, PENALTY_DAYS)
    both = f"{PENALTY_DAYS} dias, ou {PENALTY_DAYS_WITH_DEFENCE} se houve defesa prévia"
    clock = Clock(name, "unknown", None, PENALTY_DAYS, ends_on, article, "")
    if committed_on is None:
        return replace(clock, sentence=f"{_CANNOT_TELL}: {_no_day('infração')}.")
    if committed_on < LEI_14071_SINCE:
        text = (
            f"{_CANNOT_TELL}: o limite de {PENALTY_DAYS} ou {PENALTY_DAYS_WITH_DEFENCE} dias "
            f"({article}) vale desde {day(LEI_14071_SINCE)}, e a infração é anterior."
        )
        return replace(clock, limit_days=None, ends_on=None, sentence=text)
    if penalty_on is None:
        waited = (today - committed_on).days
        if waited < 0:
            text = "A data da infração está no futuro."
        elif waited <= PENALTY_DAYS:
            until = day_of(ends_on)
            text = f"O prazo é de {both} ({article}); em regra corre ao menos até {until}."
        else:
            text = (
                f"{_days(waited)} sem multa; o prazo é de {both} ({article}). {_NOT_CAUGHT} "
                f"{_ADVICE}"
            )
        return replace(clock, sentence=f"{_CANNOT_TELL}: {_no_day('penalidade')}. {text}")
    if future := _in_future(today, ("infração", committed_on), ("penalidade", penalty_on)):
        return replace(clock, ends_on=None, sentence=future)
    used = (penalty_on - committed_on).days
    if used >= 0 and (text := before_defence(committed_on, notified_on, penalty_on)):
        if notified_on is not None and penalty_on < notified_on:
            return replace(clock, sentence=f"{_CANNOT_TELL}: {text[0].lower()}{text[1:]}")
        return replace(clock, days_used=used, sentence=text, doubt="antes do fim da defesa")
    if used <= PENALTY_DAYS:
        return _measured(clock, "Penalidade", used)
    longer = replace(
        clock,
        days_used=used,
        limit_days=PENALTY_DAYS_WITH_DEFENCE,
        ends_on=plus_days(committed_on, PENALTY_DAYS_WITH_DEFENCE),
        brief=_days(used),
    )
    since = f"Penalidade emitida {_days(used)} depois da infração"
    if used <= PENALTY_DAYS_WITH_DEFENCE:
        text = (
            f"{since}. O prazo é de {both} ({article}), e o registro não diz se houve. Se saiu "
            f"tarde, {_NOT_BY_ITSELF} {_NOT_CAUGHT} {_ADVICE}"
        )
        return replace(longer, sentence=text, doubt="no prazo só com defesa prévia")
    text = (
        f"{since}, além dos {both} ({article}). Em regra, o direito de aplicá-la já teria se "
        f"perdido. Mas {_NOT_BY_ITSELF} {_NOT_CAUGHT} {_ADVICE}"
    )
    return replace(longer, verdict="late", sentence=text, doubt=_LATE)


def before_defence(
    committed_on: date | None, notified_on: date | None, penalty_on: date | None
) -> str:
    """Return a sentence on a penalty before the notice or the end of the prior defence, or "".

    The defence has MINIMUM_DAYS for infractions since LEI_14071_SINCE (art. 281-A of the CTB).
    """
    used = _days_between(notified_on, penalty_on)
    if used is None or used >= MINIMUM_DAYS:
        return ""
    if used < 0:
        return "A data da penalidade é anterior à da notificação da autuação."
    if committed_on is not None and committed_on < LEI_14071_SINCE:
        return ""
    return f"Penalidade emitida {_days(used)} depois da notificação da autuação. {_BEFORE_DEFENCE}"


def prior_defence(notified_on: date | None, today: date, state: str = "") -> Clock:
    """Return the deadline of the prior defence, at least 30 days after the notice.

    ``state`` is the authority's state, whose holidays count.
    """
    return _at_least("Defesa prévia", "art. 281-A do CTB", "notificação", notified_on, today, state)


def appeal(penalty_on: date | None, today: date, state: str = "") -> Clock:
    """Return the deadline of the appeal to JARI (the appeals board).

    This deadline is also the fine's due date. It is 30 days or more after the notice of penalty.
    """
    article = "art. 282, §§ 4º e 5º, do CTB"
    return _at_least("Recurso à JARI e vencimento", article, "penalidade", penalty_on, today, state)


def driver_nomination(notified_on: date | None, today: date, state: str = "") -> Clock:
    """Return the deadline to name the driver, 30 days after the infraction notice."""
    article = "art. 257, § 7º, do CTB"
    clock = _at_least("Indicação do condutor", article, "notificação", notified_on, today, state)
    if clock.days_used is None:
        return clock
    is_over = clock.verdict != "in_time"
    text = (
        f"Em regra, {'terminou em' if is_over else 'ao menos até'} {day_of(clock.ends_on)}, se o "
        f"condutor não foi identificado na abordagem ({MINIMUM_DAYS} dias da notificação, "
        f"{article})."
    )
    return replace(clock, verdict="late" if is_over else "in_time", sentence=text)


def prescription(
    committed_on: date | None, penalty_on: date | None, today: date, state: str = ""
) -> Clock:
    """Return the limitation period for punishment or collection, usually five years.

    The period to punish starts at the infraction. The period to collect starts when no appeal is
    possible any more, at the earliest on the last day of ``appeal`` (Lei 9.873/1999, arts. 1º and
    1º-A; Resolução CONTRAN 723/2018, art. 24). A period of years ends on the day of its date, with
    or without office hours: the rule on working days is for what a person has to do in time.

    The true end may differ from ``ends_on`` for reasons that the record does not show. Acts of the
    authority restart the period. Three years without any act in the case end the period early (Lei
    9.873/1999, art. 1º, § 1º). Since 1 January 2024, 24 months without a decision on an appeal have
    the same effect (CTB, § 6º of art. 285, and arts. 289 and 289-A).
    """
    article = "Lei 9.873/1999"
    clock = Clock("Prescrição", "unknown", None, None, None, article, "")
    start = last_day(penalty_on, MINIMUM_DAYS, state) if penalty_on else committed_on
    ends_on = plus_years(start, PRESCRIPTION_YEARS)
    if start is None or ends_on is None:
        text = f"{_CANNOT_TELL} quando prescreve: o registro não diz as datas."
        return replace(clock, sentence=text)
    if future := _in_future(today, ("infração", committed_on), ("penalidade", penalty_on)):
        return replace(clock, sentence=future)
    what = "cobrar" if penalty_on else "punir"
    since = "do fim do processo, se não houve recurso" if penalty_on else "da infração"
    if today <= ends_on:
        text = (
            f"O prazo para {what} é, em regra, de {PRESCRIPTION_YEARS} anos ({article}): contados "
            f"{since}, em {day(ends_on)}. A data pode mudar: {_RESTARTS}. {_LAPSES_EARLIER} Para "
            "órgãos de estados e municípios, discute-se se vale essa lei."
        )
        brief = f"em regra, em {day(ends_on)}"
        return replace(clock, verdict="in_time", ends_on=ends_on, sentence=text, brief=brief)
    text = (
        f"Os {PRESCRIPTION_YEARS} anos para {what}, contados {since}, passaram em {day(ends_on)} "
        f"({article}). Pode ter prescrito, se nada interrompeu o prazo. Mas {_NOT_BY_ITSELF} "
        f"{_ADVICE}"
    )
    brief = f"os {PRESCRIPTION_YEARS} anos passaram em {day(ends_on)}"
    return replace(clock, ends_on=ends_on, sentence=text, brief=brief, doubt="pode ter prescrito")


def not_judged(clock: Clock) -> Clock:
    """Set the verdict to "unknown" for a NIC, a fine for not naming the driver.

    The record of a NIC does not say whether its dates belong to the NIC or to the infraction whose
    driver was not named.
    """
    text = (
        f"{_CANNOT_TELL}: na multa por não indicar o condutor (art. 257, § 8º, do CTB), o registro "
        "não diz se as datas são dela ou da infração original."
    )
    return replace(
        clock, verdict="unknown", days_used=None, ends_on=None, sentence=text, brief="", doubt=""
    )


def last_day(start: date | None, days: int, state: str = "") -> date | None:
    """Return the earliest last day of a period for a defence, an appeal or a payment.

    The first day is excluded. A last day without office hours moves to the next working day.
    Returns None if ``start`` is None or the result exceeds ``date.max``.
    """
    ends_on = plus_days(start, days)
    try:
        return None if ends_on is None else next_office_day(ends_on, state)
    except OverflowError:
        return None


def plus_days(start: date | None, days: int) -> date | None:
    """Add days. Return None if ``start`` is None or the result exceeds ``date.max``."""
    try:
        return None if start is None else start + timedelta(days=days)
    except OverflowError:
        return None


def plus_years(start: date | None, years: int) -> date | None:
    """Add years. 29 February becomes 1 March if the later year lacks 29 February.

    The rule is art. 132, § 3º, of the Código Civil (civil code). Returns None if ``start`` is None
    or the result exceeds ``date.max``.
    """
    if start is None or start.year + years > date.max.year:
        return None
    try:
        return start.replace(year=start.year + years)
    except ValueError:
        return date(start.year + years, 3, 1)


def day_of(value: date | None) -> str:
    return "data desconhecida" if value is None else day(value)


def _in_future(today: date, *days: tuple[str, date | None]) -> str:
    for what, value in days:
        if value is not None and value > today:
            return f"{_CANNOT_TELL}: a data da {what} está no futuro."
    return ""


def _days_between(start: date | None, end: date | None) -> int | None:
    return None if start is None or end is None else (end - start).days


def _no_day(what: str) -> str:
    """Return a clause that says that a day is missing, hidden or unreadable.

    The page shows the field of the day, so the clause need not say which of the three applies.
    """
    return f"o registro não diz a data da {what}"


def _days(used: int) -> str:
    return counted(used, "dia", "dias")


def _at_least(
    name: str, article: str, since: str, start: date | None, today: date, state: str
) -> Clock:
    ends_on, used = last_day(start, MINIMUM_DAYS, state), _days_between(start, today)
    clock = Clock(name, "unknown", None, MINIMUM_DAYS, ends_on, article, "")
    if used is None or used < 0:
        future = _in_future(today, (since, start))
        return replace(clock, sentence=future or f"{_CANNOT_TELL}: {_no_day(since)}.")
    if ends_on is None or today <= ends_on:
        text = (
            f"Em regra, ainda há prazo: ao menos até {day_of(ends_on)} ({article}); "
            "a data exata está na notificação."
        )
        brief = f"ao menos até {day(ends_on)}" if ends_on else ""
        return replace(clock, verdict="in_time", days_used=used, sentence=text, brief=brief)
    text = (
        f"O prazo mínimo de {MINIMUM_DAYS} dias terminou em {day_of(ends_on)} ({article}); "
        "a data exata está na notificação e pode ser posterior."
    )
    brief = f"prazo mínimo até {day(ends_on)}" if ends_on else ""
    return replace(clock, days_used=used, sentence=text, brief=brief)
