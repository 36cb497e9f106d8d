"""The row of a vehicle in a list: the batches' results, the history, a comparison, a file.

The batch runner stores an item's row as soon as the item's lookups end, because a row built later
could mix answers of different days. Other rows are built from the stored answers.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any, Final, Literal, Protocol

import msgspec

from portal.charts.scale import month_index
from portal.dossier.answers import Panel, Panels, answer_panel, is_readable
from portal.dossier.checklist import alerts_by_line
from portal.dossier.dossier import Dossier
from portal.dossier.lookups import LOOKUP_WORDS
from portal.dossier.records_by_line import COURT, FINES
from portal.gateway.lookup import Served
from portal.gateway.operations import lookups_of
from portal.law.act_answers import ACTS, Act, Mark
from portal.law.assessment import AssessedFine, known_sum, one_per_notice, sum_of
from portal.law.at_the_car import seen_findings
from portal.law.declared import (
    Declared,
    Record,
    declared_findings,
    seen_of,
    settle,
    stock_obstacles,
)
from portal.law.findings import (
    DeclarationsUnread,
    DeclaredSomething,
    Finding,
    FinesInStanding,
    ReportAlert,
    SeenDifference,
    Warned,
    gravest_first,
)
from portal.law.standing import Standing
from portal.law.verdict import Level
from portal.phrasebook.declared import obstacles_in_words
from portal.phrasebook.findings import (
    alert_words,
    clause,
    consequence,
    declared_words,
    list_words,
    warning_brief,
)
from portal.phrasebook.verdict import NOTHING_FOUND_BEFORE, UNREAD
from portal.phrasebook.verdict import headline as headline_of
from portal.phrasebook.verdict import short as short_of
from portal.system.local_time import utc_time
from portal.vehicle.denials import Asked
from portal.vehicle.fipe import PriceSeries
from portal.vehicle.identity import VehicleIdentity
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.plate import Plate, Renavam, parse_subject

STALE: Final = "Resposta que já não é recente: abra o veículo ou faça outro lote"
EXPIRED: Final = "Resposta vencida: abra o veículo ou faça outro lote"
NOTHING_TO_ASK: Final = "Nada foi consultado: um Renavam não tem dados do veículo nem FIPE"
NOTHING_STORED: Final = "Sem resposta guardada"
NO_ANSWER: Final = "A fonte não respondeu"
TOO_MANY: Final = "Registros demais para a lista"
# A list reads at most this many fines and restrictions of a vehicle, because it has many vehicles.
MOST_READ: Final = 300
MONTHS: Final = 13
_GRADES: Final = ("blocked", "caution", "incomplete", "limited", "clear")
# The acts, the one whose prohibition weighs most first.
_HEAVIEST_FIRST: Final[Sequence[Act]] = ("removal", "drive", "licence", "transfer")


def _fact(lookup: LookupName | None, kind: str | None = "text") -> dict[str, str | None]:
    """Return the metadata of a member: the lookup of its fact, and the kind of its column.

    A member of the kind None is on pages only.
    """
    return {"lookup": lookup, "kind": kind}


@dataclass(frozen=True, slots=True)
class VehicleRow:
    """What a list says of a vehicle. A file of results has a column for each exported member.

    ``missing`` names the lookups without a readable answer, and ``expired`` the lookups whose
    answer has expired. The row has no facts from an expired answer. ``not_asked`` names the lookups
    that were not to be made. If these are fines or restrictions, the verdict "limited" replaces
    "clear". Each of the three has a member with the lookups' codes. ``short`` are the verdict's
    words in a list. ``alerts`` names the findings that no other member counts: of the report, of
    the vehicle itself, of declared lines, of court orders and of fines that were paid short.
    ``alert_codes`` has their codes. ``reported`` are those of a written report alone, and
    ``declared`` those of declared lines. ``doubts`` are those of the vehicle itself, for lists
    whose verdict says something graver. ``open_lines`` is the number of the checklist's lines that
    neither a record nor a declaration settles, and ``blocks_entry`` names what stops or may stop a
    stock entry in Renave. ``adverse`` are the lines on which a record has something, each with its
    lookup. ``acts`` are the marks of ACTS.
    ``months`` are the prices in R$ of the last MONTHS months, 0 if unknown. If several versions are
    equally likely, ``versions`` has those of each, and ``change_range`` the least and the greatest
    change in 12 months.
    """

    plate: str = field(metadata={"kind": "subject"})
    state: str
    verdict: Level | None = None
    headline: str | None = None
    vehicle: str | None = field(default=None, metadata=_fact("decode"))
    year: str | None = field(default=None, metadata=_fact("decode"))
    fines_open: int | None = field(default=None, metadata=_fact("renainf", "integer"))
    fines_amount: Decimal | None = field(default=None, metadata=_fact("renainf", "money"))
    fines_enforceable: int | None = field(default=None, metadata=_fact("renainf", "integer"))
    restrictions: int | None = field(default=None, metadata=_fact("renajud", "integer"))
    fipe_code: str | None = field(default=None, metadata=_fact("decode"))
    fipe_low: Decimal | None = field(default=None, metadata=_fact("decode", "money"))
    fipe_high: Decimal | None = field(default=None, metadata=_fact("decode", "money"))
    fipe_note: str | None = field(default=None, metadata=_fact("decode"))
    fetched_at: datetime | None = field(default=None, metadata=_fact(None, "moment"))
    missing: str | None = None
    expired: str | None = None
    cause: str | None = None
    not_asked: str | None = None
    missing_lookups: str | None = None
    expired_lookups: str | None = None
    not_asked_lookups: str | None = None
    short: str | None = field(default=None, metadata=_fact(None, None))
    acts: tuple[Mark, ...] = field(default=(), metadata={"kind": None})
    enforceable_amount: Decimal | None = field(default=None, metadata=_fact("renainf", None))
    change: Decimal | None = field(default=None, metadata=_fact("decode", None))
    months: tuple[int, ...] | None = field(default=None, metadata=_fact("decode", None))
    alerts: str | None = None
    alert_codes: str | None = None
    declared: str | None = None
    open_lines: int | None = field(default=None, metadata=_fact(None, "integer"))
    blocks_entry: str | None = None
    reported: str | None = field(default=None, metadata={"kind": None})
    doubts: str | None = field(default=None, metadata={"kind": None, "lookup": "decode"})
    adverse: tuple[tuple[str, LookupName], ...] = field(default=(), metadata={"kind": None})
    versions: tuple[tuple[int, ...], ...] | None = field(
        default=None, metadata=_fact("decode", None)
    )
    change_range: tuple[Decimal, Decimal] | None = field(
        default=None, metadata=_fact("decode", None)
    )

    @property
    def subject(self) -> Plate | Renavam:
        return parse_subject(self.plate)

    @property
    def group(self) -> str:
        """The filter that finds the row: its verdict, or "failed" or "pending" without one."""
        if self.state == "pending":
            return "pending"
        is_open = self.verdict in (None, "incomplete")
        return "failed" if self.state == "failed" and is_open else self.verdict or "incomplete"

    @property
    def gravity(self) -> tuple[Any, ...]:
        """The sort key of the worst first: level, acts forbidden, court orders, debt."""
        has_verdict = self.group in _GRADES
        return (
            _GRADES.index(self.group) if has_verdict else len(_GRADES) + (self.group == "pending"),
            [self.mark(act) != "no" for act in _HEAVIEST_FIRST],
            -(self.restrictions or 0),
            -(self.fines_amount or 0),
        )

    @property
    def histories(self) -> Sequence[Sequence[int]]:
        """The prices in R$ of the last MONTHS months, of each version that the vehicle may be."""
        return self.versions or ((self.months,) if self.months else ())

    @property
    def changes(self) -> tuple[Decimal, Decimal] | None:
        """The least and the greatest change in 12 months, in per cent, or None if unknown."""
        return self.change_range or (None if self.change is None else (self.change, self.change))

    @property
    def monthly_changes(self) -> tuple[Decimal, Decimal] | None:
        """The lowest and the highest mean change a month, in R$, in the past year, or None."""
        known = [
            Decimal(prices[-1] - prices[0]) / (MONTHS - 1)
            for prices in self.histories
            if len(prices) == MONTHS and prices[0] and prices[-1]
        ]
        is_whole = self.changes is not None and len(known) == len(self.histories) > 0
        return (min(known), max(known)) if is_whole else None

    def mark(self, act: Act) -> Mark:
        return self.acts[ACTS.index(act)] if self.acts else "unknown"


MEMBERS: Final = fields(VehicleRow)


class Listed(Protocol):
    """A vehicle of a batch, with the row that ``stored_row`` has made, or None."""

    @property
    def subject(self) -> Plate | Renavam: ...
    @property
    def state(self) -> str: ...
    @property
    def cause(self) -> str: ...
    @property
    def result(self) -> bytes | None: ...


class _Answer(msgspec.Struct, frozen=True):
    """When an answer was fetched, and until when it is fresh and stored, in epoch seconds."""

    fetched_at: float
    fresh_until: float
    delete_at: float


class _Kept(msgspec.Struct, frozen=True):
    """A stored row, and the answers that it was built from."""

    row: VehicleRow
    answers: dict[LookupName, _Answer]


def stored_row(dossier: Dossier, answers: Mapping[LookupName, Served]) -> bytes:
    """Return a vehicle's row in the form that a batch stores, with the ends of its answers."""
    kept = {
        name: _Answer(answer.fetched_at, answer.fresh_until, answer.delete_at)
        for name, answer in answers.items()
    }
    return msgspec.json.encode(_Kept(row_of_dossier(dossier), kept))


def answered(subject: Plate | Renavam, answers: Mapping[LookupName, Served]) -> Panels:
    """Return the answers of a batch's item. A lookup that is not among them is "unasked"."""
    unasked = Panel("unasked")
    return Panels(
        *(
            answer_panel(answers[name], asked=Asked(name, subject)) if name in answers else unasked
            for name in LOOKUPS
        )
    )


def row_of(
    listed: Listed,
    dossier_of: Callable[[], Dossier],
    reported: Callable[[], Dossier | None],
    now: datetime,
    declarations: tuple[Declared, ...] | None = (),
) -> VehicleRow:
    """Return the row of a vehicle of a batch.

    If no readable row is stored, the row is built from the dossier that ``dossier_of`` returns. A
    written report may be newer than a stored row: ``reported`` returns the dossier of a vehicle
    that has one. ``declarations`` are the caller's own, which a stored row does not have.
    """
    kept, now_s = _kept(listed), now.timestamp()
    if listed.state == "pending":
        # A pending item with a stored row was looked up before, and waits for a new lookup. Its row
        # keeps the facts of the earlier answers, but not the verdict.
        if kept is None:
            return VehicleRow(listed.subject.text, listed.state)
        known = _without_expired(kept, now_s)
        return replace(
            known,
            state=listed.state,
            verdict=None,
            headline=None,
            short=None,
            cause=None,
            alerts=None,
            alert_codes=None,
            reported=None,
            doubts=None,
            declared=None,
            open_lines=None,
            blocks_entry=None,
            acts=(),
        )
    if kept is None:
        return row_of_dossier(dossier_of(), listed.state, listed.cause)
    row = replace(_without_expired(kept, now_s), state=listed.state, cause=listed.cause or None)
    if row.verdict in ("clear", "limited") and any(
        answer.fresh_until < now_s for answer in kept.answers.values()
    ):
        # A fine or restriction may have been added since. As on the vehicle's page, a stale answer
        # does not say that nothing is there.
        level: Level = "caution" if row.verdict == "clear" else "limited"
        row = replace(row, verdict=level, headline=STALE, short=NOTHING_FOUND_BEFORE)
    now_reported = reported()
    alerts = now_reported.verdict.alerts if now_reported else ()
    lines = settle(_records_of(row), declarations or (), alerts_by_line(alerts))
    seen = seen_findings(seen_of(declarations or ()))
    declared: tuple[DeclaredSomething | SeenDifference, ...] = (*declared_findings(lines), *seen)
    warnings = gravest_first((*declared, *alerts))
    codes = (row.alert_codes or "").split(",")
    added = _alerts([warning for warning in warnings if warning.code not in codes])
    row = replace(
        row,
        alerts="; ".join(filter(None, (added["alerts"], row.alerts))) or None,
        alert_codes=",".join(filter(None, (added["alert_codes"], row.alert_codes))) or None,
        reported=_reported(alerts),
        **_declared(declared),
        open_lines=None if declarations is None else sum(one.is_open for one in lines),
        blocks_entry=obstacles_in_words(stock_obstacles(lines, row.fines_enforceable)) or None,
        acts=tuple(map(partial(_warned_mark, warnings), ACTS, row.acts)),
    )
    return _warned(row, warnings, is_unread=declarations is None)


def _warned_mark(warnings: Sequence[Warned], act: Act, mark: Mark) -> Mark:
    """Return the mark of an act that a warning makes doubtful, as the vehicle's page does."""
    return "careful" if mark == "yes" and any(act in one.reach for one in warnings) else mark


def _warned(row: VehicleRow, warnings: Sequence[Warned], *, is_unread: bool) -> VehicleRow:
    """Add what a report or a person warns of to the verdict of a row that was stored without it."""
    first = warnings[0] if warnings else DeclarationsUnread() if is_unread else None
    is_mild = first is None or isinstance(first, DeclarationsUnread) or not first.ends_ceiling
    if first is None or row.verdict == "blocked":
        return row
    if is_mild and row.verdict not in ("clear", "limited"):
        return row
    level: Level = "incomplete" if row.verdict == "incomplete" else "caution"
    headline = f"{clause(first)}; {consequence(first)}"
    short = UNREAD if isinstance(first, DeclarationsUnread) else warning_brief(first)
    return replace(row, verdict=level, headline=headline, short=short)


def _records_of(row: VehicleRow) -> Mapping[str, Record]:
    """Return what the records of a row say of the checklist's lines."""
    records = {key: Record(lookup, "something", 1) for key, lookup in row.adverse}
    if row.restrictions is not None:
        state: Literal["nothing", "something"] = "something" if row.restrictions else "nothing"
        records.setdefault(COURT, Record("renajud", state, row.restrictions))
    if row.fines_open is not None:
        state = "something" if row.fines_open else "nothing"
        records.setdefault(FINES, Record("renainf", state, row.fines_open, row.fines_amount))
    return records


def _declared(declared: Sequence[DeclaredSomething | SeenDifference]) -> dict[str, Any]:
    return {"declared": ", ".join(map(declared_words, declared)) or None}


def _reported(alerts: Sequence[ReportAlert]) -> str | None:
    return ", ".join(map(alert_words, alerts)) or None


def _alerts(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return the findings of a row and their codes, without fines, which it counts."""
    listed = [finding for finding in findings if not isinstance(finding, FinesInStanding)]
    return {
        "alerts": "; ".join(dict.fromkeys(map(list_words, listed))) or None,
        "alert_codes": ",".join(dict.fromkeys(finding.code for finding in listed)) or None,
    }


def _without_expired(kept: _Kept, now_s: float) -> VehicleRow:
    """Return the row without the facts of answers that the store has deleted by now.

    A verdict needs all answers. Only known court orders block a transfer whatever the other
    answers were.
    """
    living = {name: answer for name, answer in kept.answers.items() if answer.delete_at >= now_s}
    expired = [name for name in LOOKUPS if name in kept.answers and name not in living]
    if not expired:
        return kept.row
    facts: dict[str, Any] = {
        one.name: None for one in MEMBERS if one.metadata.get("lookup") in expired
    }
    fetched_at = min((answer.fetched_at for answer in living.values()), default=None)
    row = replace(
        kept.row,
        **facts,
        **_named("expired", expired, (LOOKUP_WORDS[name] for name in expired)),
        adverse=tuple(one for one in kept.row.adverse if one[1] in living),
        fetched_at=None if fetched_at is None else utc_time(fetched_at),
    )
    if row.verdict == "blocked" and "renajud" in living:
        return row
    return replace(row, verdict="incomplete", headline=EXPIRED, short="Resposta vencida", acts=())


def _kept(listed: Listed) -> _Kept | None:
    if listed.result is None:
        return None
    try:
        return msgspec.json.decode(listed.result, type=_Kept)
    except msgspec.ValidationError:  # an incompatible version of the portal stored the row
        return None


def row_of_dossier(dossier: Dossier, state: str = "done", cause: str = "") -> VehicleRow:
    """Return the row of a vehicle, built from its present answers."""
    panels, asked = dossier.answers, dossier.asked
    unasked = [name for name in lookups_of(dossier.subject) if name not in asked]
    known: dict[str, Any] = {
        "plate": dossier.subject.text,
        "state": state,
        "cause": cause or None,
        **_named("not_asked", unasked, (LOOKUP_WORDS[name] for name in unasked)),
    }
    if not asked:
        short = "Nada a consultar"
        return VehicleRow(**known, verdict="limited", headline=NOTHING_TO_ASK, short=short)
    prices, verdict = dossier.prices, dossier.verdict
    debts = None if dossier.fines is None else _debts(dossier.fines)
    likely = [tab.current for tab in prices.likeliest if tab.current is not None] if prices else []
    best = prices.best if prices else None
    price = prices.price_summary if prices else None
    histories = [tab.series for tab in prices.likeliest] if prices else []
    # Several likely versions have several lines, and the mean of their changes is none.
    series = histories[0] if len(histories) == 1 else None
    fetched = [panel.fetched_at for panel in panels.all if panel.fetched_at]
    missing = [name for name in asked if not is_readable(panels.of(name).result, name)]
    return VehicleRow(
        **known,
        **_named("missing", missing, (_without_answer(name, panels.of(name)) for name in missing)),
        verdict=verdict.level,
        headline=headline_of(verdict),
        vehicle=str(dossier.name) or None,
        year=_years(dossier.vehicle),
        fines_open=debts[0] if debts else None,
        fines_amount=debts[1] if debts else None,
        fines_enforceable=debts[2] if debts else None,
        restrictions=dossier.orders_in_force,
        fipe_code=best.code.text if best and best.code and not best.is_tied else None,
        fipe_low=min(likely, default=None),
        fipe_high=max(likely, default=None),
        fipe_note=(price.doubt if price else prices.unread_words if prices else "") or None,
        fetched_at=min(fetched, default=None),
        short=short_of(verdict),
        acts=tuple(row.mark for row in verdict.matrix),
        enforceable_amount=debts[3] if debts else None,
        change=series.twelve_month_change if series else None,
        months=_months(series) if series else None,
        **_of_versions(histories if len(histories) > 1 else ()),
        **_alerts(verdict.reasons),
        **_declared(verdict.declared),
        reported=_reported(verdict.alerts),
        doubts="; ".join(clause(one) for one in verdict.reasons if one.about == "vehicle") or None,
        open_lines=None if dossier.declarations is None else dossier.open_lines,
        blocks_entry=obstacles_in_words(stock_obstacles(dossier.lines, debts[2] if debts else None))
        or None,
        adverse=tuple(
            (key, record.lookup)
            for key, record in dossier.records.items()
            if record.state == "something"
        ),
    )


def listed_row(dossier: Dossier) -> VehicleRow:
    """Return the row of a vehicle outside a batch, of which a list reads the first records."""
    panels = dossier.answers
    wanted = [panels.of(name) for name in dossier.asked]
    has_more = [_has_more(panel) for panel in (panels.fines, panels.orders)]
    if any(has_more):
        shortened = replace(
            panels, fines=_shortened(panels.fines), orders=_shortened(panels.orders)
        )
        dossier = replace(dossier, answers=shortened)
    row = row_of_dossier(dossier)
    is_unconfirmed = any(panel.cause == "unconfirmed" for panel in wanted)
    if not any(panel.has_answer for panel in wanted) and not is_unconfirmed:
        asked = any(panel.state != "unasked" and panel.cause != "not_stored" for panel in wanted)
        return replace(row, short=NO_ANSWER if asked else NOTHING_STORED)
    # What is not read cannot lift an order that blocks, nor settle an enforceable fine.
    if row.verdict != "blocked" and (
        has_more[1] or (has_more[0] and not (row.fines_enforceable or 0))
    ):
        row = replace(row, verdict="incomplete", short=TOO_MANY)
    if has_more[0]:
        row = replace(row, fines_open=None, fines_amount=None, enforceable_amount=None)
    return replace(row, restrictions=None) if has_more[1] else row


def _has_more(panel: Panel) -> bool:
    return isinstance(panel.result, list) and len(panel.result) > MOST_READ


def _shortened(panel: Panel) -> Panel:
    records: Any = panel.result
    return replace(panel, result=records[:MOST_READ]) if _has_more(panel) else panel


def _debts(fines: Sequence[AssessedFine]) -> tuple[int, Decimal | None, int, Decimal]:
    """Return number and amount of the open fines, and of the enforceable ones among them.

    The same as ``Totals`` has, which also reads what a list does not show, such as points.
    """
    owed = [fine for fine in one_per_notice(fines) if fine.is_open]
    due = [fine for fine in owed if fine.standing is Standing.ENFORCEABLE]
    amount = known_sum([fine.amount.value for fine in owed])
    return len(owed), amount, len(due), sum_of(fine.amount.value for fine in due)


def _months(series: PriceSeries) -> tuple[int, ...]:
    if series.last_real is None:
        return ()
    known = {month_index(point.month): round(point.value) for point in series.real[-MONTHS:]}
    last = month_index(series.last_real.month)
    return tuple(known.get(index, 0) for index in range(last - MONTHS + 1, last + 1))


def _of_versions(histories: Sequence[PriceSeries]) -> dict[str, Any]:
    """Return the prices and changes of equally likely versions, if all are known to one month."""
    changes = [series.twelve_month_change for series in histories]
    known = [change for change in changes if change is not None]
    last = {series.last_real and series.last_real.month for series in histories}
    if not known or len(known) < len(changes) or len(last) > 1:
        return {}
    return {
        "versions": tuple(dict.fromkeys(map(_months, histories))),
        "change_range": (min(known), max(known)),
    }


def _without_answer(name: LookupName, panel: Panel) -> str:
    """Name a lookup. If its answer confirms nothing, quote the source."""
    words = LOOKUP_WORDS[name]
    return f"{words}: não confirmado ({panel.reason})" if panel.cause == "unconfirmed" else words


def is_selected(listed: Listed, since_s: float | None, outdated_at_s: float | None) -> bool:
    """Return whether an item has an answer given after one time and no longer fresh at another.

    Times are epoch seconds, None for no such condition. An item that may lack an answer always is.
    """
    kept = _kept(listed)
    if listed.state != "done" or kept is None:
        return True
    answers = kept.answers.values()
    return (since_s is None or any(answer.fetched_at > since_s for answer in answers)) and (
        outdated_at_s is None or any(answer.fresh_until <= outdated_at_s for answer in answers)
    )


def has_expired(listed: Listed, name: LookupName) -> bool:
    """Return whether an item's row was made of an answer that is no longer stored."""
    kept = _kept(listed)
    return kept is not None and name in kept.answers


def _named(member: str, names: Sequence[LookupName], words: Iterable[str]) -> dict[str, Any]:
    """Return a member that names lookups in words, and the member with their codes."""
    return {member: ", ".join(words) or None, f"{member}_lookups": ",".join(names) or None}


def _years(vehicle: VehicleIdentity | None) -> str | None:
    known = (vehicle.built_year, vehicle.model_year) if vehicle else ()
    return "/".join(str(year) for year in known if year) or None
