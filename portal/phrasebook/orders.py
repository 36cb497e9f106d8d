"""The words of court orders: their kinds, their titles, what contradicts, and who lifts them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, assert_never

from portal.law.orders import AssessedOrder, Lifter, OrderConflict, conflicts_of, lifters_of
from portal.law.restriction_kinds import NAMED_ORDERS, RENAJUD_SINCE, Kind
from portal.phrasebook.rules import CONSULTED
from portal.wording import counted, day, listed

_KINDS: Final[Mapping[Kind, str]] = {
    "transferencia": "transferência",
    "licenciamento": "licenciamento",
    "circulacao": "circulação",
    "penhora": "penhora",
    "busca_e_apreensao": "busca e apreensão",
    "arresto": "arresto",
    "sequestro": "sequestro",
    "indisponibilidade": "indisponibilidade",
    "averbacao_premonitoria": "averbação premonitória",
    "perdimento": "perdimento",
    "adjudicacao": "adjudicação",
    "arrematacao": "arrematação",
    "leilao_judicial": "leilão judicial",
    "reintegracao_de_posse": "reintegração de posse",
    "apreendido": "veículo apreendido",
    "alienacao_fiduciaria": "alienação fiduciária",
    "bloqueio_administrativo": "bloqueio administrativo",
}
_LIFTED_BY: Final[Mapping[Lifter, str]] = {
    "judge": (
        "Só o juiz que deu a ordem (ou um tribunal acima) pode retirá-la; Detran e Senatran não "
        "podem. O interessado pede a baixa no processo, com advogado ou defensor."
    ),
    "alienacao_fiduciaria": (
        "Alienação fiduciária não é ordem de juiz: quem a baixa é o credor, depois da quitação."
    ),
    "bloqueio_administrativo": (
        "Bloqueio administrativo não é ordem de juiz: só o Detran ou o órgão que o pôs o retira."
    ),
}


def kinds_words(kinds: Iterable[Kind]) -> str:
    """Name kinds of orders: ``transferência e licenciamento``."""
    return listed([_KINDS[kind] for kind in kinds])


def title(order: AssessedOrder) -> str:
    """Return the order's kind, or a note that it is not in force."""
    effect = order.effect
    if not effect.in_force:
        return "Registro sem restrição em vigor"
    if effect.unrecognised:
        return f"Restrição “{effect.unrecognised}”"
    if effect.kinds == ("penhora",):
        return "Penhora registrada"
    words = kinds_words(effect.kinds)
    if (len(effect.kinds) == 1 and effect.kinds[0] in NAMED_ORDERS) or not order.is_of_judge:
        return words[0].upper() + words[1:]
    if words:
        return f"Restrição de {words}"
    kinds = order.record.kinds_text
    return f"Restrição “{kinds}”" if kinds else "Restrição judicial"


def conflicts(order: AssessedOrder) -> Iterator[str]:
    """Yield sentences on what an order's record contradicts itself in."""
    return (_conflict(conflict, order) for conflict in conflicts_of(order))


def _conflict(conflict: OrderConflict, order: AssessedOrder) -> str:
    record = order.record
    match conflict.code:
        case "included_in_future":
            on = day(record.included_at.date()) if record.included_at else ""
            return f"A data de inclusão ({on}) está no futuro: confirme com o juízo."
        case "included_too_early":
            return (
                f"A data de inclusão ({record.included_at_text}) não serve: o Renajud existe desde "
                f"{RENAJUD_SINCE}. Confirme com o juízo."
            )
        case "detail_lifts":
            return (
                f"O detalhe diz “{record.detail}”, e o registro segue como restrição: confirme a "
                "baixa no processo."
            )
        case "check_digits":
            return (
                f"Os dígitos verificadores do processo {record.case} não conferem: confira o "
                "número antes de consultar."
            )
        case "other_court":
            named, of_case = conflict.courts
            return (
                f"O número do processo é do {of_case.acronym}, e o registro traz {named.acronym}: "
                "confirme qual é o juízo."
            )
        case "no_civil_court":
            (named,) = conflict.courts
            return f"O {named.acronym} não tem vara cível: confirme qual é o juízo."
    assert_never(conflict.code)


def count_words(orders: Iterable[AssessedOrder]) -> str:
    """Count orders: ``2 em vigor e 1 de situação incerta``, or "" for none."""
    in_force = [order for order in orders if order.in_force]
    doubtful = sum(order.is_doubtful for order in in_force)
    parts = [(len(in_force) - doubtful, "em vigor"), (doubtful, "de situação incerta")]
    return listed([counted(number, words, words) for number, words in parts if number])


def who_lifts(orders: Iterable[AssessedOrder]) -> str:
    """Say who can lift the orders in force: their judge, or for some kinds a creditor or a body."""
    said = (_LIFTED_BY[lifter] for lifter in lifters_of(orders))
    return " ".join((*said, f"Lei consultada em {CONSULTED}."))
