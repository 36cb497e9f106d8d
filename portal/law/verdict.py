"""The verdict: may a vehicle be transferred, licensed, driven or removed (towed)?

A failed lookup makes the verdict "incomplete", unless the known records already block the transfer.
A "clear" verdict needs the lookups of both fines and court restrictions. If the user left out one
of these lookups, and nothing was found, the verdict is "limited". The headline of a limited verdict
names the chosen lookups. A stale answer is an old answer, shown while the upstream gives no newer
answer. A stale answer also prevents a "clear" verdict.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from portal.law.act_answers import ACTS, Act, Answer
from portal.law.act_matrix import (
    MISSING_WORDS,
    NOTHING_STALE,
    WRONG_CHECK_DIGIT,
    Gaps,
    Missing,
    Row,
    Stale,
    as_of,
    not_confirmed,
    row_of,
)
from portal.law.assessment import AssessedFine
from portal.law.identification import VEHICLE, identification_reasons
from portal.law.orders import AssessedOrder
from portal.law.reasons import Reason, court_reasons, fine_reasons
from portal.law.standing import Standing
from portal.wording import listed

Level = Literal["blocked", "caution", "clear", "incomplete", "limited"]
# What decides a verdict. Lists have shorter words for it than the headline.
Cause = Literal[
    "blocked",
    "gap",
    "identification",
    "condition",
    "order_in_doubt",
    "enforceable",
    "open_fine",
    "notice",
    "called_off",
    "stale",
    "nothing",
]
# The cause, the level, the finding and the caveat.
_Found = tuple[Cause, Level, str, str]
# With more reasons for the verdict, a visitor with a phone would have to scroll to the answers
# below the reasons.
MOST_REASONS = 3
_LOOKUPS: Mapping[Missing, str] = {
    "decode": "Dados do veículo",
    "fines": "Multas",
    "restrictions": "Restrições judiciais",
}
# A verdict is based on these lookups. The third lookup, "decode", only describes the vehicle.
_JUDGED: tuple[Missing, ...] = ("fines", "restrictions")
# _NOTHING_FOUND does not say "can be transferred", because the lookups do not cover the most
# frequent obstacles to a transfer (_STILL_MISSING).
_NOTHING_FOUND = "Nenhuma multa em aberto nem restrição judicial encontrada"
_STILL_MISSING = "falta verificar IPVA, financiamento, roubo e furto"
_NO_FINE = "Nenhuma multa em aberto encontrada"
_NO_RESTRICTION = "Nenhuma restrição judicial encontrada"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a vehicle.

    ``cause`` names what decides the verdict. ``caveat`` is a clause on what ``finding`` leaves
    open, or "". ``matrix`` has one row for each act, in the order of ACTS. ``no_ceiling`` says why
    no price may be suggested to a buyer, or is "". ``missing`` names the lookups that failed or
    were not made. It also names "decode", the lookup of the vehicle's own data, if its answer does
    not describe the vehicle. ``notices`` has one sentence for each stale (old) answer.
    """

    level: Level
    cause: Cause
    finding: str
    caveat: str
    notices: tuple[str, ...]
    reasons: tuple[Reason, ...]
    matrix: tuple[Row, ...]
    no_ceiling: str
    missing: tuple[Missing, ...]

    @property
    def headline(self) -> str:
        return f"{self.finding}; {self.caveat}" if self.caveat else self.finding

    @property
    def first_reasons(self) -> tuple[Reason, ...]:
        """The reasons that a page or the paper lists beside the verdict."""
        return self.reasons[:MOST_REASONS]

    @property
    def more_reasons(self) -> int:
        return max(len(self.reasons) - MOST_REASONS, 0)

    def row(self, act: Act) -> Row:
        return self.matrix[ACTS.index(act)]


def judge(
    decode_known: bool,
    fines: Sequence[AssessedFine] | None,
    orders: Sequence[AssessedOrder] | None,
    *,
    is_described: bool = True,
    check_digit_holds: bool = True,
    stale: Stale = NOTHING_STALE,
    not_asked: Collection[Missing] = (),
    unconfirmed: Collection[Missing] = (),
    condition: Sequence[Reason] = (),
) -> Verdict:
    """Return the verdict.

    ``fines`` or ``orders`` is None if its lookup failed or was not made. The decode lookup returns
    the vehicle's own data. ``decode_known`` is False if the decode lookup failed. A search by
    Renavam has no decode lookup; ``decode_known`` is then True. ``is_described`` is False if the
    answer of the decode lookup does not describe the vehicle. ``check_digit_holds`` is False if the
    Renavam's check digit is wrong. The records may then belong to another vehicle. ``stale`` maps
    each lookup with a stale (old) answer to the local time of the answer. ``not_asked`` names the
    lookups that the user did not choose. ``unconfirmed`` names the lookups whose answer neither has
    nor denies records. ``condition`` are the reasons that the vehicle's own data give.
    """
    known: dict[Missing, bool] = {
        "decode": decode_known and is_described,
        "fines": fines is not None,
        "restrictions": orders is not None,
    }
    missing = tuple(part for part, is_known in known.items() if not is_known)
    stale = {part: stale[part] for part in known if part in stale and part not in missing}
    fines, orders = fines or (), orders or ()
    of_vehicle = (*identification_reasons(fines, orders), *condition)
    gaps = Gaps(
        failed=[part for part in missing if part not in (*not_asked, *unconfirmed)],
        unclear=[part for part in missing if part in unconfirmed and part not in not_asked],
        unchosen=[part for part in missing if part in not_asked],
        stale=stale,
        doubt="" if check_digit_holds else WRONG_CHECK_DIGIT,
    )
    matrix = tuple(row_of(act, orders, fines, gaps, _answers(act, of_vehicle)) for act in ACTS)
    reasons = (*of_vehicle, *court_reasons(orders), *fine_reasons(fines))
    unavailable = [
        MISSING_WORDS[part] for part in gaps.failed if part != "decode" or not decode_known
    ]
    undescribed = "a fonte não descreveu o veículo" if decode_known and not is_described else ""
    clauses = "; ".join(filter(None, (not_confirmed(gaps.unclear), undescribed, gaps.doubt)))
    found = _finding(matrix, orders, fines, unavailable, clauses, stale, of_vehicle)
    cause, level, finding, caveat = _limited(found, not_asked, stale)
    notices = tuple(f"{_LOOKUPS[part]}: {as_of(at)}." for part, at in stale.items())
    no_ceiling = _no_ceiling(level, orders, of_vehicle)
    return Verdict(level, cause, finding, caveat, notices, reasons, matrix, no_ceiling, missing)


def _finding(
    matrix: tuple[Row, ...],
    orders: Sequence[AssessedOrder],
    fines: Sequence[AssessedFine],
    unavailable: Sequence[str],
    gaps: str,
    stale: Stale,
    of_vehicle: Sequence[Reason],
) -> _Found:
    """Return the cause, the level, the finding and the caveat."""
    transfer, licence, drive, _ = (row.mark for row in matrix)
    if transfer == "no":
        return "blocked", "blocked", _blocked_finding(licence == "no", drive == "no", orders), ""
    if unavailable:
        return "gap", "incomplete", f"Falta consultar {listed(unavailable)}", gaps
    if gaps:
        return "gap", "incomplete", "Verificação incompleta", gaps
    if of_vehicle:
        first = of_vehicle[0]
        cause: Cause = "condition" if first.anchor == VEHICLE else "identification"
        return cause, "caution", first.finding, first.detail
    if doubt := _order_doubt(orders):
        return "order_in_doubt", "caution", *doubt
    if owed := sum(fine.standing is Standing.ENFORCEABLE for fine in fines):
        what = "paga a multa" if owed == 1 else "pagas as multas"
        finding = f"Em regra, só transfere depois de {what}"
        return "enforceable", "caution", finding, ""
    if standings := {fine.standing for fine in fines if fine.is_open}:
        confirm = "confirme a situação antes da transferência"
        if standings == {Standing.NOTICE}:
            return "notice", "caution", "Há autuação, ainda sem multa", confirm
        return "open_fine", "caution", "Há multa em aberto", confirm
    if any(fine.standing is Standing.CALLED_OFF for fine in fines):
        finding = "Há multa que a fonte dá como cancelada"
        return "called_off", "caution", finding, "confirme com o órgão autuador"
    if stale:
        return "stale", "caution", _NOTHING_FOUND, as_of(min(stale.values()))
    return "nothing", "clear", _NOTHING_FOUND, _STILL_MISSING


def _order_doubt(orders: Sequence[AssessedOrder]) -> tuple[str, str] | None:
    """Return the finding and the caveat of orders that do not forbid the transfer, or None."""
    if any(order.is_doubtful for order in orders):
        return "Há restrição judicial de situação incerta", "confirme com o juízo"
    if any(order.in_force for order in orders):
        return "Há averbação premonitória", "o credor pode desfazer a compra"
    return None


def _no_ceiling(level: Level, orders: Sequence[AssessedOrder], of_vehicle: Sequence[Reason]) -> str:
    """Return why no price may be suggested to a buyer, or ""."""
    if level == "blocked":
        return "Só depois da baixa da restrição judicial, conferida no processo e no Detran."
    if doubt := _order_doubt(orders):
        return f"{': '.join(doubt)}."
    if of_vehicle:
        first = of_vehicle[0]
        if first.anchor == VEHICLE:
            return first.sentence
        return "A identificação do veículo está em dúvida: faça a perícia antes."
    return ""


def _answers(act: Act, of_vehicle: Sequence[Reason]) -> list[Answer]:
    """Return an answer for each doubt about the vehicle itself, which the transfer inspects."""
    if act != "transfer":
        return []
    return [
        Answer("careful", "só depois da perícia", reason.sentence, "", "verified", (reason.anchor,))
        for reason in of_vehicle
    ]


def _limited(found: _Found, not_asked: Collection[Missing], stale: Stale) -> _Found:
    """Limit a finding to the lookups that the user chose.

    If the user chose both fines and restrictions, the finding is returned unchanged.
    """
    cause, level, finding, caveat = found
    judged = [part for part in _JUDGED if part not in not_asked]
    if len(judged) == len(_JUDGED):
        return found
    asked = listed([name.lower() for part, name in _LOOKUPS.items() if part not in not_asked])
    caveats = [f"consulta só de {asked}"]
    if finding == _NOTHING_FOUND:
        level, caveat = "limited", as_of(min(stale.values())) if stale else ""
        nothing = {"fines": _NO_FINE, "restrictions": _NO_RESTRICTION}
        finding = nothing[judged[0]] if judged else f"Consulta só de {asked}"
        caveats = caveats if judged else []
    return cause, level, finding, "; ".join(filter(None, (caveat, *caveats)))


def _blocked_finding(licence_too: bool, drive_too: bool, orders: Sequence[AssessedOrder]) -> str:
    """Return a text that names the acts that court orders forbid.

    If driving is not forbidden, the text depends on how well the rules that forbid the transfer are
    confirmed (``Confidence``). The best-confirmed rule counts. For "memory", the text says "em
    regra" ("as a rule"). For "reported", it says "na prática" ("in practice"). For "verified", it
    has no such words.
    """
    transfers = [order.effect.answers["transfer"] for order in orders]
    sources = {answer.confidence for answer in transfers if answer.mark == "no"}
    if drive_too:
        return "Não pode circular nem ser transferido"
    if licence_too and "verified" not in sources:
        return "Não pode ser licenciado e, na prática, também não transfere"
    acts = "transferido nem licenciado" if licence_too else "transferido"
    if sources == {"memory"}:
        return "Em regra, não pode ser transferido agora"
    if "verified" not in sources:
        return "Na prática, não pode ser transferido agora"
    return f"Não pode ser {acts} agora"
