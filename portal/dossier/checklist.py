"""The checklist of a buyer: what to verify, whom to ask, and where."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar, Final

from msgspec import Struct

from portal import formats
from portal.dossier.records_by_line import COURT, FINES, LINE_OF_SUBJECT
from portal.law.assessment import AssessedFine, Totals
from portal.law.checklist import UNVERIFIED, Situation
from portal.law.declared import SettledLine
from portal.law.findings import ReportAlert
from portal.law.identification import hints_of, is_before_vehicle, tampering_of
from portal.law.orders import AssessedOrder
from portal.law.standing import Standing
from portal.phrasebook.checklist import ADVICE, HEDGE, WORDS, Advice
from portal.phrasebook.findings import alert_fact
from portal.phrasebook.infractions import hint
from portal.phrasebook.orders import title
from portal.wording import counted, listed

AFTERWARDS: Final = "depois"
_SENATRAN = WORDS["multas-do-estado"]
_SITUATIONS: Final[Mapping[Standing, Situation]] = {
    Standing.ENFORCEABLE: "enforceable_fine",
    Standing.PROBABLY_DUE: "probably_due_fine",
    Standing.NOTICE: "notice_without_fine",
    Standing.UNKNOWN: "fine_of_unclear_payment",
}
# The largest number of entries in the list of court cases, and in the list of issuing bodies.
_MOST_NAMES = 6


class Check(Struct, frozen=True):
    """A line of the checklist.

    ``ask`` says whom to ask. ``facts`` are sentences about this vehicle, and ``texts`` the general
    explanations. ``alert`` says what a written report warns of, or is "". ``link_name`` and
    ``link`` are those of an official service, or "" and None. ``settled`` is what a record or a
    declaration says of the line.
    """

    key: str
    title: str
    ask: str
    facts: tuple[str, ...]
    texts: tuple[str, ...]
    settled: SettledLine
    link_name: str = ""
    link: str | None = None
    alert: str = ""


@dataclass(frozen=True, slots=True)
class Checklist:
    """The lines to check, in order, and what to do once they are checked."""

    hedge: ClassVar[str] = HEDGE
    lines: tuple[Check, ...]
    afterwards: tuple[Advice, ...]

    @property
    def subjects(self) -> tuple[Check, ...]:
        """The lines that every vehicle has."""
        return self.lines[-len(UNVERIFIED) :]


def checklist(
    fines: Sequence[AssessedFine] | None,
    orders: Sequence[AssessedOrder] | None,
    totals: Totals | None,
    *,
    lines: Sequence[SettledLine],
    vehicle_is_known: bool,
    alerts: Sequence[ReportAlert] = (),
) -> Checklist:
    """Return the subjects that no lookup covers, and before them what the records call for.

    ``lines`` are all lines of the table, settled or open.

    ``alerts`` are what a written report warns of. Each stands beside the line that settles it.
    """
    warned = alerts_by_line(alerts)
    settled = {one.key: one for one in lines}
    situations = {"always", *_situations(fines, orders, vehicle_is_known=vehicle_is_known)}
    by_line: dict[str, list[Advice]] = {}
    for one in ADVICE:
        if one.situation in situations:
            by_line.setdefault(one.line, []).append(one)
    checks = []
    if court := by_line.get(COURT):
        checks.append(_check(settled[COURT], court, tuple(_cases(orders or ()))))
    if owed := by_line.get(FINES):
        is_priced = totals is not None and totals.open_count and totals.known_amount
        amount = f": {formats.brl(totals.known_amount)}" if totals is not None and is_priced else ""
        checks.append(_check(settled[FINES], owed, tuple(_authorities(fines or ())), amount))
    for item in UNVERIFIED:
        advice, words = by_line.get(item.key, []), WORDS[item.key]
        checks.append(
            Check(
                item.key,
                next((one.title for one in advice if one.title), words.title),
                words.ask,
                _hints(fines or ()) if item.key == "identificacao" else (),
                (*(one.sentence for one in advice), words.why, f"Onde conferir: {words.where}"),
                settled[item.key],
                words.link_name,
                words.link,
                warned.get(item.key, "") if settled[item.key].is_warned else "",
            )
        )
    return Checklist(tuple(checks), tuple(by_line[AFTERWARDS]))


def alerts_by_line(alerts: Iterable[ReportAlert]) -> Mapping[str, str]:
    """Return what a written report warns of, by the key of the line that settles it."""
    warned: dict[str, list[str]] = {}
    for alert in alerts:
        if key := LINE_OF_SUBJECT.get(alert.subject):
            warned.setdefault(key, []).append(alert_fact(alert))
    return {key: " ".join(facts) for key, facts in warned.items()}


def _hints(fines: Iterable[AssessedFine]) -> tuple[str, ...]:
    return tuple(hint(code, fine) for code, fine in hints_of(fines).items())


def _check(
    settled: SettledLine, advice: Sequence[Advice], facts: tuple[str, ...], amount: str = ""
) -> Check:
    first, texts = advice[0], tuple(one.sentence for one in advice)
    service = (_SENATRAN.link_name, _SENATRAN.link) if settled.key == FINES else ("", None)
    return Check(settled.key, first.title + amount, first.ask, facts, texts, settled, *service)


def _situations(
    fines: Sequence[AssessedFine] | None,
    orders: Sequence[AssessedOrder] | None,
    *,
    vehicle_is_known: bool,
) -> Iterator[Situation]:
    in_force = [order for order in orders or () if order.in_force]
    if not vehicle_is_known:
        yield "vehicle_unavailable"
    if fines is None:
        yield "fines_unavailable"
    else:
        yield from _of_fines(fines)
    if orders is None:
        yield "restrictions_unavailable"
    if any(order.is_of_judge for order in in_force):
        yield "court_order"
    elif in_force:
        yield "block_of_others"
    elif orders is not None:
        yield "free_of_court_orders"
    if any(fine.differing for fine in fines or ()) or any(o.differing for o in orders or ()):
        yield "other_vehicle"
    if any(map(is_before_vehicle, fines or ())) or any(map(is_before_vehicle, orders or ())):
        yield "record_before_vehicle"


def _of_fines(fines: Sequence[AssessedFine]) -> Iterator[Situation]:
    standings = {fine.standing for fine in fines if fine.is_open}
    if any(tampering_of(fine.record) for fine in fines):
        yield "tampered"
    if standings:
        yield "open_fine"
    for standing, situation in _SITUATIONS.items():
        if standing in standings:
            yield situation


def _cases(orders: Sequence[AssessedOrder]) -> Iterator[str]:
    """Yield a sentence with the case number and the court for each court order in force.

    Equal sentences are said once, and at most _MOST_NAMES sentences in all.
    """
    sentences = dict.fromkeys(_case(order) for order in orders if order.in_force)
    yield from islice(sentences, _MOST_NAMES)


def _case(order: AssessedOrder) -> str:
    if not order.is_of_judge:
        return f"{title(order)}."
    case = order.record.case
    where = order.court or "tribunal não informado"
    if case:
        return f"Processo {case}, {where}."
    verb = "oculta" if case.is_hidden else "não informa"
    return f"{where}: a fonte {verb} o número do processo; peça ao vendedor."


def _authorities(fines: Sequence[AssessedFine]) -> Iterator[str]:
    """Yield one sentence with the issuing bodies of the open fines.

    Yields nothing if no fine is open.
    """
    names = Counter(
        f"{fine.issuer or 'órgão não informado'}"
        + (f" ({fine.record.authority_state})" if fine.record.authority_state else "")
        for fine in fines
        if fine.is_open
    )
    shown = [f"{name}: {n}" if n > 1 else name for name, n in names.items()]
    if shown:
        if (more := len(shown) - _MOST_NAMES) > 0:
            shown[_MOST_NAMES:] = [f"mais {counted(more, 'órgão', 'órgãos')}"]
        yield f"Órgãos das multas em aberto: {listed(shown)}."
