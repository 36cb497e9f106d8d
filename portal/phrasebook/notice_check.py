"""The words of the check of a received notice."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Final, assert_never

from portal.law import deadlines
from portal.law.assessment import AssessedFine
from portal.law.deadlines import Event
from portal.law.fine_amounts import NIC_DOUBLED_SINCE, at_60, at_80
from portal.law.infractions import NEW_AMOUNTS_SINCE, check_digit
from portal.law.notice_check import PRF_LETTERS, Code, Point, code_parts
from portal.phrasebook import deadlines as say
from portal.phrasebook.authorities import LEVEL_WORDS
from portal.phrasebook.fines import gravity_word
from portal.wording import day, listed, money

_OF_EVENT: Final[Mapping[Event, str]] = {
    "infraction": "da infração",
    "notice": "da notificação da autuação",
    "penalty": "da penalidade",
}
_ISSUED: Final[Mapping[Event, str]] = {
    "infraction": "infração",
    "notice": "notificação",
    "penalty": "penalidade",
}
_OF_CODE: Final[Mapping[Code, str]] = {
    "code_elsewhere": (
        "Os códigos que começam por 9, como os de produtos perigosos e da ANTT, não estão na "
        "tabela do portal: confira com o órgão."
    ),
    "only_notice": (
        "Só com a autuação ainda não há multa a pagar: ela abre prazo para defesa, e a cobrança "
        "vem com a notificação da penalidade (arts. 281-A e 282 do CTB)."
    ),
    "sne_at_notice": (
        "O valor cabe no desconto de 40% do SNE, que se paga já na autuação, por quem admite a "
        "infração e não se defende (art. 284, § 1º, do CTB): confira no aplicativo do SNE."
    ),
    "before_notice": "A data da penalidade é anterior à da notificação da autuação.",
}


def sentence(point: Point, fine: AssessedFine, due_on: date | None) -> str:
    """Say a point of the notice that ``fine`` and ``due_on`` were typed from."""
    match point.code:
        case "unknown_authority" | "authority" | "prf_number":
            return _of_authority(point, fine)
        case "infraction" | "superseded" | "unlisted_code" | "check_digit":
            return _of_infraction(point, fine)
        case "toll":
            return say.toll_note(fine)
        case "code_elsewhere" | "only_notice" | "sne_at_notice" | "before_notice":
            return _OF_CODE[point.code]
        case "in_future":
            return f"A data {_OF_EVENT[point.event]} está no futuro."
        case "before_start":
            return f"A {_ISSUED[point.event]} tem data anterior à da infração."
        case "before_defence":
            return say.before_defence(point.count)
        case "deadline":
            return say.sentence(point.deadline, "visitor") if point.deadline else ""
        case "due_early" | "due_in_time" | "due_past":
            return _of_due_date(point, fine, due_on)
        case (
            "no_single_amount"
            | "table_amount"
            | "former_amount"
            | "discount_of_20"
            | "discount_of_40"
            | "doubled"
            | "overweight"
            | "cents_cut"
            | "other_amount"
            | "nic_doubled"
            | "nic_multiplied"
            | "nic_other"
        ):
            return _of_amount(point, fine)
    assert_never(point.code)


def _of_authority(point: Point, fine: AssessedFine) -> str:
    code, body = fine.record.authority_code, fine.authority
    if point.code == "prf_number":
        letters = listed([*PRF_LETTERS], last=" ou ")
        return f"Os autos da PRF começam por {letters}, e este é “{fine.record.notice}”."
    if body is None:
        return f"O código de órgão {code} não está na tabela do portal, que é de 2021."
    return (
        f"O código de órgão {code} corresponde a {body.name}, na esfera "
        f"{LEVEL_WORDS[body.level]}: confira se é este o nome impresso."
    )


def _of_infraction(point: Point, fine: AssessedFine) -> str:
    infraction = fine.infraction
    if infraction is None:
        root, digit = code_parts(fine) or ("", "")
        if point.code == "unlisted_code":
            return f"O código {root}-{digit} não está na tabela do portal: pode ser novo."
        return (
            f"O dígito do código {root}-{digit} não confere: com {root}, seria "
            f"{root}-{check_digit(root)}."
        )
    if point.code == "superseded":
        return f"O código {infraction.printed} já não se usa: é de regra anterior."
    points = f", {infraction.points} pontos" if infraction.points else ""
    outside = ", não contados" if infraction.points and infraction.points_counted == 0 else ""
    return (
        f"O código {infraction.printed} é de “{infraction.description}” ({infraction.citation}; "
        f"{gravity_word(fine.gravity)}{points}{outside}): confira se é esta a infração descrita."
    )


def _of_amount(point: Point, fine: AssessedFine) -> str:
    asked, full = fine.record.amount or Decimal(0), point.amount or Decimal(0)
    code = fine.infraction.printed if fine.infraction else ""
    match point.code:
        case "no_single_amount":
            return f"A tabela não fixa um valor único para {code}."
        case "table_amount":
            return f"{money(asked)} é o valor da tabela para {code}."
        case "former_amount":
            return _former(point, fine)
        case "discount_of_20" | "discount_of_40":
            share = "20%" if point.code == "discount_of_20" else "40%, só pelo SNE"
            of_code = f"{money(asked)} é o valor de {code} com desconto de {share}"
            return f"{of_code}; o cheio é {money(full)}."
        case "doubled":
            return (
                f"{money(asked)} é o dobro da tabela para {code}, como na reincidência em 12 meses."
            )
        case "overweight":
            amount = money((asked - full) / point.count)
            return (
                f"{money(asked)} cabe na tabela para {code}: é a multa de {money(full)} mais "
                f"{point.count} × {amount}, um por 200 kg de excesso ou fração "
                "(art. 231, V, do CTB)."
            )
        case "cents_cut":
            return f"O valor da tabela para {code} é {money(full)}."
        case "nic_doubled" | "nic_multiplied" | "nic_other":
            return _of_nic(point, asked)
    late = " Juros só há depois do vencimento." if asked > full else ""
    return (
        f"Para {code}, a tabela traz {money(full)} (com desconto, {money(at_80(full) or asked)} "
        f"ou {money(at_60(full) or asked)}), e a notificação pede {money(asked)}.{late}"
    )


def _former(point: Point, fine: AssessedFine) -> str:
    asked, full = fine.record.amount or Decimal(0), point.amount or Decimal(0)
    code = fine.infraction.printed if fine.infraction else ""
    until = f"{money(asked)} é o valor de {code} antes de {day(NEW_AMOUNTS_SINCE)}"
    if fine.record.committed_on is None:
        return f"{until}; desde então é {money(full)}. Confira a data da infração."
    return f"{until}." if asked == full else f"{until}, e desde então é {money(full)}."


def _of_nic(point: Point, asked: Decimal) -> str:
    rule = "art. 257, § 8º, do CTB"
    if point.amount is None:
        return (
            f"A multa por não indicar o condutor é o dobro da multa original ({rule}), e "
            f"{money(asked)} não é o dobro de nenhum valor da tabela, nem com desconto."
        )
    if point.code == "nic_doubled":
        return f"{money(asked)} cabe na tabela: é o dobro de {money(point.amount)} ({rule})."
    return (
        f"{money(asked)} é {point.count} × {money(point.amount)}, como se multiplicava antes de "
        f"{day(NIC_DOUBLED_SINCE)}; desde então é o dobro ({rule})."
    )


def _of_due_date(point: Point, fine: AssessedFine, due_on: date | None) -> str:
    due, article = day(due_on or fine.today), fine.appeal.article
    if point.code == "due_past":
        return (
            f"O vencimento, {due}, já passou: em regra, não há mais desconto e pode haver juros. "
            "Peça ao órgão o valor de hoje."
        )
    if point.code == "due_early":
        earliest = deadlines.plus_days(fine.record.penalty_on, deadlines.MINIMUM_DAYS)
        return (
            f"O vencimento, {due}, é antes de {deadlines.MINIMUM_DAYS} dias da penalidade: pela "
            f"lei, não pode ser antes de {deadlines.day_of(earliest)} ({article})."
        )
    return (
        f"O vencimento, {due}, respeita o mínimo de {deadlines.MINIMUM_DAYS} dias da penalidade "
        f"({article})."
    )
