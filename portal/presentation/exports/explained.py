"""A JSON document with a vehicle's records and their explanations.

The classes define the schema of ``GET /api/v1/vehicles/{plate}`` and the columns of the exported
tables. A value that the upstream does not send is null, never zero or "". A test checks that
``portal/web/json_api/openapi.yaml`` describes the same members.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Final, Literal

from portal.law import (
    ACTS,
    UNVERIFIED,
    Act,
    Answer,
    Clock,
    FineAssessment,
    Mark,
    Row,
    Verdict,
    court_body_name,
    court_name,
    effect_of,
)
from portal.presentation.panels import Panel
from portal.presentation.vehicle.contents import VehicleContents
from portal.presentation.vehicle.facts import VehicleFacts
from portal.presentation.vehicle.panel import (
    LOOKUP_WORDS,
    Lookup,
    Panels,
    RenderContext,
    missing_of,
)
from portal.presentation.vehicle.prices import PriceTab
from portal.presentation.vehicle.restrictions import title_of
from portal.system.local_time import local_time
from portal.vehicle import Field, Plate, Restriction

VERSION: Final = 1
LookupState = Literal["fresh", "stale", "unavailable", "unasked"]


@dataclass(frozen=True, slots=True)
class ExplainedLookup:
    """The outcome of a lookup. ``price`` is what one upstream call costs, in R$."""

    state: LookupState
    fetched_at: datetime | None
    age_s: int | None
    source: str | None
    price: Decimal
    cause: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class ExplainedReason:
    sentence: str
    record: str
    mark: Mark


@dataclass(frozen=True, slots=True)
class ExplainedAct:
    act: Act
    mark: Mark
    answer: str
    explanation: str
    records: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExplainedVerdict:
    level: str
    headline: str
    notices: tuple[str, ...]
    reasons: tuple[ExplainedReason, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExplainedAttribute:
    """An attribute of the vehicle, such as its colour.

    ``value`` is null if the upstream does not send it, or hides it behind a fixed text such as
    "INFORMACAO OCULTADA". ``hidden`` is true in the second case.
    """

    label: str
    value: str | None
    hidden: bool


@dataclass(frozen=True, slots=True)
class ExplainedVehicle:
    name: str | None
    make: str | None
    model: str | None
    summary: str | None
    attributes: tuple[ExplainedAttribute, ...]


@dataclass(frozen=True, slots=True)
class MonthlyPrice:
    month: str
    value: Decimal
    predicted: bool


@dataclass(frozen=True, slots=True)
class ExplainedPrice:
    """A candidate for this vehicle's version in FIPE, the Brazilian table of vehicle prices.

    The members ``change_…`` are price changes in per cent.
    """

    number: int
    code: str | None
    code_is_verified: bool | None
    description: str | None
    version: str | None
    model_year: int | None
    fuel: str | None
    price: Decimal | None
    confidence: str
    reason: str | None
    change_12_months: Decimal | None
    change_yearly: Decimal | None
    change_since_peak: Decimal | None
    change_predicted: Decimal | None
    doubt: str | None
    history: tuple[MonthlyPrice, ...]


@dataclass(frozen=True, slots=True)
class ExplainedDeadline:
    name: str
    state: str
    days_used: int | None
    limit_days: int | None
    ends_on: date | None
    article: str
    sentence: str


@dataclass(frozen=True, slots=True)
class ExplainedFine:
    number: int
    record: str
    code: str | None
    description: str | None
    article: str | None
    gravity: str
    points: int | None
    points_counted: int | None
    amount: Decimal | None
    amount_origin: str
    amount_at_80: Decimal | None
    amount_at_60: Decimal | None
    has_discount: bool
    standing: str
    standing_words: str
    standing_note: str
    open: bool
    committed_on: date | None
    committed_at: str | None
    notified_on: date | None
    penalty_on: date | None
    paid_on: date | None
    authority: str | None
    authority_state: str | None
    place: str | None
    deadlines: tuple[ExplainedDeadline, ...]


@dataclass(frozen=True, slots=True)
class ExplainedEffect:
    mark: Mark
    phrase: str
    reason: str
    source: str
    confidence: str


@dataclass(frozen=True, slots=True)
class ExplainedRestriction:
    number: int
    record: str
    title: str
    in_force: bool
    kinds: tuple[str, ...]
    doubt: str | None
    court: str | None
    court_body: str | None
    case: str | None
    included_at: datetime | None
    transfer: ExplainedEffect
    licence: ExplainedEffect
    drive: ExplainedEffect
    removal: ExplainedEffect


@dataclass(frozen=True, slots=True)
class FineTotals:
    open: int
    paid: int
    enforceable: int
    amount: Decimal
    enforceable_amount: Decimal
    without_amount: int
    points: int
    points_unknown: int


@dataclass(frozen=True, slots=True)
class ExplainedFines:
    totals: FineTotals
    records: tuple[ExplainedFine, ...]


@dataclass(frozen=True, slots=True)
class ExplainedRestrictions:
    in_force: int
    who_lifts: str
    records: tuple[ExplainedRestriction, ...]


@dataclass(frozen=True, slots=True)
class NotVerified:
    key: str
    title: str
    why: str
    where: str
    link: str | None


@dataclass(frozen=True, slots=True)
class Explained:
    """The whole JSON document. A part is null if its lookup has no readable answer."""

    version: int
    plate: str
    assessed_on: date
    verdict: ExplainedVerdict
    acts: tuple[ExplainedAct, ...]
    vehicle: ExplainedVehicle | None
    prices: tuple[ExplainedPrice, ...] | None
    fines: ExplainedFines | None
    restrictions: ExplainedRestrictions | None
    not_verified: tuple[NotVerified, ...]
    lookups: Mapping[Lookup, ExplainedLookup]


def explained(plate: Plate, panels: Panels, context: RenderContext) -> Explained:
    """Build the JSON document of a plate."""
    contents = VehicleContents.of(panels, context)
    verdict = contents.summary.verdict
    return Explained(
        version=VERSION,
        plate=plate.text,
        assessed_on=context.today,
        verdict=_verdict(verdict),
        acts=tuple(_act(row) for row in verdict.matrix),
        vehicle=_vehicle(contents.facts) if contents.facts else None,
        prices=explained_prices(contents),
        fines=_fines(contents),
        restrictions=_restrictions(contents),
        not_verified=tuple(
            NotVerified(each.key, each.title, each.why, each.where, each.link)
            for each in UNVERIFIED
        ),
        lookups=explained_lookups(plate, panels, context),
    )


def explained_lookups(
    plate: Plate, panels: Panels, context: RenderContext
) -> Mapping[Lookup, ExplainedLookup]:
    """Return how each lookup ended. An unreadable answer has the state "unavailable"."""
    reasons = {each.what: each.reason for each in missing_of(panels, plate)}
    return {
        name: _lookup(panels.of(name), reasons.get(LOOKUP_WORDS[name]), context)
        for name in LOOKUP_WORDS
    }


def explained_prices(contents: VehicleContents) -> tuple[ExplainedPrice, ...] | None:
    if contents.facts is None:
        return None
    return tuple(_price(tab) for tab in contents.facts.prices.all)


def explained_fines(contents: VehicleContents) -> tuple[ExplainedFine, ...] | None:
    if contents.fines is None:
        return None
    # ``contents.fines.rows`` has at most MOST_ROWS fines. ``assessments`` has every fine.
    return tuple(
        _fine(number, law) for number, law in enumerate(contents.fines.assessments, start=1)
    )


def explained_restrictions(contents: VehicleContents) -> tuple[ExplainedRestriction, ...] | None:
    if contents.restrictions is None:
        return None
    return tuple(
        _restriction(number, record)
        for number, record in enumerate(contents.restrictions.records, start=1)
    )


def _lookup(panel: Panel, reason: str | None, context: RenderContext) -> ExplainedLookup:
    fetched_at = panel.fetched_at
    age = None if fetched_at is None else max(0, int((context.now - fetched_at).total_seconds()))
    return ExplainedLookup(
        state="unavailable" if reason else panel.state,
        fetched_at=None if fetched_at is None else local_time(fetched_at),
        age_s=age,
        source=panel.origin or None,
        price=panel.price,
        cause=(panel.cause or "unreadable") if reason else None,
        reason=reason,
    )


def _verdict(verdict: Verdict) -> ExplainedVerdict:
    return ExplainedVerdict(
        level=verdict.level,
        headline=verdict.headline,
        notices=verdict.notices,
        reasons=tuple(
            ExplainedReason(each.sentence, each.anchor, each.mark) for each in verdict.reasons
        ),
        missing=verdict.missing,
    )


def _act(row: Row) -> ExplainedAct:
    return ExplainedAct(row.act, row.mark, row.short, row.why, row.records)


def _vehicle(facts: VehicleFacts) -> ExplainedVehicle:
    return ExplainedVehicle(
        name=str(facts.name) or None,
        make=facts.name.make or None,
        model=facts.name.model or None,
        summary=facts.line or None,
        attributes=tuple(
            ExplainedAttribute(fact.label, _text(fact.field), fact.field.is_hidden)
            for fact in facts.facts
        ),
    )


def _price(tab: PriceTab) -> ExplainedPrice:
    series, entry = tab.series, tab.entry
    confidence = "tied" if tab.is_tied else "likeliest" if tab.number == 1 else "possible"
    return ExplainedPrice(
        number=tab.number,
        code=tab.code.text if tab.code else None,
        code_is_verified=tab.code.is_verified if tab.code else None,
        description=tab.described or None,
        version=_text(entry.version),
        model_year=entry.year,
        fuel=_text(entry.fuel),
        price=tab.current,
        confidence=confidence,
        reason=tab.reason or None,
        change_12_months=series.twelve_month_change,
        change_yearly=series.yearly_change,
        change_since_peak=series.change_since_peak,
        change_predicted=series.predicted_change,
        doubt=tab.doubt or None,
        history=tuple(
            MonthlyPrice(f"{point.month:%Y-%m}", point.value, point.predicted)
            for point in series.points
        ),
    )


def _fines(contents: VehicleContents) -> ExplainedFines | None:
    records = explained_fines(contents)
    if records is None or contents.fines is None:
        return None
    totals = contents.fines.totals
    return ExplainedFines(
        FineTotals(
            open=totals.open_count,
            paid=totals.paid_count,
            enforceable=totals.enforceable_count,
            amount=totals.amount,
            enforceable_amount=totals.enforceable_amount,
            without_amount=totals.without_amount,
            points=totals.points,
            points_unknown=totals.points_unknown,
        ),
        records,
    )


def _fine(number: int, law: FineAssessment) -> ExplainedFine:
    fine = law.record
    return ExplainedFine(
        number=number,
        record=f"multa-{number}",
        code=_text(fine.code),
        description=law.description or None,
        article=law.article or None,
        gravity=law.gravity_word,
        points=law.points.by_gravity,
        points_counted=law.points.counted,
        amount=law.amount.value,
        amount_origin=law.amount.origin,
        amount_at_80=law.amount.at_80 if law.has_discount else None,
        amount_at_60=law.amount.at_60 if law.has_discount else None,
        has_discount=law.has_discount,
        standing=law.standing,
        standing_words=law.standing_word,
        standing_note=law.standing_note,
        open=law.is_open,
        committed_on=fine.committed_on,
        committed_at=f"{fine.committed_at:%H:%M}" if fine.committed_at else None,
        notified_on=fine.notified_on,
        penalty_on=fine.penalty_on,
        paid_on=fine.paid_on,
        authority=_text(fine.authority),
        authority_state=_text(fine.authority_state),
        place=_text(fine.place),
        deadlines=tuple(_deadline(clock) for clock in law.clocks),
    )


def _deadline(clock: Clock) -> ExplainedDeadline:
    return ExplainedDeadline(
        name=clock.name,
        state=clock.verdict,
        days_used=clock.days_used,
        limit_days=clock.limit_days,
        ends_on=clock.ends_on,
        article=clock.article,
        sentence=clock.sentence,
    )


def _restrictions(contents: VehicleContents) -> ExplainedRestrictions | None:
    records = explained_restrictions(contents)
    if records is None or contents.restrictions is None:
        return None
    found = contents.restrictions
    return ExplainedRestrictions(found.in_force, found.who_lifts, records)


def _restriction(number: int, record: Restriction) -> ExplainedRestriction:
    effect = effect_of(record)
    transfer, licence, drive, removal = (_effect(effect.answers[act]) for act in ACTS)
    return ExplainedRestriction(
        number=number,
        record=f"restricao-{number}",
        title=title_of(record),
        in_force=effect.in_force,
        kinds=effect.kinds,
        doubt=effect.doubt or None,
        court=court_name(str(record.court), str(record.case)) or None,
        court_body=court_body_name(str(record.court_body)) or None,
        case=_text(record.case),
        included_at=record.included_at,
        transfer=transfer,
        licence=licence,
        drive=drive,
        removal=removal,
    )


def _effect(answer: Answer) -> ExplainedEffect:
    return ExplainedEffect(
        answer.mark, answer.phrase, answer.reason, answer.source, answer.confidence
    )


def _text(field: Field) -> str | None:
    return str(field) if field else None
