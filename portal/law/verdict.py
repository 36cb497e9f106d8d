"""The verdict: may a vehicle be transferred, licensed, driven or removed (towed)?

A failed lookup makes the verdict "incomplete", unless the known records already block the transfer.
A "clear" verdict needs the lookups of both fines and court restrictions. If the user left out one
of these lookups, and nothing was found, the verdict is "limited". A stale answer is an old answer,
shown while the upstream gives no newer answer. A stale answer also prevents a "clear" verdict. What
a written report warns of, or what a person declares to have found, makes a verdict worse, never
better.

The verdict has no words: ``portal.phrasebook.verdict`` says it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from portal.law.act_answers import ACTS, Act, Hedge
from portal.law.act_matrix import NOTHING_STALE, Gaps, Row, Stale, VerdictPart, row_of
from portal.law.assessment import AssessedFine, one_per_notice
from portal.law.findings import (
    AdverseData,
    CourtOrders,
    DataConflict,
    DeclarationsUnread,
    DeclaredSomething,
    Finding,
    FinesInStanding,
    OfVehicle,
    PaidShort,
    ReportAlert,
    SeenDifference,
    UnreadData,
    Warned,
    gravest_first,
)
from portal.law.identification import identification_findings
from portal.law.orders import AssessedOrder
from portal.law.record_findings import court_findings, fine_findings, paid_short_findings
from portal.law.standing import Standing

Level = Literal["blocked", "caution", "clear", "incomplete", "limited"]
# What decides a verdict.
Cause = Literal[
    "blocked",
    "report",
    "declared",
    "gap",
    "identification",
    "condition",
    "order_in_doubt",
    "premonitory_note",
    "enforceable",
    "report_note",
    "declared_note",
    "open_fine",
    "notice",
    "paid_short",
    "called_off",
    "declared_unread",
    "stale",
    "nothing",
]
_LEVELS: dict[Cause, Level] = {"blocked": "blocked", "gap": "incomplete", "nothing": "clear"}
# Causes whose verdict is what the decisive finding says.
_OF_A_FINDING = (
    *("identification", "condition", "report", "report_note", "declared", "declared_note"),
    *("paid_short", "declared_unread"),
)
# With more reasons for the verdict, a visitor with a phone would have to scroll to the answers
# below the reasons.
MOST_REASONS = 3
# A verdict is based on these lookups. The third lookup, "decode", only describes the vehicle.
_JUDGED: tuple[VerdictPart, ...] = ("fines", "restrictions")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a vehicle.

    ``cause`` names what decides the verdict, and ``decisive`` is the finding that does, or None.
    ``reasons`` are all findings, the gravest first. ``matrix`` has one row for each act, in the
    order of ACTS. ``gaps`` are what is not known. ``unavailable`` names the lookups that failed.
    ``asked`` names the lookups that the user chose, if one of fines and restrictions is not among
    them, else it is (). ``forbidden`` is how surely court orders forbid the transfer, or
    None: the surest order counts. ``missing`` names the lookups that failed or were not
    made. It also names "decode", the lookup of the vehicle's own data, if its answer does not
    describe the vehicle.
    """

    level: Level
    cause: Cause
    decisive: Finding | None
    reasons: tuple[Finding, ...]
    matrix: tuple[Row, ...]
    gaps: Gaps
    unavailable: tuple[VerdictPart, ...]
    asked: tuple[VerdictPart, ...]
    forbidden: Hedge | None
    missing: tuple[VerdictPart, ...]

    @property
    def first_reasons(self) -> tuple[Finding, ...]:
        """The reasons that a page or the paper lists beside the verdict."""
        return self.reasons[:MOST_REASONS]

    @property
    def more_reasons(self) -> int:
        return max(len(self.reasons) - MOST_REASONS, 0)

    @property
    def is_said_by_reason(self) -> bool:
        """Whether the first reason says all that the verdict says."""
        is_of_finding = self.cause in _OF_A_FINDING
        return is_of_finding and self.level != "incomplete"

    @property
    def alerts(self) -> tuple[ReportAlert, ...]:
        """What the written report warns of, the gravest first."""
        return tuple(one for one in self.reasons if isinstance(one, ReportAlert))

    @property
    def finds_nothing(self) -> bool:
        """Whether no record speaks against any act, and every answer that says so is fresh."""
        return self.level == "clear" and all(row.mark == "yes" for row in self.matrix)

    @property
    def declared(self) -> tuple[DeclaredSomething | SeenDifference, ...]:
        """What a person has declared to have found or seen, the gravest first."""
        kinds = DeclaredSomething | SeenDifference
        return tuple(one for one in self.reasons if isinstance(one, kinds))

    @property
    def ends_ceiling(self) -> Finding | None:
        """The finding for which no price may be suggested to a buyer, or None."""
        return next((one for one in self.reasons if one.ends_ceiling), None)

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
    not_asked: Collection[VerdictPart] = (),
    unconfirmed: Collection[VerdictPart] = (),
    condition: Sequence[OfVehicle] = (),
    alerts: Sequence[ReportAlert] = (),
    declared: Sequence[DeclaredSomething | SeenDifference] | None = (),
) -> Verdict:
    """Return the verdict.

    ``fines`` or ``orders`` is None if its lookup failed or was not made. The decode lookup returns
    the vehicle's own data. ``decode_known`` is False if the decode lookup failed. A search by
    Renavam has no decode lookup; ``decode_known`` is then True. ``is_described`` is False if the
    answer of the decode lookup does not describe the vehicle. ``check_digit_holds`` is False if the
    Renavam's check digit is wrong. The records may then belong to another vehicle. ``stale`` maps
    each lookup with a stale (old) answer to the local time of the answer. ``not_asked`` names the
    lookups that the user did not choose. ``unconfirmed`` names the lookups whose answer leaves open
    whether there are records, or more of them. ``condition`` are the findings of the vehicle's own
    data, and ``alerts`` those of the written report. ``declared`` is what the caller has declared
    to have found or seen, or None if that could not be read.
    """
    known: dict[VerdictPart, bool] = {
        "decode": decode_known and is_described,
        "fines": fines is not None and "fines" not in unconfirmed,
        "restrictions": orders is not None and "restrictions" not in unconfirmed,
    }
    missing = tuple(part for part, is_known in known.items() if not is_known)
    fines, orders = one_per_notice(fines or ()), orders or ()
    of_vehicle = (*identification_findings(fines, orders), *condition)
    warnings = gravest_first((*(declared or ()), *alerts))
    unread = (DeclarationsUnread(),) if declared is None else ()
    gaps = Gaps(
        failed=tuple(part for part in missing if part not in (*not_asked, *unconfirmed)),
        unclear=tuple(part for part in missing if part in unconfirmed and part not in not_asked),
        unchosen=tuple(part for part in missing if part in not_asked),
        stale={part: stale[part] for part in known if part in stale and part not in missing},
        undescribed=decode_known and not is_described,
        wrong_check_digit=not check_digit_holds,
    )
    paid_short = tuple(paid_short_findings(fines))
    matrix = tuple(
        row_of(act, orders, fines, gaps, _doubts(act, warnings, of_vehicle), _rest(act, paid_short))
        for act in ACTS
    )
    by_courts, by_fines = tuple(court_findings(orders)), tuple(fine_findings(fines))
    unavailable = tuple(part for part in gaps.failed if part != "decode" or not decode_known)
    has_gap = bool(unavailable or gaps.unclear or gaps.undescribed or gaps.wrong_check_digit)
    cause, decisive = _cause(
        matrix, warnings, of_vehicle, by_courts, by_fines, paid_short, unread, gaps, has_gap
    )
    is_warned = cause in ("report", "declared")
    level: Level = "incomplete" if has_gap and is_warned else _LEVELS.get(cause, "caution")
    is_limited = any(part in not_asked for part in _JUDGED)
    if is_limited and cause in ("stale", "nothing"):
        level = "limited"
    return Verdict(
        level=level,
        cause=cause,
        decisive=decisive,
        reasons=(*warnings, *of_vehicle, *by_courts, *by_fines, *paid_short, *unread),
        matrix=matrix,
        gaps=gaps,
        unavailable=unavailable,
        asked=tuple(part for part in known if part not in not_asked) if is_limited else (),
        forbidden=_forbidden(orders),
        missing=missing,
    )


def _cause(
    matrix: Sequence[Row],
    warnings: Sequence[Warned],
    of_vehicle: Sequence[OfVehicle],
    by_courts: Sequence[CourtOrders],
    by_fines: Sequence[FinesInStanding],
    paid_short: Sequence[PaidShort],
    unread: Sequence[DeclarationsUnread],
    gaps: Gaps,
    has_gap: bool,
) -> tuple[Cause, Finding | None]:
    """Return what decides the verdict, and the finding that does."""
    if matrix[ACTS.index("transfer")].mark == "no":
        return "blocked", by_courts[0]
    if warnings and warnings[0].ends_ceiling:
        return "report" if isinstance(warnings[0], ReportAlert) else "declared", warnings[0]
    if has_gap:
        return "gap", None
    if of_vehicle:
        first = of_vehicle[0]
        is_own = isinstance(first, AdverseData | UnreadData | DataConflict)
        return "condition" if is_own else "identification", first
    if by_courts:
        doubtful = next((one for one in by_courts if one.orders[0].is_doubtful), None)
        return ("order_in_doubt", doubtful) if doubtful else ("premonitory_note", by_courts[0])
    standings = {one.standing: one for one in by_fines}
    if Standing.ENFORCEABLE in standings:
        return "enforceable", standings[Standing.ENFORCEABLE]
    if warnings:
        is_reported = isinstance(warnings[0], ReportAlert)
        return "report_note" if is_reported else "declared_note", warnings[0]
    is_open = [one for one in by_fines if one.standing is not Standing.CALLED_OFF]
    if is_open:
        only_notices = {one.standing for one in is_open} == {Standing.NOTICE}
        return "notice" if only_notices else "open_fine", is_open[0]
    if paid_short:
        return "paid_short", paid_short[0]
    if by_fines:
        return "called_off", by_fines[0]
    if unread:
        return "declared_unread", unread[0]
    return ("stale" if gaps.stale else "nothing"), None


def _doubts(
    act: Act, warnings: Sequence[Warned], of_vehicle: Sequence[OfVehicle]
) -> tuple[Finding, ...]:
    """Return the findings that make an act doubtful."""
    return tuple(one for one in (*warnings, *of_vehicle) if act in one.reach)


def _rest(act: Act, paid_short: Sequence[PaidShort]) -> Sequence[Finding]:
    """Return the fines whose rest may stop an act, as an open fine does."""
    return paid_short if act in ("licence", "transfer") else ()


def _forbidden(orders: Sequence[AssessedOrder]) -> Hedge | None:
    transfers = (order.effect.answers["transfer"] for order in orders if order.in_force)
    hedges = {answer.hedge for answer in transfers if answer.mark == "no"}
    surest: tuple[Hedge, ...] = ("", "practice", "rule")
    return next((hedge for hedge in surest if hedge in hedges), None)
