"""Compare what somebody reads on a notice of a fine with itself, the tables and the law.

A forged notice can be free of contradictions, and a real one can contain errors. No finding
therefore says that a notice is genuine. The findings follow from the assessment that the portal
makes of the source's records (``AssessedFine``).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from portal.law import deadlines
from portal.law.assessment import AssessedFine
from portal.law.authorities import LEVEL_WORDS
from portal.law.deadlines import Clock
from portal.law.infractions import check_digit
from portal.phrasebook import deadlines as say
from portal.wording import day, listed, money

_PRF = "000100"
_PRF_LETTERS = "BERT"  # the first letters of the numbers of its notices
_CODE = re.compile(r"([0-9]{3})-?([0-9])-?[0-9]?", re.ASCII)


Kind = Literal["against", "agrees", "open"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence on the notice.

    "against": the notice contradicts itself, a table or the law. "agrees": this part agrees with a
    table or the law. "open": the portal cannot tell.
    """

    kind: Kind
    sentence: str


def check_notice(fine: AssessedFine, due_on: date | None) -> tuple[Finding, ...]:
    """Return the findings on a notice. ``due_on`` is its due date, which records do not have."""
    return (
        *_authority(fine),
        *_infraction(fine),
        *_amount(fine),
        *_dates(fine, due_on),
        *_due_date(fine, due_on),
    )


def _authority(fine: AssessedFine) -> Iterator[Finding]:
    code, number = fine.record.authority_code, fine.record.notice
    found = fine.authority
    if found is None:
        if code:
            sentence = f"O código de órgão {code} não está na tabela do portal, que é de 2021."
            yield Finding("open", sentence)
        return
    yield Finding(
        "agrees",
        f"O código de órgão {code} corresponde a {found.name}, na esfera "
        f"{LEVEL_WORDS[found.level]}: confira se é este o nome impresso.",
    )
    if found.code == _PRF and number and number.value[0] not in _PRF_LETTERS:
        letters = listed([*_PRF_LETTERS], last=" ou ")
        yield Finding("against", f"Os autos da PRF começam por {letters}, e este é “{number}”.")


def _infraction(fine: AssessedFine) -> Iterator[Finding]:
    code, found = fine.record.code, fine.infraction
    if found is not None:
        points = f", {found.points} pontos" if found.points else ""
        yield Finding(
            "agrees",
            f"O código {found.printed} é de “{found.description}” ({found.citation}; "
            f"{fine.gravity_word}{points}): confira se é esta a infração descrita.",
        )
        if not any(row.current for row in found.rows):
            yield Finding("open", f"O código {found.printed} já não se usa: é de regra anterior.")
    elif match := _CODE.fullmatch(str(code)):
        root, digit, expected = match[1], match[2], check_digit(match[1])
        if digit == expected:
            sentence = f"O código {root}-{digit} não está na tabela do portal: pode ser novo."
            yield Finding("open", sentence)
        else:
            yield Finding(
                "against",
                f"O dígito do código {root}-{digit} não confere: com {root}, seria "
                f"{root}-{expected}.",
            )


def _amount(fine: AssessedFine) -> Iterator[Finding]:
    asked = fine.record.amount
    if asked is None or fine.infraction is None:
        return
    code = fine.infraction.printed
    table = replace(fine, record=replace(fine.record, amount=None)).amount
    if table.value is None:
        yield Finding("open", f"A tabela não fixa um valor único para {code}.")
    elif asked == table.value:
        yield Finding("agrees", f"{money(asked)} é o valor da tabela para {code}.")
    elif asked in (table.at_80, table.at_60):
        share = "20%" if asked == table.at_80 else "40%, só pelo SNE"
        of_code = f"{money(asked)} é o valor de {code} com desconto de {share}"
        yield Finding("agrees", f"{of_code}; o cheio é {money(table.value)}.")
    elif fine.amount.matches and fine.amount.value == asked:
        yield Finding("agrees", f"{money(asked)} cabe na tabela para {code}. {fine.amount.note}")
    elif asked == int(table.value):
        yield Finding("agrees", f"O valor da tabela para {code} é {money(table.value)}.")
    else:
        late = " Juros só há depois do vencimento." if asked > table.value else ""
        yield Finding(
            "against",
            f"Para {code}, a tabela traz {money(table.value)} (com desconto, "
            f"{money(table.at_80 or asked)} ou {money(table.at_60 or asked)}), e a notificação "
            f"pede {money(asked)}.{late}",
        )


def _dates(fine: AssessedFine, due_on: date | None) -> Iterator[Finding]:
    record, today = fine.record, fine.today
    named = {
        "da infração": record.committed_on,
        "da notificação da autuação": record.notified_on,
        "da penalidade": record.penalty_on,
    }
    ahead = [what for what, on in named.items() if on is not None and on > today]
    for what in ahead:
        yield Finding("against", f"A data {what} está no futuro.")
    if ahead:
        return
    if fine.is_nic:
        yield Finding("open", say.sentence(fine.notice))
        return
    yield from _step(fine.notice, record.committed_on, record.notified_on)
    dates = record.committed_on, record.notified_on, record.penalty_on
    early = deadlines.before_defence(*dates)
    if early is not None:
        yield Finding("against", say.before_notice() if early < 0 else say.before_defence(early))
    else:
        yield from _step(fine.penalty, record.committed_on, record.penalty_on)
    if fine.prescription.is_doubtful:
        yield Finding("open", say.sentence(fine.prescription))
    if record.penalty_on is None and record.notified_on is not None:
        yield Finding(
            "against" if due_on else "open",
            "Só com a autuação ainda não há multa a pagar: ela abre prazo para defesa, e a "
            "cobrança vem com a notificação da penalidade (arts. 281-A e 282 do CTB).",
        )


def _step(clock: Clock, start: date | None, end: date | None) -> Iterator[Finding]:
    if start is None or end is None:
        return
    is_against = clock.verdict == "late" or end < start
    kind: Kind = "against" if is_against else "open"
    yield Finding("agrees" if clock.verdict == "in_time" else kind, say.sentence(clock))


def _due_date(fine: AssessedFine, due_on: date | None) -> Iterator[Finding]:
    penalty_on = fine.record.penalty_on
    earliest = deadlines.plus_days(penalty_on, deadlines.MINIMUM_DAYS)
    if due_on is None or earliest is None or penalty_on is None:
        return
    if due_on < earliest:
        yield Finding(
            "against",
            f"O vencimento, {day(due_on)}, é antes de {deadlines.MINIMUM_DAYS} dias da penalidade: "
            f"pela lei, não pode ser antes de {day(earliest)} ({fine.appeal.article}).",
        )
    else:
        yield Finding(
            "agrees",
            f"O vencimento, {day(due_on)}, respeita o mínimo de {deadlines.MINIMUM_DAYS} dias da "
            f"penalidade ({fine.appeal.article}).",
        )
