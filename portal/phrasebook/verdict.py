"""The words of a verdict: its finding, its caveat, its headline, and its few words in a list."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final, assert_never

from portal.law.act_matrix import VerdictPart
from portal.law.findings import (
    AdverseData,
    CourtOrders,
    DataConflict,
    DeclarationsUnread,
    DeclaredSomething,
    FinesInStanding,
    ReportAlert,
    SeenDifference,
    UnreadData,
    Warned,
)
from portal.law.verdict import Cause, Verdict
from portal.phrasebook.findings import (
    clause,
    consequence,
    paid_short_brief,
    sentence,
    subject_words,
    warning_brief,
)
from portal.phrasebook.orders import kinds_words
from portal.wording import listed, moment

# Each text begins with an article, so that it can be the object or the subject of a sentence, as in
# "consultar as multas" ("look up the fines").
MISSING_WORDS: Final[Mapping[VerdictPart, str]] = {
    "decode": "os dados do veículo",
    "fines": "as multas",
    "restrictions": "as restrições judiciais",
}
_LOOKUPS: Final[Mapping[VerdictPart, str]] = {
    "decode": "Dados do veículo",
    "fines": "Multas",
    "restrictions": "Restrições judiciais",
}
_SHORT_LOOKUPS: Final[Mapping[VerdictPart, str]] = {
    "decode": "o veículo",
    "fines": "as multas",
    "restrictions": "a Justiça",
}
WRONG_CHECK_DIGIT: Final = "o dígito verificador do Renavam não confere"
# It does not say "can be transferred", because the lookups do not cover the most frequent
# obstacles to a transfer (_STILL_MISSING).
_NOTHING_FOUND: Final = "Nenhuma multa em aberto nem restrição judicial encontrada"
_STILL_MISSING: Final = "falta verificar IPVA, financiamento, roubo e furto"
_NOTHING_OF: Final[Mapping[VerdictPart, str]] = {
    "fines": "Nenhuma multa em aberto encontrada",
    "restrictions": "Nenhuma restrição judicial encontrada",
}
UNREAD: Final = "Linhas declaradas não lidas"
_SHORT: Final[Mapping[Cause, str]] = {
    "identification": "Identificação do veículo em dúvida",
    "condition": "Situação do veículo a confirmar",
    "order_in_doubt": "Restrição judicial a confirmar",
    "premonitory_note": "O credor pode desfazer a compra",
    "enforceable": "Só após pagar as multas",
    "open_fine": "Multa em aberto a confirmar",
    "notice": "Multa em aberto a confirmar",
    "paid_short": paid_short_brief(),
    "called_off": "Multa cancelada, a confirmar",
    "declared_unread": UNREAD,
    "stale": "Nada encontrado, em resposta antiga",
    "nothing": "Nada encontrado em multas e Justiça",
}
ALL_MISSING: Final = "Sem resposta"
NOTHING_FOUND_BEFORE: Final = _SHORT["stale"]


def finding(verdict: Verdict) -> str:
    """Return the verdict without its caveat: ``Não pode ser transferido agora``."""
    match verdict.cause:
        case "blocked":
            return _blocked(verdict)
        case "gap":
            return _missing(verdict) if verdict.unavailable else "Verificação incompleta"
        case (
            "identification"
            | "condition"
            | "report"
            | "report_note"
            | "declared"
            | "declared_note"
            | "declared_unread"
            | "paid_short"
        ):
            assert verdict.decisive is not None
            return clause(verdict.decisive)
        case "order_in_doubt":
            return "Há restrição judicial de situação incerta"
        case "premonitory_note":
            return "Há averbação premonitória"
        case "enforceable":
            assert isinstance(verdict.decisive, FinesInStanding)
            is_one = len(verdict.decisive.fines) == 1
            what = "paga a multa" if is_one else "pagas as multas"
            return f"Em regra, só transfere depois de {what}"
        case "open_fine":
            return "Há multa em aberto"
        case "notice":
            return "Há autuação, ainda sem multa"
        case "called_off":
            return "Há multa que a fonte dá como cancelada"
        case "stale" | "nothing":
            return _nothing(verdict)
    assert_never(verdict.cause)


def caveat(verdict: Verdict) -> str:
    """Return a clause on what the finding leaves open, or ""."""
    of_cause = _caveat(verdict)
    if not verdict.asked:
        return of_cause
    is_nothing = verdict.cause in ("stale", "nothing")
    names_lookups = is_nothing and not _judged(verdict)
    chosen = "" if names_lookups else f"consulta só de {_asked(verdict)}"
    return "; ".join(filter(None, (of_cause, chosen)))


def headline(verdict: Verdict) -> str:
    left_open = caveat(verdict)
    return f"{finding(verdict)}; {left_open}" if left_open else finding(verdict)


def short(verdict: Verdict) -> str:
    """Return the verdict in the few words of a list."""
    match verdict.cause:
        case "blocked":
            return _short_of_blocked(verdict)
        case "gap":
            return _short_of_gap(verdict)
        case "report" | "report_note" | "declared" | "declared_note":
            assert isinstance(verdict.decisive, Warned)
            return warning_brief(verdict.decisive)
        case "condition" if isinstance(verdict.decisive, AdverseData):
            return f"A fonte aponta {subject_words(verdict.decisive.subject)}"
    if verdict.level == "limited":
        return headline(verdict)
    return _SHORT[verdict.cause]


def notices(verdict: Verdict) -> tuple[str, ...]:
    """Return one sentence for each stale (old) answer."""
    return tuple(f"{_LOOKUPS[part]}: {as_of(at)}." for part, at in verdict.gaps.stale.items())


def no_ceiling(verdict: Verdict) -> str:
    """Say why no price may be suggested to a buyer, or return ""."""
    if verdict.level == "blocked":
        return _after_lifting(verdict)
    orders = (one for one in verdict.reasons if isinstance(one, CourtOrders))
    match ended_by := next(orders, verdict.ends_ceiling):
        case None:
            return _no_records(verdict)
        case CourtOrders():
            return f"{': '.join(_order_doubt(ended_by))}."
        case (
            AdverseData()
            | UnreadData()
            | DataConflict()
            | ReportAlert()
            | DeclaredSomething()
            | SeenDifference()
            | DeclarationsUnread()
        ):
            return sentence(ended_by)
        case _:
            return "A identificação do veículo está em dúvida: faça a perícia antes."


def _no_records(verdict: Verdict) -> str:
    """Say that fines or court orders are not known, or return ""."""
    gone = [MISSING_WORDS[part] for part in verdict.unavailable if part in _NOTHING_OF]
    if gone:
        return f"Falta consultar {listed(gone)}."
    unclear = not_confirmed(tuple(part for part in verdict.gaps.unclear if part in _NOTHING_OF))
    return f"{unclear[0].upper()}{unclear[1:]}." if unclear else ""


def _after_lifting(verdict: Verdict) -> str:
    orders = [one.orders[0] for one in verdict.reasons if isinstance(one, CourtOrders)]
    if any(order.is_of_judge for order in orders):
        return "Só depois da baixa da restrição judicial, conferida no processo e no Detran."
    kinds = listed(list(dict.fromkeys(kinds_words(order.effect.kinds) for order in orders)))
    return f"Só depois da baixa, conferida no Detran: {kinds}."


def as_of(at: datetime) -> str:
    return f"conforme resposta guardada de {moment(at)}; sem resposta mais nova da fonte"


def not_confirmed(parts: tuple[VerdictPart, ...]) -> str:
    """Return a clause on lookups whose answer neither has nor denies records, or ""."""
    words = listed([MISSING_WORDS[part] for part in parts])
    return f"a fonte não confirmou {words}" if words else ""


def _caveat(verdict: Verdict) -> str:
    gaps = verdict.gaps
    match verdict.cause:
        case "gap":
            return _gap_clauses(verdict)
        case "report" | "declared":
            parts = [f"{words[0].lower()}{words[1:]}" for words in [_missing(verdict)] if words]
            assert verdict.decisive is not None
            return "; ".join(
                filter(None, (consequence(verdict.decisive), *parts, _gap_clauses(verdict)))
            )
        case (
            "identification"
            | "condition"
            | "report_note"
            | "declared_note"
            | "declared_unread"
            | "paid_short"
        ):
            assert verdict.decisive is not None
            return consequence(verdict.decisive)
        case "order_in_doubt":
            return "confirme com o juízo"
        case "premonitory_note":
            return "o credor pode desfazer a compra"
        case "open_fine" | "notice":
            return "confirme a situação antes da transferência"
        case "called_off":
            return "confirme com o órgão autuador"
        case "stale" | "nothing" if gaps.stale_since:
            return as_of(gaps.stale_since)
        case "nothing" if not verdict.asked:
            return _STILL_MISSING
    return ""


def _missing(verdict: Verdict) -> str:
    words = [MISSING_WORDS[part] for part in verdict.unavailable]
    return f"Falta consultar {listed(words)}" if words else ""


def _gap_clauses(verdict: Verdict) -> str:
    gaps = verdict.gaps
    clauses = (
        not_confirmed(gaps.unclear),
        "a fonte não descreveu o veículo" if gaps.undescribed else "",
        WRONG_CHECK_DIGIT if gaps.wrong_check_digit else "",
    )
    return "; ".join(filter(None, clauses))


def _judged(verdict: Verdict) -> list[VerdictPart]:
    return [part for part in verdict.asked if part in _NOTHING_OF]


def _asked(verdict: Verdict) -> str:
    return listed([_LOOKUPS[part].lower() for part in verdict.asked])


def _nothing(verdict: Verdict) -> str:
    if not verdict.asked:
        return _NOTHING_FOUND
    judged = _judged(verdict)
    return _NOTHING_OF[judged[0]] if judged else f"Consulta só de {_asked(verdict)}"


def _blocked(verdict: Verdict) -> str:
    """Name the acts that court orders forbid, as surely as the rules behind it are confirmed."""
    licence_too = verdict.row("licence").mark == "no"
    if verdict.row("drive").mark == "no":
        return "Não pode circular nem ser transferido"
    if licence_too and verdict.forbidden != "":
        return "Não pode ser licenciado e, na prática, também não transfere"
    match verdict.forbidden:
        case "rule":
            return "Em regra, não pode ser transferido agora"
        case "practice":
            return "Na prática, não pode ser transferido agora"
    acts = "transferido nem licenciado" if licence_too else "transferido"
    return f"Não pode ser {acts} agora"


def _short_of_blocked(verdict: Verdict) -> str:
    if verdict.row("drive").mark == "no":
        return "Não pode circular"
    if verdict.row("licence").mark == "no":
        return "Não pode ser licenciado"
    match verdict.forbidden:
        case "rule":
            return "Em regra, não transfere"
        case "practice":
            return "Na prática, não transfere"
    return "Não transfere"


def _short_of_gap(verdict: Verdict) -> str:
    parts = [part for part in verdict.missing if part not in verdict.gaps.unclear]
    if len(parts) == len(_SHORT_LOOKUPS):
        return ALL_MISSING
    missing = listed([_SHORT_LOOKUPS[part] for part in parts])
    return f"Falta consultar {missing}" if missing else headline(verdict)


def _order_doubt(finding: CourtOrders) -> tuple[str, str]:
    if any(order.is_doubtful for order in finding.orders):
        return "Há restrição judicial de situação incerta", "confirme com o juízo"
    return "Há averbação premonitória", "o credor pode desfazer a compra"
