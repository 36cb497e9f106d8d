"""The words of a fine's deadlines: a sentence, a few words for a row, and a doubt."""

from collections.abc import Mapping
from typing import Final, Literal, assert_never

from portal.law.assessment import AssessedFine
from portal.law.deadlines import (
    LEI_14071_SINCE,
    MINIMUM_DAYS,
    PENALTY_DAYS,
    PENALTY_DAYS_WITH_DEFENCE,
    PRESCRIPTION_YEARS,
    Deadline,
    Event,
    Step,
    Why,
    day_of,
)
from portal.law.infractions import TOLL_UNTIL
from portal.law.running_deadlines import DeadlineName, RunningDeadline
from portal.phrasebook.rules import CONSULTED
from portal.wording import counted, day

_NAMES: Final[Mapping[Step, str]] = {
    "notice": "Notificação da autuação",
    "penalty": "Notificação da penalidade",
    "prior_defence": "Defesa prévia",
    "driver_nomination": "Indicação do condutor",
    "appeal": "Recurso à JARI e vencimento",
    "prescription": "Prescrição",
}
_EVENTS: Final[Mapping[Event, str]] = {
    "infraction": "infração",
    "notice": "notificação",
    "penalty": "penalidade",
}
_DOUBTS: Final[Mapping[Why, str]] = {
    "late": "fora do prazo",
    "before_defence": "antes do fim da defesa",
    "only_with_defence": "no prazo só com defesa prévia",
    "may_have_lapsed": "pode ter prescrito",
}
_ADVICE: Final = "Confirme com um profissional."
_CANNOT_TELL: Final = "Não é possível dizer"
_BOTH: Final = f"{PENALTY_DAYS} dias, ou {PENALTY_DAYS_WITH_DEFENCE} se houve defesa prévia"
_SIGNED: Final = (
    "salvo se o auto foi assinado na hora, o que já vale como notificação (art. 280, VI, do CTB)"
)
# The enforcement manual calls it "em flagrante" if an agent sees the infraction, whether or not the
# agent stops the vehicle. No text says whether a camera is one.
_NOT_CAUGHT: Final = (
    "Se ninguém viu a infração na hora, os dias contam de quando o órgão soube dela (art. 282, "
    "§ 6º-A): o prazo pode ser maior."
)
_NOT_BY_ITSELF: Final = (
    "a multa não cai sozinha: é preciso pedir ao órgão ou à Justiça. Até lá, conte com ela."
)
_RESTARTS: Final = "cada ato do órgão, como notificar ou decidir, recomeça a conta"
_LAPSES_EARLIER: Final = (
    "Pode vir antes, se o processo ficar 3 anos parado ou se um recurso de 2024 em diante ficar 24 "
    "meses sem decisão (arts. 285, § 6º, 289 e 289-A do CTB)."
)
RULES_NOTE: Final = (
    f"contados pelas datas que a fonte registra, pela lei consultada em {CONSULTED}. Onde falta "
    "uma data, não é possível dizer se o prazo foi cumprido. Na defesa, na indicação, no recurso e "
    "no pagamento, o último dia sem expediente passa ao dia útil seguinte (Res. Contran 918/2022, "
    "art. 29); feriados do município não são conhecidos. A data exata do vencimento está na "
    "notificação e pode ser posterior. A data da prescrição é uma estimativa, em regra de 5 anos: "
    f"{_RESTARTS}, e o registro não mostra todos. {_LAPSES_EARLIER} {_ADVICE}"
)
_BEFORE_NOTICE: Final = "data da penalidade é anterior à da notificação da autuação."
_BEFORE_DEFENCE: Final = (
    f"A penalidade saiu antes de acabarem os {MINIMUM_DAYS} dias da defesa prévia: em princípio, é "
    f"nula, se ninguém se defendeu antes (arts. 281-A e 282 do CTB). Mas {_NOT_BY_ITSELF} "
    f"{_ADVICE}"
)
_NIC: Final = (
    f"{_CANNOT_TELL}: na multa por não indicar o condutor (art. 257, § 8º, do CTB), {{unsaid}} se "
    "as datas são dela ou da infração original."
)
_BY_CODE: Final = "Pelo código, é multa de pedágio, e a descrição é de outra infração. "
_TOLL: Final = (
    "Antes de pagar a multa, confira se ainda vale quitar só o pedágio: anunciou-se em março de "
    f"2026 que isso, até {day(TOLL_UNTIL)}, tiraria a multa e os pontos. A tarifa é outra dívida."
)
# Who told the dates: the source in a record, or the visitor in a form.
Teller = Literal["source", "visitor"]
_DATES: Final[Mapping[Teller, str]] = {
    "source": "pelas datas registradas",
    "visitor": "pelas datas que você digitou",
}
_UNSAID: Final[Mapping[Teller, str]] = {"source": "o registro não diz", "visitor": "não se sabe"}


_TITLES: Final[Mapping[DeadlineName, str]] = {
    "toll": "talvez o último dia para quitar só o pedágio; confira se ainda vale",
    "notice": "limite para expedir a notificação da autuação",
    "prior_defence": "último dia, no mínimo, para a defesa prévia",
    "driver_nomination": "último dia, no mínimo, para indicar o condutor",
    "penalty": "limite para aplicar a penalidade, se não houve defesa",
    "appeal": "último dia, no mínimo, para recorrer ou pagar com desconto",
    "prescription": "em regra, prescreve",
}


def name(deadline: Deadline) -> str:
    return _NAMES[deadline.step]


def title(running: RunningDeadline) -> str:
    """Say what ends on the last day of a deadline that runs."""
    return _TITLES[running.name]


def doubt(deadline: Deadline) -> str:
    """Say in a few words that the authority broke a rule, or may have, or return ""."""
    if deadline.why in ("standstill", "standstill_awaited"):
        return f"prazo afetado pela {deadline.act}, confirme"
    return _DOUBTS.get(deadline.why, "")


def brief(deadline: Deadline) -> str:
    """Say a deadline in a row of a table (``8 dos 30 dias``), or "" if nothing is known."""
    match deadline.why:
        case "in_time":
            return f"{deadline.days_used} dos {deadline.limit_days} dias"
        case "late" | "only_with_defence" if deadline.days_used is not None:
            return _days(deadline.days_used)
        case "running" if deadline.ends_on:
            return f"ao menos até {day(deadline.ends_on)}"
        case "minimum_over" if deadline.ends_on:
            return f"o prazo mínimo passou em {day(deadline.ends_on)}"
        case "lapse_ahead":
            return f"em regra, em {day_of(deadline.ends_on)}"
        case "may_have_lapsed":
            return f"os {PRESCRIPTION_YEARS} anos passaram em {day_of(deadline.ends_on)}"
    return ""


def short(deadline: Deadline) -> str:
    """Say a deadline that was met in a narrow column: ``dia 22``."""
    return f"dia {deadline.days_used}" if deadline.why == "in_time" else ""


def sentence(deadline: Deadline, told_by: Teller = "source") -> str:
    """Say a deadline, what follows from it, and its article."""
    if deadline.why == "nic":
        return _NIC.format(unsaid=_UNSAID[told_by])
    if deadline.why == "not_caught":
        return _not_caught(deadline)
    if deadline.why == "in_future":
        return f"{_CANNOT_TELL}: a data da {_EVENTS[deadline.event]} está no futuro."
    if deadline.why == "before_start":
        return f"{_CANNOT_TELL}: a data da {_EVENTS[deadline.event]} é anterior à da infração."
    match deadline.step:
        case "notice":
            return _of_notice(deadline, told_by)
        case "penalty":
            return _of_penalty(deadline, told_by)
        case "prescription":
            return _of_lapse(deadline)
        case "driver_nomination" if deadline.why != "no_date":
            return _of_nomination(deadline)
        case "prior_defence" | "driver_nomination" | "appeal":
            return _at_least(deadline)
    assert_never(deadline.step)


def toll_note(fine: AssessedFine) -> str:
    """Say that only the toll may be owed, if its fine can still be ended so."""
    return f"{_BY_CODE}{_TOLL}" if fine.wording.conflict else _TOLL


def before_defence(days: int) -> str:
    """Say that a penalty came ``days`` days after the notice, before the end of the defence."""
    when = f"{_days(days)} depois da notificação da autuação."
    if not days:
        when = "no mesmo dia da notificação da autuação: a fonte pode ter repetido uma data."
    return f"Penalidade emitida {when} {_BEFORE_DEFENCE}"


def _not_caught(deadline: Deadline) -> str:
    what = "A notificação" if deadline.step == "notice" else "A penalidade"
    since = f"{what} saiu {_days(deadline.days)} depois da data registrada"
    if not deadline.days:
        since = f"{what} pode sair depois do prazo contado da data registrada"
    return (
        f"{_CANNOT_TELL}: esta infração só se descobre depois, e o prazo conta de quando o órgão "
        f"soube dela (art. 282, § 6º-A, do CTB), dia que o registro não traz. {since}."
    )


def _of_notice(deadline: Deadline, told_by: Teller) -> str:
    if deadline.why == "no_date":
        return f"{_CANNOT_TELL} se a notificação saiu no prazo: {_no_day(deadline.event)}."
    if deadline.why == "in_time":
        return _in_time("Notificação", deadline, told_by)
    if deadline.why == "standstill":
        return _stood_still("Notificação", "a notificação", deadline)
    return (
        f"Notificação emitida {_days(deadline.days_used)} depois da infração; o limite é de "
        f"{deadline.limit_days} ({deadline.article}). Em regra, o registro deveria ser arquivado, "
        f"{_SIGNED}. Mas {_NOT_BY_ITSELF} {_ADVICE}"
    )


def _of_penalty(deadline: Deadline, told_by: Teller) -> str:
    match deadline.why:
        case "no_date":
            return f"{_CANNOT_TELL}: {_no_day(deadline.event)}."
        case "before_law":
            return (
                f"{_CANNOT_TELL}: o limite de {PENALTY_DAYS} ou {PENALTY_DAYS_WITH_DEFENCE} dias "
                f"({deadline.article}) vale desde {day(LEI_14071_SINCE)}, e a infração é anterior."
            )
        case "awaited" | "awaited_long" | "infraction_ahead":
            return f"{_CANNOT_TELL}: {_no_day('penalty')}. {_awaited(deadline)}"
        case "before_notice":
            return f"{_CANNOT_TELL}: a {_BEFORE_NOTICE}"
        case "before_defence":
            return before_defence(deadline.days)
        case "in_time":
            return _in_time("Penalidade", deadline, told_by)
        case "standstill":
            return _stood_still("Penalidade", "a penalidade", deadline)
        case "standstill_awaited":
            return (
                f"{_CANNOT_TELL}: {_no_day('penalty')}. São {_days(deadline.days)} sem multa, e o "
                f"prazo ({deadline.article}) foi afetado pela {deadline.act}. {_ADVICE}"
            )
    since = f"Penalidade emitida {_days(deadline.days_used)} depois da infração"
    if deadline.why == "only_with_defence":
        return (
            f"{since}. O prazo é de {_BOTH} ({deadline.article}), e {_UNSAID[told_by]} se houve. "
            f"Se saiu tarde, {_NOT_BY_ITSELF} {_NOT_CAUGHT} {_ADVICE}"
        )
    return (
        f"{since}, além dos {_BOTH} ({deadline.article}). Em regra, o direito de aplicá-la já "
        f"teria se perdido. Mas {_NOT_BY_ITSELF} {_NOT_CAUGHT} {_ADVICE}"
    )


def _awaited(deadline: Deadline) -> str:
    match deadline.why:
        case "infraction_ahead":
            return "A data da infração está no futuro."
        case "awaited":
            until = day_of(deadline.ends_on)
            return (
                f"O prazo é de {_BOTH} ({deadline.article}); em regra corre ao menos até {until}."
            )
    return (
        f"{_days(deadline.days)} sem multa; o prazo é de {_BOTH} ({deadline.article}). "
        f"{_NOT_CAUGHT} {_ADVICE}"
    )


def _in_time(what: str, deadline: Deadline, told_by: Teller) -> str:
    in_time = f"dentro do prazo, {_DATES[told_by]}"
    return f"{what} emitida em {brief(deadline)} ({deadline.article}): {in_time}."


def _stood_still(what: str, named: str, deadline: Deadline) -> str:
    return (
        f"{what} emitida {_days(deadline.days)} depois da infração. {_CANNOT_TELL} se {named} saiu "
        f"a tempo: o prazo ({deadline.article}) foi afetado pela {deadline.act}. {_ADVICE}"
    )


def _affected(deadline: Deadline) -> str:
    return f"; prazo afetado pela {deadline.act}, confirme" if deadline.act else ""


def _at_least(deadline: Deadline) -> str:
    match deadline.why:
        case "no_date":
            return f"{_CANNOT_TELL}: {_no_day(deadline.event)}."
        case "running":
            return (
                f"Em regra, ainda há prazo: ao menos até {day_of(deadline.ends_on)} "
                f"({deadline.article}){_affected(deadline)}; a data exata está na notificação."
            )
    return (
        f"O prazo mínimo de {MINIMUM_DAYS} dias terminou em {day_of(deadline.ends_on)} "
        f"({deadline.article}){_affected(deadline)}; a data exata está na notificação e pode ser "
        "posterior."
    )


def _of_nomination(deadline: Deadline) -> str:
    when = "ao menos até" if deadline.why == "running" else "terminou em"
    return (
        f"Em regra, {when} {day_of(deadline.ends_on)}, se o condutor não foi identificado na "
        f"abordagem ({MINIMUM_DAYS} dias da notificação, {deadline.article}){_affected(deadline)}."
    )


def _of_lapse(deadline: Deadline) -> str:
    if deadline.why == "no_date":
        return f"{_CANNOT_TELL} quando prescreve: o registro não diz as datas."
    is_penalty = deadline.event == "penalty"
    what = "cobrar" if is_penalty else "punir"
    since = "do fim do processo, se não houve recurso" if is_penalty else "da infração"
    ends_on = day_of(deadline.ends_on)
    if deadline.why == "lapse_ahead":
        return (
            f"O prazo para {what} é, em regra, de {PRESCRIPTION_YEARS} anos ({deadline.article}): "
            f"contados {since}, em {ends_on}. A data pode mudar: {_RESTARTS}. {_LAPSES_EARLIER} "
            "Para órgãos de estados e municípios, discute-se se vale essa lei."
        )
    return (
        f"Os {PRESCRIPTION_YEARS} anos para {what}, contados {since}, passaram em {ends_on} "
        f"({deadline.article}). Pode ter prescrito, se nada interrompeu o prazo. Mas "
        f"{_NOT_BY_ITSELF} {_ADVICE}"
    )


def _no_day(event: Event) -> str:
    """Return a clause that says that a day is missing, hidden or unreadable.

    The page shows the field of the day, so the clause need not say which of the three applies.
    """
    return f"o registro não diz a data da {_EVENTS[event]}"


def _days(used: int | None) -> str:
    return counted(used or 0, "dia", "dias")
